"""int8.py LIBRARY OUT - compares lab 22's convolution of 8-bit integers with cuBLASLt and cuDNN.

Needs an NVIDIA GPU and PyTorch; int8.sh builds LIBRARY, of lab 22's solution, and calls this.
Writes

  OUT/int8-times.tsv   microseconds of a layer, and the number of wrong outputs of lab 22.  Ten calls
                       are in one CUDA graph; the graphs run alternately.

The programs are lab 22 with int8 outputs; cuBLASLt's int8 matrix product alone (torch._int_mm), whose
X_unroll is already in memory and whose results are int32; and cuDNN's FP16 convolution with
channels_last.
"""
import ctypes
import statistics
import sys

import torch
import torch.nn.functional as F

from torch_common import captured, in_fp32, microseconds

# name, N, C, H, K, R
LAYERS = [
    ("vgg-64-112-128-n32", 32, 64, 112, 128, 3),
    ("vgg-128-56-256-n32", 32, 128, 56, 256, 3),
    ("vgg-256-56-256-n32", 32, 256, 56, 256, 3),
    ("vgg-512-28-512-n32", 32, 512, 28, 512, 3),
    ("vgg-512-14-512-n32", 32, 512, 14, 512, 3),
    ("vgg-512-14-512-n1", 1, 512, 14, 512, 3),
    ("resnet-256-56-64-1x1", 32, 256, 56, 64, 1),
    ("resnet-64-56-256-1x1", 32, 64, 56, 256, 1),
    ("mobile-96-14-576-1x1", 64, 96, 14, 576, 1),
]
CALLS, ROUNDS = 10, 15


class Problem(ctypes.Structure):
    """common/include/convlab/int8.h"""

    _fields_ = [(name, ctypes.c_int) for name in (
        "N C H W K R S P Q pad_top pad_left pad_bottom pad_right stride_h stride_w relu output "
        "unpacked").split()]


def at(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def random_bytes(*shape):
    return torch.randint(-127, 128, shape, dtype=torch.int8, device="cuda")


def main():
    library, out = ctypes.CDLL(sys.argv[1]), sys.argv[2]
    head = in_fp32("sh common/apps/compare/int8.sh")
    torch.manual_seed(7)
    with open(out + "/int8-times.tsv", "w") as file, torch.no_grad():
        file.write(head + "layer\tlab_22_us\tcublaslt_us\tcudnn_fp16_us\tlab_22_tops\tcublaslt_tops\twrong\n")
        for name, N, C, H, K, R in LAYERS:
            pad = R // 2
            p = Problem(N=N, C=C, H=H, W=H, K=K, R=R, S=R, P=H, Q=H, pad_top=pad, pad_left=pad,
                        pad_bottom=pad, pad_right=pad, stride_h=1, stride_w=1, relu=1, output=1)
            x, w = random_bytes(N, H, H, C), random_bytes(K, R, R, C)
            bias = torch.randint(-1000, 1000, (K,), dtype=torch.int32, device="cuda")
            scale = torch.full((K,), 2.0**-12, device="cuda")
            y = torch.empty(N, H, H, K, dtype=torch.int8, device="cuda")
            rows = C * R * R
            unrolled, filters = random_bytes(N * H * H, rows), w.reshape(K, rows)

            def ours():
                library.captured_begin()
                library.conv_int8(ctypes.byref(p), at(x), at(w), at(bias), at(scale), at(y),
                                  ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

            x_half, w_half = (t.half().permute(0, 3, 1, 2) for t in (x, w))  # channels_last
            programs = [ours, lambda: torch._int_mm(unrolled, filters.t()),
                        lambda: F.conv2d(x_half, w_half, padding=pad)]
            graphs = [captured(call, CALLS) for call in programs]
            taken = [[] for _ in graphs]
            for _ in range(ROUNDS + 2):
                for graph, times in zip(graphs, taken):
                    times.append(microseconds(graph, CALLS))
            us = [statistics.median(times[2:]) for times in taken]
            first = slice(0, 1)  # fp64 is exact here; one image
            exact = F.conv2d(x[first].double().permute(0, 3, 1, 2), w.double().permute(0, 3, 1, 2), padding=pad)
            exact = exact + bias.double()[None, :, None, None]
            right = (exact.float() * 2.0**-12).relu().round().clamp(-128, 127).permute(0, 2, 3, 1)
            wrong = (right != y[first].float()).sum().item()
            operations = 2e-6 * N * H * H * K * rows
            file.write(f"{name}\t" + "\t".join(f"{v:.1f}" for v in us) +
                       f"\t{operations / us[0]:.0f}\t{operations / us[1]:.0f}\t{wrong}\n")
            file.flush()


main()
