"""Convolution with stride 2 and padding 1: outside the image the guarded read gives 0."""

import tang as tg

n, o, c, r, s = tg.dims("n o c r s")
p, q = tg.dims(p=8, q=7)
X = tg.input("X", (2, 3, 15, 13))
W = tg.input("W", (4, 3, 3, 3))
pixel = X.at(n, c, 2 * p + r - 1, 2 * q + s - 1, fill=0)
Y = tg.compute("Y", (n, o, p, q), tg.sum(pixel * W[o, c, r, s], over=(c, r, s)))
graph = tg.Graph(Y)

if __name__ == "__main__":
    print(tg.ir.to_text(graph))
