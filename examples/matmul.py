"""Matrix product: C[i, j] = Σ_k A[i, k] · B[k, j]."""

import tang as tg

i, j, k = tg.dims("i j k")
A = tg.input("A", (64, 128))
B = tg.input("B", (128, 32))
C = tg.compute("C", (i, j), tg.sum(A[i, k] * B[k, j], over=k))
graph = tg.Graph(C)

if __name__ == "__main__":
    print(tg.ir.to_text(graph))
