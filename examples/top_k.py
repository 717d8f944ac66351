"""The four largest elements of every row with their positions, in descending order."""

import tang as tg

i, k = tg.dims("i k")
X = tg.input("X", (8, 21))
best = tg.compute("best", (i,), tg.top_k(X[i, k], 4, over=k))
graph = tg.Graph(values=best, indices=best.output("indices"))

if __name__ == "__main__":
    print(tg.ir.to_text(graph))
