"""Softmax of every row, stabilised by its maximum; written out in index notation."""

import tang as tg

i, k = tg.dims("i k")
X = tg.input("X", (24, 65))
top = tg.compute("top", (i,), tg.max(X[i, k], over=k))
weight = tg.exp(X[i, k] - top[i])
P = tg.compute("P", (i, k), weight / tg.sum(weight, over=k))
graph = tg.Graph(P)

if __name__ == "__main__":
    print(tg.ir.to_text(graph))
