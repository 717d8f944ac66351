"""Grouped-query attention: six query heads share two key heads, under a mask of allowed pairs."""

import tang as tg

Q = tg.input("Q", (2, 6, 10, 8))
K = tg.input("K", (2, 2, 14, 8))
V = tg.input("V", (2, 2, 14, 8))
mask = tg.input("mask", (2, 1, 10, 14), "bool")
graph = tg.Graph(out=tg.attention(Q, K, V, mask=mask, masked=True))

if __name__ == "__main__":
    print(tg.ir.to_text(graph))
