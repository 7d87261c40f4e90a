"""gradients.py LIBRARY SCATTER OUT - compares lab 17's two gradients of a convolution with PyTorch's.

Needs an NVIDIA GPU and PyTorch; gradients.sh builds LIBRARY, of lab 17's solution, and SCATTER, of
its scatter with atomics, and calls this.  Writes

  OUT/gradients-torch.tsv   small problems and their gradients in fp64, exactly: what
                            common/operations/catalog/test_conv_backward.c holds the oracles against
  OUT/gradients-times.tsv   microseconds of lab 17's solution and of PyTorch (fp32, TF32 off), each
                            twenty calls in one CUDA graph, alternately
  OUT/gradients-errors.tsv  the largest errors of both against fp64 on the GPU, in parts of the
                            sum of the terms' absolute values; and the number of gradients in
                            which two runs on the same inputs differ
"""
import ctypes
import statistics
import sys

import torch
import torch.nn.functional as F

from torch_common import captured, in_fp32, microseconds, pattern

SMALL = [
    "N=2 C=3 H=7 W=6 K=4 R=3 S=3 pad=0,0,0,0 stride=1,1",
    "N=2 C=2 H=6 W=7 K=3 R=3 S=3 pad=1,1,1,1 stride=1,1",
    "N=1 C=3 H=8 W=5 K=2 R=4 S=2 pad=1,0,2,1 stride=1,1",
    "N=3 C=2 H=9 W=8 K=2 R=3 S=2 pad=2,1,0,2 stride=2,3",
    "N=2 C=2 H=9 W=10 K=3 R=2 S=1 pad=0,1,0,0 stride=3,3",
    "N=1 C=2 H=10 W=9 K=2 R=3 S=2 pad=0,0,0,0 stride=4,3",
    "N=3 C=1 H=12 W=12 K=2 R=5 S=5 pad=0,0,0,0 stride=1,1",
]
LARGE = [
    ("lenet-c1", "N=1024 C=1 H=32 W=32 K=6 R=5 S=5 pad=0,0,0,0 stride=1,1"),
    ("lenet-c3", "N=1024 C=6 H=14 W=14 K=16 R=5 S=5 pad=0,0,0,0 stride=1,1"),
    ("cifar", "N=128 C=3 H=32 W=32 K=32 R=5 S=5 pad=2,2,2,2 stride=1,1"),
    ("vgg-64-112-128-n32", "N=32 C=64 H=112 W=112 K=128 R=3 S=3 pad=1,1,1,1 stride=1,1"),
    ("vgg-256-28-512-n32", "N=32 C=256 H=28 W=28 K=512 R=3 S=3 pad=1,1,1,1 stride=1,1"),
    ("stride-2", "N=32 C=64 H=56 W=56 K=128 R=3 S=3 pad=1,1,1,1 stride=2,2"),
    ("uneven", "N=5 C=11 H=37 W=29 K=19 R=4 S=3 pad=2,0,1,3 stride=3,2"),
]
CALLS, ROUNDS = 20, 15
FIELDS = "N C H W K R S P Q pad_top pad_left pad_bottom pad_right stride_h stride_w layout zeros pool w_zeros"


class Problem(ctypes.Structure):
    """common/include/convlab/conv.h"""

    _fields_ = [(name, ctypes.c_int) for name in FIELDS.split()]


def parse(text):
    v = dict(pair.split("=") for pair in text.split())
    p = Problem(**{name: int(v[name]) for name in "NCHWKRS"})
    p.pad_top, p.pad_left, p.pad_bottom, p.pad_right = map(int, v["pad"].split(","))
    p.stride_h, p.stride_w = map(int, v["stride"].split(","))
    p.P = (p.H + p.pad_top + p.pad_bottom - p.R) // p.stride_h + 1
    p.Q = (p.W + p.pad_left + p.pad_right - p.S) // p.stride_w + 1
    return p


def inputs(p):
    return pattern(1, p.N, p.C, p.H, p.W), pattern(2, p.K, p.C, p.R, p.S), pattern(3, p.N, p.K, p.P, p.Q)


def gradients(p, x, w, dy):
    """dx and dw by autograd, with separate padding, because the padding may be asymmetric."""
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    padded = F.pad(x, (p.pad_left, p.pad_right, p.pad_top, p.pad_bottom))
    return torch.autograd.grad(F.conv2d(padded, w, stride=(p.stride_h, p.stride_w)), (x, w), dy)


def small(out, head):
    with open(out + "/gradients-torch.tsv", "w") as file:
        file.write(head + "operation\tshape\tgradient\n")
        for text in SMALL:
            p = parse(text)
            dx, dw = gradients(p, *inputs(p))
            for name, gradient in ("conv_backward_data", dx), ("conv_backward_filter", dw):
                values = " ".join(value.hex() for value in gradient.flatten().tolist())
                file.write(f"{name}\t{text}\t{values}\n")


def ours(library, p, x, w, dy, dx, dw, which):
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    at = lambda tensor: ctypes.c_void_p(tensor.data_ptr())
    library.captured_begin()
    if which == "dx":
        library.conv_backward_data(ctypes.byref(p), at(dy), at(w), at(dx), stream)
    else:
        library.conv_backward_filter(ctypes.byref(p), at(x), at(dy), at(dw), stream)


def large(library, scatter, out, head):
    times = open(out + "/gradients-times.tsv", "w")
    errors = open(out + "/gradients-errors.tsv", "w")
    times.write(head + "layer\tgradient\tlab_17_us\ttorch_us\tlab_17_low\tlab_17_high\ttorch_low\ttorch_high\n")
    errors.write(head + "layer\tgradient\tlab_17\ttorch\tgradients\tlab_17_differ\tscatter_differ\n")
    for name, text in LARGE:
        p = parse(text)
        exact = inputs(p)
        x, w, dy = (tensor.float() for tensor in exact)
        dx, dw = torch.full_like(x, float("nan")), torch.full_like(w, float("nan"))
        truth = gradients(p, *exact)
        size = gradients(p, *(tensor.abs() for tensor in exact))
        del exact
        theirs = gradients(p, x, w, dy)
        pad = (p.pad_top, p.pad_left)
        symmetric = pad == (p.pad_bottom, p.pad_right)
        for i, which in enumerate(("dx", "dw")):
            mine = (dx, dw)[i]
            differ = ["-", "-"]
            for j, side in enumerate((scatter, library)):
                if side is scatter and p.N * p.K * p.P * p.Q * p.C * p.R * p.S > 1e9:
                    continue  # all additions to dw go to a few words
                ours(side, p, x, w, dy, dx, dw, which)
                first = mine.clone()
                ours(side, p, x, w, dy, dx, dw, which)
                differ[j] = str((first != mine).sum().item())
            part = lambda tensor: ((tensor.double() - truth[i]).abs() / (size[i] + 1e-30)).max().item()
            errors.write(f"{name}\t{which}\t{part(mine):.3g}\t{part(theirs[i]):.3g}\t{mine.numel()}\t"
                         f"{differ[1]}\t{differ[0]}\n")
            if not symmetric:
                continue
            mask = [which == "dx", which == "dw", False]
            step = lambda: torch.ops.aten.convolution_backward(
                dy, x, w, None, (p.stride_h, p.stride_w), pad, (1, 1), False, (0, 0), 1, mask)
            graphs = [captured(lambda: ours(library, p, x, w, dy, dx, dw, which), CALLS),
                      captured(step, CALLS)]
            taken = [[], []]
            for _ in range(ROUNDS + 2):
                for side in 0, 1:
                    taken[side].append(microseconds(graphs[side], CALLS))
            a, b = (sorted(side[2:]) for side in taken)
            times.write(f"{name}\t{which}\t{statistics.median(a):.1f}\t{statistics.median(b):.1f}\t"
                        f"{a[0]:.1f}\t{a[-1]:.1f}\t{b[0]:.1f}\t{b[-1]:.1f}\n")
            times.flush()
            errors.flush()
            del graphs
        del truth, size, theirs
        torch.cuda.empty_cache()


def main():
    library, scatter, out = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2]), sys.argv[3]
    head = in_fp32("sh common/apps/compare/gradients.sh")
    small(out, head)
    large(library, scatter, out, head)


main()
