"""torch_common.py - functions shared by the comparisons with PyTorch: inputs, graphs, times, first
lines."""
import datetime
import subprocess

import torch


def pattern(seed, *shape):
    """Element i is ((i + 1) * 2654435761 + seed * 40503 mod 2^32) / 2^31 - 1, cut to 23 bits.

    So it is exact in fp32."""
    i = torch.arange(1, 1 + torch.Size(shape).numel(), dtype=torch.int64)
    mixed = (i * 2654435761 + seed * 40503) & 0xFFFFFFFF
    return ((mixed >> 9).double() / 2**22 - 1).reshape(shape).cuda()


def captured(call, calls):
    """A CUDA graph of some calls."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return graph


def microseconds(graph, calls):
    """Microseconds of one of the graph's calls."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / calls


def in_fp32(command):
    """Selects fp32 for matrix products.  Returns a table's first line: GPU, versions, date."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    card = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                          capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return (f"; {card}, PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, "
            f"{datetime.date.today()}, {command}\n")
