"""Transposed convolution with stride 2 and padding 1: the adjoint of conv2d in its image."""

import tang as tg

X = tg.input("X", (2, 4, 6, 5))
W = tg.input("W", (4, 3, 3, 3))
graph = tg.Graph(Y=tg.conv_transpose2d(X, W, stride=2, padding=1, output_padding=1))

if __name__ == "__main__":
    print(tg.ir.to_text(graph))
