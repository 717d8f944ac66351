"""A Triton kernel, verified through tensors that it is given: z = x·y + 1.

Run with a GPU, PyTorch and Triton: `python examples/kernels/triton_kernel.py`. guarded=False is the
fault: the last block then writes past the end, which the guard zones show.
"""

import triton
import triton.language as tl

import tang as tg
from tang.verify import verify_callable

i = tg.dims("i")
x, y = tg.input("x", ("N",)), tg.input("y", ("N",))
spec = tg.Graph(z=tg.compute("z", (i,), x[i] * y[i] + 1))


@triton.jit
def kernel(x, y, z, n, guarded: tl.constexpr, block: tl.constexpr):  # noqa: ANN001, ANN201
    """One block of the product."""
    at = tl.program_id(0) * block + tl.arange(0, block)
    mask = (at < n) | (not guarded)
    tl.store(z + at, tl.load(x + at, mask=mask) * tl.load(y + at, mask=mask) + 1, mask=mask)


def masked(x, y, out) -> None:  # noqa: ANN001
    """The right launch."""
    n = x.numel()
    kernel[(triton.cdiv(n, 32),)](x, y, out, n, guarded=True, block=32)


def unmasked(x, y, out) -> None:  # noqa: ANN001
    """The faulty one."""
    n = x.numel()
    kernel[(triton.cdiv(n, 32),)](x, y, out, n, guarded=False, block=32)


if __name__ == "__main__":
    for fn in (masked, unmasked):
        print(verify_callable(fn, spec, tensors="torch:cuda").to_text())
