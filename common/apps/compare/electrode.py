"""electrode.py LIBRARIES OUT [RECORDINGS] - compares lab 19's network with PyTorch's.

Needs an NVIDIA GPU and PyTorch; electrode.sh builds LIBRARIES/solution.so, of lab 19's solution, and
one of each strategy of labs/19-electrode/steps/report.cu, and calls this.  Writes

  OUT/electrode-torch.tsv       PyTorch's probabilities in fp64, exactly, of a small network: what
                                common/operations/catalog/test_electrode.c holds the oracle against
  OUT/electrode-times.tsv       microseconds of a forward pass of the solution and of PyTorch (fp32,
                                TF32 off), passes in one CUDA graph, alternately; and the largest
                                error of each against fp64, in parts of the bound
  OUT/electrode-strategies.tsv  microseconds of one recording by each of the report's strategies
  OUT/electrode-kernels.tsv     what each of the solution's kernels takes, of one recording
  OUT/electrode-recordings.tsv  where RECORDINGS, the folder of `make datasets SET=recordings`, is given:
                                how many of its recordings are classified correctly
  OUT/electrode-end.tsv         one recording from pinned memory to pinned memory, a graph of copies
                                and kernels a run: quantiles of the time that the host waits
"""
import ast
import ctypes
import statistics
import sys
import time

import torch
import torch.nn.functional as F

from torch_common import captured, in_fp32, microseconds, pattern

LAYERS, SIDES = 5, (8, 4, 2)
REPORT = {"H": 56, "W": 100, "c": 64, "f": 256, "classes": 3}
SMALL = {"H": 12, "W": 20, "c": 5, "f": 19, "classes": 4}
BATCHES, ROUNDS, RUNS = (1, 10, 100, 200), 25, 20000
UNIT, SAFETY = 2.0**-24, 4


class Problem(ctypes.Structure):
    """common/include/convlab/electrode.h"""

    _fields_ = ([(name, ctypes.c_int) for name in ("N", "H", "W", "c", "f", "classes", "padded")]
                + [("weights", ctypes.c_int * LAYERS), ("biases", ctypes.c_int * LAYERS), ("parameters", ctypes.c_int)])


def shapes(size):
    c, f = size["c"], size["f"]
    full = c * (size["H"] // 4) * (size["W"] // 4)
    return [(c, 1, 8, 8), (c, c, 4, 4), (c, c, 2, 2), (f, full), (size["classes"], f)]


def problem_of(size, batch):
    p, at = Problem(N=batch, **size), 0
    for layer, shape in enumerate(shapes(size)):
        p.weights[layer], p.biases[layer] = at, at + torch.Size(shape).numel()
        at = p.biases[layer] + shape[0]
    p.parameters = at
    return p


def parameters(size):
    """Weights and biases, layer by layer, of a power of two near 2.7 / sqrt(inputs)."""
    for layer, shape in enumerate(shapes(size)):
        inputs = torch.Size(shape[1:]).numel()
        scale = 2.0 ** round(torch.log2(torch.tensor(2.7 / inputs**0.5)).item())
        yield pattern(2 * layer + 2, *shape) * scale, pattern(2 * layer + 3, shape[0]) * 0.25


def convolve(x, w, b):
    """'same': cuDNN pads alike on both sides, so there is a row above and a column to the left too many."""
    return F.conv2d(x, w, b, padding=w.shape[-1] // 2)[..., 1:, 1:]


def forward(x, layers):
    (w1, b1), (w2, b2), (w3, b3), (w4, b4), (w5, b5) = layers
    x = F.max_pool2d(torch.relu(convolve(x, w1, b1)), 2)
    x = F.max_pool2d(torch.relu(convolve(x, w2, b2)), 2)
    x = torch.relu(convolve(x, w3, b3)).flatten(1)
    return torch.softmax(F.linear(torch.relu(F.linear(x, w4, b4)), w5, b5), 1)


def bounded(x, layers):
    """Values and bounds in fp64, as common/operations/catalog/electrode_network.c derives them."""
    spread = torch.zeros_like(x)
    for layer, (w, b) in enumerate(layers):
        if layer < len(SIDES):
            side, bias = SIDES[layer], b[:, None, None]
            before, behind = (side - 1) // 2, side // 2
            product = lambda a, v: F.conv2d(F.pad(v, (before, behind, before, behind)), a)
        else:
            x, spread, bias = x.flatten(1), spread.flatten(1), b
            product = lambda a, v: F.linear(v, a)
        taps = w[0].numel()
        z = product(w, x) + bias
        magnitude = product(w.abs(), x.abs()) + bias.abs()
        spread = (product(w * w, spread * spread) + magnitude**2 + (taps + 1) * z**2 / 3).sqrt()
        x = z
        if layer == LAYERS - 1:
            break
        x = torch.relu(z)
        spread = torch.where(z > -8 * UNIT * spread, spread, torch.zeros_like(z)) + x
        if layer < 2:
            x, spread = F.max_pool2d(x, 2), F.max_pool2d(spread, 2)
    y, far = torch.softmax(x, 1), x - x.max(1, keepdim=True).values
    moved, own = (y * spread)**2, ((1 - y) * spread)**2
    others = moved.sum(1, keepdim=True) - moved
    mean = (y * far.abs()).sum(1, keepdim=True)
    roundings = y * (far.abs() + 4 + mean + 4 + (y.shape[1] - 1) + 1)
    return y, SAFETY * UNIT * (y * (own + others).sqrt() + roundings)


def at(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def lab_call(library, p, x, flat, y):
    library.captured_begin()
    library.electrode_forward(ctypes.byref(p), at(x), at(flat), at(y),
                              ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))


def flat_of(layers):
    return torch.cat([part.flatten() for layer in layers for part in layer])


def truth(out, head):
    y = forward(pattern(1, 3, 1, SMALL["H"], SMALL["W"]), list(parameters(SMALL)))
    with open(out + "/electrode-torch.tsv", "w") as file:
        sizes = " ".join(f"{key}={value}" for key, value in SMALL.items())
        file.write(f"{head}shape\tprobabilities\nN=3 {sizes}\t{' '.join(v.hex() for v in y.flatten().tolist())}\n")


def times(library, exact, out, head):
    layers = [(w.float(), b.float()) for w, b in exact]
    flat = flat_of(layers)
    with open(out + "/electrode-times.tsv", "w") as file:
        file.write(head + "batch\tlab_19_us\ttorch_us\tlab_19_low\tlab_19_high\ttorch_low\ttorch_high\t"
                   "lab_19_of_bound\ttorch_of_bound\n")
        for batch in BATCHES:
            calls = 20 if batch < 100 else 5
            x = pattern(1, batch, 1, REPORT["H"], REPORT["W"])
            (right, bound), x = bounded(x, exact), x.float()
            y = torch.full((batch, REPORT["classes"]), float("nan"), device="cuda")
            p, theirs = problem_of(REPORT, batch), []

            def torchs():
                theirs[:] = [forward(x, layers)]

            with torch.no_grad():
                graphs = [captured(lambda: lab_call(library, p, x, flat, y), calls), captured(torchs, calls)]
            taken = [[], []]
            for _ in range(ROUNDS + 5):
                for side in 0, 1:
                    taken[side].append(microseconds(graphs[side], calls))
            a, b = (sorted(side[5:]) for side in taken)
            error = [((result.double() - right).abs() / bound).max().item() for result in (y, theirs[0])]
            file.write(f"{batch}\t{statistics.median(a):.1f}\t{statistics.median(b):.1f}\t"
                       f"{a[0]:.1f}\t{a[-1]:.1f}\t{b[0]:.1f}\t{b[-1]:.1f}\t{error[0]:.3g}\t{error[1]:.3g}\n")
            file.flush()
            if not max(error) <= 1:
                sys.exit(f"electrode: batch {batch}: {error[0]:.3g} and {error[1]:.3g} of the bound")


def end_to_end(library, exact, out, head):
    layers = [(w.float(), b.float()) for w, b in exact]
    flat, p = flat_of(layers), problem_of(REPORT, 1)
    given = pattern(1, 1, 1, REPORT["H"], REPORT["W"]).float().cpu().pin_memory()
    answer = torch.empty(1, REPORT["classes"]).pin_memory()
    x = given.cuda()
    y = torch.full((1, REPORT["classes"]), float("nan"), device="cuda")

    def ours():
        x.copy_(given, non_blocking=True)
        lab_call(library, p, x, flat, y)
        answer.copy_(y, non_blocking=True)

    def torchs():
        x.copy_(given, non_blocking=True)
        answer.copy_(forward(x, layers), non_blocking=True)

    with open(out + "/electrode-end.tsv", "w") as file, torch.no_grad():
        file.write(head + "side\truns\tp50_us\tp99_us\tp99_9_us\tlargest_us\n")
        for name, call in ("lab 19", ours), ("PyTorch", torchs):
            graph, stream, taken = captured(call, 1), torch.cuda.current_stream(), []
            for _ in range(RUNS + 1000):
                begin = time.perf_counter()
                graph.replay()
                stream.synchronize()
                taken.append((time.perf_counter() - begin) * 1e6)
            taken = sorted(taken[1000:])
            quantile = lambda part: taken[int(part * len(taken))]
            file.write(f"{name}\t{RUNS}\t{quantile(0.5):.1f}\t{quantile(0.99):.1f}\t{quantile(0.999):.1f}\t{taken[-1]:.1f}\n")


def strategies(libraries, exact, out, head):
    layers = [(w.float(), b.float()) for w, b in exact]
    flat, p = flat_of(layers), problem_of(REPORT, 1)
    x = pattern(1, 1, 1, REPORT["H"], REPORT["W"])
    (right, bound), x = bounded(x, exact), x.float()
    with open(out + "/electrode-strategies.tsv", "w") as file:
        file.write(head + "strategy\tgraph_us\tlaunched_us\tof_bound\n")
        for name in "STREAMS", "CHANNELS", "SCATTER", "IM2COL", "solution":
            library = ctypes.CDLL(f"{libraries}/{name}.so")
            y = torch.full((1, REPORT["classes"]), float("nan"), device="cuda")
            call = lambda: lab_call(library, p, x, flat, y)
            graph = captured(call, 1)
            taken = statistics.median(microseconds(graph, 1) for _ in range(ROUNDS))
            launched = []
            for _ in range(ROUNDS):
                begin = time.perf_counter()
                call()
                torch.cuda.synchronize()
                launched.append((time.perf_counter() - begin) * 1e6)
            error = ((y.double() - right).abs() / bound).max().item()
            file.write(f"{name}\t{taken:.1f}\t{statistics.median(launched):.1f}\t{error:.3g}\n")
            file.flush()
            if not error <= 1:
                sys.exit(f"electrode: {name}: {error:.3g} of the bound")


def kernels(library, exact, out, head):
    """Time of each kernel of one recording, by CUPTI; kernels are launched one by one."""
    flat, p = flat_of([(w.float(), b.float()) for w, b in exact]), problem_of(REPORT, 1)
    x = pattern(1, 1, 1, REPORT["H"], REPORT["W"]).float()
    y = torch.full((1, REPORT["classes"]), float("nan"), device="cuda")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(ROUNDS):
            lab_call(library, p, x, flat, y)
        torch.cuda.synchronize()
    with open(out + "/electrode-kernels.tsv", "w") as file:
        file.write(head + "kernel\tus\n")
        for row in profile.key_averages():
            if "kernel" in row.key and row.device_time_total:
                name = row.key.removeprefix("void ").split("(")[0]
                file.write(f"{name}\t{row.device_time_total / row.count:.1f}\n")


def read_npy(path):
    """An array of NPY version 1, of floats or of bytes."""
    with open(path, "rb") as file:
        data = file.read()
    end = 10 + int.from_bytes(data[8:10], "little")
    head = ast.literal_eval(data[10:end].decode())
    kind = {"<f4": torch.float32, "|u1": torch.uint8}[head["descr"]]
    return torch.frombuffer(bytearray(data[end:]), dtype=kind).reshape(head["shape"]).cuda()


def recordings(library, folder, out, head):
    x, label = read_npy(folder + "/test-recordings.npy"), read_npy(folder + "/test-labels.npy")
    flat, p, layers = read_npy(folder + "/weights.npy"), problem_of(REPORT, len(label)), []
    for layer, shape in enumerate(shapes(REPORT)):
        w, b = p.weights[layer], p.biases[layer]
        layers.append((flat[w:b].reshape(shape).double(), flat[b:b + shape[0]].double()))
    y = torch.full((len(label), REPORT["classes"]), float("nan"), device="cuda")
    lab_call(library, p, x, flat, y)
    torch.cuda.synchronize()
    right, bound = bounded(x[:, None].double(), layers)
    worst = ((y.double() - right).abs() / bound).max().item()
    read, truly = ((v.argmax(1) == label.long()).sum().item() for v in (y, right))
    with open(out + "/electrode-recordings.tsv", "w") as file:
        file.write(f"{head}recordings\tlab_19_right\tfp64_right\tof_bound\n{len(label)}\t{read}\t{truly}\t{worst:.3g}\n")
    if not worst <= 1:
        sys.exit(f"electrode: recordings: {worst:.3g} of the bound")


def main():
    libraries, out = sys.argv[1], sys.argv[2]
    library = ctypes.CDLL(libraries + "/solution.so")
    head = in_fp32("sh common/apps/compare/electrode.sh")
    exact = list(parameters(REPORT))
    truth(out, head)
    times(library, exact, out, head)
    strategies(libraries, exact, out, head)
    end_to_end(library, exact, out, head)
    kernels(library, exact, out, head)
    if len(sys.argv) > 3:
        recordings(library, sys.argv[3], out, head)


if __name__ == "__main__":
    main()
