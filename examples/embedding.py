"""Rows of a table by index; an index out of range gives a row of zeros."""

import tang as tg

t, d = tg.dims("t d")
table = tg.input("table", (50, 16))
token = tg.input("token", (20,), "index")
E = tg.compute("E", (t, d), table.at(token[t], d, fill=0))
graph = tg.Graph(E)

if __name__ == "__main__":
    print(tg.ir.to_text(graph))
