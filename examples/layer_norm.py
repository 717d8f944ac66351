"""Layer norm over the last axis with weight and bias; the statistics are one Welford pass."""

import tang as tg

X = tg.input("X", (12, 80))
weight = tg.input("weight", (80,))
bias = tg.input("bias", (80,))
graph = tg.Graph(Y=tg.layer_norm(X, weight, bias, eps=1e-5))

if __name__ == "__main__":
    print(tg.ir.to_text(graph))
