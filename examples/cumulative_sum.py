"""Cumulative sums: Y[i, t] is the sum of X[i, s] over s ≤ t."""

import tang as tg

i, s = tg.dims("i s")
t = tg.dims(t=40)
X = tg.input("X", (6, 40))
Y = tg.compute("Y", (i, t), tg.sum(X[i, s], over=s, where=[s <= t]))
graph = tg.Graph(Y)

if __name__ == "__main__":
    print(tg.ir.to_text(graph))
