"""depthwise.py OUT LIBRARY... - compares lab 21's convolutions with PyTorch's and with a copy.

Needs an NVIDIA GPU and PyTorch; depthwise.sh builds the libraries and calls this.  Writes

  OUT/depthwise-times.tsv   microseconds of a layer, ten calls in one CUDA graph, alternately.
                            Programs: each library; PyTorch in fp32 without TF32; a copy of the
                            same bytes.  The error is relative to the largest output.
"""
import ctypes
import os
import statistics
import sys

import torch
import torch.nn.functional as F

from torch_common import captured, in_fp32, microseconds, pattern

# name, N, C, H, R, stride, K of the 1x1 convolution (0: depthwise only)
LAYERS = [
    ("3x3", 32, 144, 56, 3, 1, 0),
    ("3x3-stride-2", 32, 96, 112, 3, 2, 0),
    ("7x7", 32, 96, 56, 7, 1, 0),
    ("7x7-stride-2", 32, 96, 56, 7, 2, 0),
    ("3x3-14", 32, 576, 14, 3, 1, 0),
    ("3x3-one-image", 1, 144, 56, 3, 1, 0),
    ("separable", 32, 128, 56, 3, 1, 128),
    ("separable-512", 32, 512, 14, 3, 1, 512),
]
CALLS, ROUNDS = 10, 15


def struct(numbers):
    """A problem of common/include/convlab/depthwise.h: its ints in their order."""
    return (ctypes.c_int * len(numbers))(*numbers)


def calls(library, layer, x, d, w, y):
    """The call of the library's entry point, on the current stream."""
    _, n, c, h, r, stride, k = layer
    p = y.shape[2]
    at = lambda tensor: ctypes.c_void_p(tensor.data_ptr())
    pads = [r // 2] * 4 + [stride, stride]
    if k:
        problem = struct([n, c, h, h, k, r, r, p, p] + pads)
        arguments = [at(x), at(d), at(w), at(y)]
        entry = library.separable_forward
    else:
        problem = struct([n, c, h, h, c, r, r, c, p, p] + pads + [1, 1])
        arguments = [at(x), at(d), at(y)]
        entry = library.grouped_forward

    def call():
        library.captured_begin()
        entry(ctypes.byref(problem), *arguments, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

    return call


def forward(layer, x, d, w):
    _, _, c, _, r, stride, k = layer
    t = F.conv2d(x, d, stride=stride, padding=r // 2, groups=c)
    return F.conv2d(torch.relu(t), w) if k else t


def main():
    out, paths = sys.argv[1], sys.argv[2:]
    head = in_fp32("sh common/apps/compare/depthwise.sh")
    torch.backends.cudnn.benchmark = True
    libraries = [(os.path.basename(path)[:-3], ctypes.CDLL(path)) for path in paths]
    with open(out + "/depthwise-times.tsv", "w") as file:
        file.write(head + "layer\tprogram\tmicroseconds\tlow\thigh\tbytes\terror\n")
        for layer in LAYERS:
            name, n, c, h, r, stride, k = layer
            x = pattern(1, n, c, h, h)
            d, w = pattern(2, c, 1, r, r) * 0.25, pattern(3, max(k, 1), c, 1, 1) * 0.125
            right = forward(layer, x, d, w)
            x, d, w = x.float(), d.float(), w.float()
            y = torch.empty(right.shape, device="cuda")
            moved = 4 * (x.numel() + y.numel() + d.numel() + (w.numel() if k else 0))
            source, target = (torch.zeros(moved // 8, device="cuda") for _ in range(2))
            theirs, results, sides = [], [], []
            for program, library in libraries:
                mine = torch.full_like(y, float("nan"))
                results.append(mine)
                sides.append((program, calls(library, layer, x, d, w, mine)))

            def torchs():
                theirs[:] = [forward(layer, x, d, w)]

            sides += [("torch", torchs), ("copy", lambda: target.copy_(source))]
            with torch.no_grad():
                torchs()  # cuDNN times its algorithms here, outside of the graph
                graphs = [captured(call, CALLS) for _, call in sides]
            taken = [[] for _ in sides]
            for _ in range(ROUNDS + 3):
                for side, graph in zip(taken, graphs):
                    side.append(microseconds(graph, CALLS))
            results += [theirs[0], None]
            for (program, _), side, result in zip(sides, taken, results):
                side = sorted(side[3:])
                error = 0 if result is None else ((result.double() - right).abs().max() / right.abs().max()).item()
                file.write(f"{name}\t{program}\t{statistics.median(side):.2f}\t{side[0]:.2f}\t{side[-1]:.2f}\t"
                           f"{moved}\t{error:.3g}\n")
            file.flush()


main()
