"""Specifications of the sample kernels: what each must compute, for every size."""

import tang as tg

i, j, k = tg.dims("i j k")


x, y = tg.input("x", ("N",)), tg.input("y", ("N",))
saxpy = tg.Graph(result=tg.compute("result", (i,), x[i] * 2.5 + y[i]))
gelu = tg.Graph(g=tg.compute("g", (i,), x[i] * 0.5 * (1 + tg.erf(x[i] * 0.7071067811865476))))
dot = tg.Graph(d=tg.compute("d", (), tg.sum(x[i] * y[i], over=i)))

M = tg.input("M", ("R", "C"))
softmax = tg.Graph(p=tg.softmax(M, axis=1))
row_sum = tg.Graph(s=tg.compute("s", (i,), tg.sum(M[i, j], over=j)))
transpose = tg.Graph(t=tg.compute("t", (j, i), M[i, j]))
layer_norm = tg.Graph(n=tg.layer_norm(M, axis=1))

A, B = tg.input("A", ("I", "K")), tg.input("B", ("K", "J"))
matmul = tg.Graph(P=tg.compute("P", (i, j), tg.sum(A[i, k] * B[k, j], over=k)))

wq, wk = tg.input("wq", ("N",)), tg.input("wk", ("N",))
query_key = tg.Graph(q=tg.compute("q", (i,), x[i] * wq[i]), k=tg.compute("k", (i,), x[i] * wk[i]))

rows = tg.input("rows", ("R", 256))
row_dots = tg.Graph(r=tg.compute("r", (i,), tg.sum(rows[i, j] * rows[i, j], over=j)))
