"""Causal attention of four heads; keys in the future are not read at all."""

import tang as tg

Q = tg.input("Q", (4, 24, 16))
K = tg.input("K", (4, 24, 16))
V = tg.input("V", (4, 24, 16))
graph = tg.Graph(out=tg.attention(Q, K, V, causal=True))

if __name__ == "__main__":
    print(tg.ir.to_text(graph))
