"""lenet.py LIBRARY OUT - compares lab 16's forward pass of LeNet-5 with PyTorch's.

Needs an NVIDIA GPU and PyTorch; lenet.sh builds LIBRARY, of lab 16's solution, and calls this.
Writes

  OUT/lenet-torch.tsv   PyTorch's probabilities in fp64, exactly, by activation and pool;
                        common/operations/catalog/test_layers.c compares the oracle with them
  OUT/lenet-times.tsv   microseconds of a forward pass of lab 16's solution and of PyTorch (fp32,
                        TF32 off), twenty passes in one CUDA graph, alternately; and the largest
                        error of each against fp64
"""
import ctypes
import statistics
import sys

import torch
import torch.nn.functional as F

from torch_common import captured, in_fp32, microseconds, pattern

ACTIVATION = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}
POOL = {"max": F.max_pool2d, "average": F.avg_pool2d}
SHAPE = [(6, 1, 5, 5), (16, 6, 5, 5), (120, 400), (84, 120), (10, 84)]
IMAGES, BATCHES, CALLS, ROUNDS = 3, (1, 64, 256, 1024), 20, 25


class Problem(ctypes.Structure):
    """common/include/convlab/layers.h"""

    _fields_ = [("N", ctypes.c_int), ("activation", ctypes.c_int), ("pool", ctypes.c_int)]


def parameters():
    """Weights and biases, layer by layer: a quarter of the pattern for C1 and C3, an eighth for the others."""
    for layer, shape in enumerate(SHAPE):
        scale = 0.25 if layer < 2 else 0.125
        yield pattern(2 * layer + 2, *shape) * scale, pattern(2 * layer + 3, shape[0]) * scale


def forward(x, layers, activation, pool):
    (w1, b1), (w3, b3), (w5, b5), (w6, b6), (w, b) = layers
    f, smaller = ACTIVATION[activation], POOL[pool]
    x = smaller(f(F.conv2d(x, w1, b1)), 2)
    x = smaller(f(F.conv2d(x, w3, b3)), 2).flatten(1)
    x = f(F.linear(f(F.linear(x, w5, b5)), w6, b6))
    return torch.softmax(F.linear(x, w, b), 1)


def truth(out, head):
    layers = list(parameters())
    with open(out + "/lenet-torch.tsv", "w") as file:
        file.write(head + "activation\tpool\tprobabilities\n")
        for activation in ACTIVATION:
            for pool in POOL:
                y = forward(pattern(1, IMAGES, 1, 32, 32), layers, activation, pool)
                file.write(f"{activation}\t{pool}\t{' '.join(v.hex() for v in y.flatten().tolist())}\n")


def times(library, out, head):
    exact = list(parameters())
    layers = [(w.float(), b.float()) for w, b in exact]
    flat = torch.cat([part.flatten() for layer in layers for part in layer])
    at = lambda tensor: ctypes.c_void_p(tensor.data_ptr())
    with open(out + "/lenet-times.tsv", "w") as file:
        file.write(head + "network\tbatch\tlab_16_us\ttorch_us\tlab_16_low\tlab_16_high\ttorch_low\ttorch_high\t"
                   "lab_16_error\ttorch_error\n")
        for activation, pool in ("relu", "max"), ("tanh", "average"):
            for batch in BATCHES:
                x = pattern(1, batch, 1, 32, 32)
                right, x = forward(x, exact, activation, pool), x.float()
                y = torch.full((batch, 10), float("nan"), device="cuda")
                p = Problem(batch, list(ACTIVATION).index(activation), list(POOL).index(pool))

                def ours():
                    library.captured_begin()
                    library.lenet_forward(ctypes.byref(p), at(x), at(flat), at(y),
                                          ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

                theirs = []

                def torchs():
                    theirs[:] = [forward(x, layers, activation, pool)]

                with torch.no_grad():
                    graphs = [captured(ours, CALLS), captured(torchs, CALLS)]
                taken = [[], []]
                for _ in range(ROUNDS + 5):
                    for side in 0, 1:
                        taken[side].append(microseconds(graphs[side], CALLS))
                a, b = (sorted(side[5:]) for side in taken)
                error = [(result.double() - right).abs().max().item() for result in (y, theirs[0])]
                file.write(f"{activation}-{pool}\t{batch}\t{statistics.median(a):.1f}\t{statistics.median(b):.1f}\t"
                           f"{a[0]:.1f}\t{a[-1]:.1f}\t{b[0]:.1f}\t{b[-1]:.1f}\t{error[0]:.3g}\t{error[1]:.3g}\n")
                file.flush()


def main():
    library, out = ctypes.CDLL(sys.argv[1]), sys.argv[2]
    head = in_fp32("sh common/apps/compare/lenet.sh")
    truth(out, head)
    times(library, out, head)


main()
