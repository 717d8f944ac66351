"""Position and value of the largest element of every row: the first among equals."""

import tang as tg

i, k = tg.dims("i k")
X = tg.input("X", (16, 33))
best = tg.compute("best", (i,), tg.argmax(X[i, k], over=k))
graph = tg.Graph(index=best, value=best.output("value"))

if __name__ == "__main__":
    print(tg.ir.to_text(graph))
