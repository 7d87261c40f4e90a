"""networks.py LIBRARIES OUT - forward passes of ResNet-18 and MobileNetV2 from the labs' kernels,
compared with PyTorch.

Needs an NVIDIA GPU and PyTorch; networks.sh builds LIBRARIES/LAB.so and calls this.  The weights
are random, and batch normalisation is a bias: both sides compute the same network.  Every
convolution of the labs is computed by the fastest of the labs that can compute it, as
cudnn.benchmark does for PyTorch.  Bias, residual and activation are one kernel (networks.cu).
PyTorch computes the pooling, and MobileNetV2's and ResNet's last layer, on both sides.  Writes

  OUT/networks-times.tsv    microseconds of a forward pass in one CUDA graph: the labs, PyTorch, and
                            PyTorch with channels_last; the largest error of each in parts of the
                            largest output, against fp64
  OUT/networks-layers.tsv   the lab of each convolution, its time and PyTorch's
"""
import ctypes
import statistics
import sys

import torch
import torch.nn.functional as F

from torch_common import captured, in_fp32, microseconds

BATCHES, CALLS, ROUNDS = (1, 32), 4, 15
CONV = "N C H W K R S P Q pad_top pad_left pad_bottom pad_right stride_h stride_w layout zeros pool w_zeros"
GROUPED = ("N C H W K R S groups P Q pad_top pad_left pad_bottom pad_right stride_h stride_w "
           "dilation_h dilation_w")
NONE, RELU, RELU6 = range(3)


class Convolution(ctypes.Structure):
    """common/include/convlab/conv.h"""

    _fields_ = [(name, ctypes.c_int) for name in CONV.split()]


class Grouped(ctypes.Structure):
    """common/include/convlab/depthwise.h"""

    _fields_ = [(name, ctypes.c_int) for name in GROUPED.split()]


class Layer:
    """A convolution with bias, activation and, with `adds`, the output of an earlier layer."""

    def __init__(self, network, C, K, side, stride=1, activation=RELU, groups=1):
        self.C, self.K, self.side, self.stride, self.groups = C, K, side, stride, groups
        self.activation = activation
        make = torch.Generator().manual_seed(len(network.layers))
        taps = C // groups * side * side
        self.w = (torch.randn(K, C // groups, side, side, generator=make) * (2 / taps)**0.5).cuda()
        self.b = (torch.randn(K, generator=make) * 0.1).cuda()
        network.layers.append(self)


class ResNet18:
    """He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition" (2015), table 1."""

    def __init__(self):
        self.layers = []
        self.first = Layer(self, 3, 64, 7, 2)
        self.blocks, C = [], 64
        for K in 64, 128, 256, 512:
            for stride in (1 if K == 64 else 2), 1:
                shortcut = Layer(self, C, K, 1, stride, NONE) if stride == 2 else None
                self.blocks.append((Layer(self, C, K, 3, stride), Layer(self, K, K, 3), shortcut))
                C = K
        self.last = torch.randn(1000, 512, generator=torch.Generator().manual_seed(99)).cuda() / 512**0.5

    def forward(self, conv, x, last):
        x = F.max_pool2d(conv(self.first, x), 3, 2, 1)
        for one, two, shortcut in self.blocks:
            x = conv(two, conv(one, x), conv(shortcut, x) if shortcut else x)
        return F.linear(x.mean((2, 3)), last)


class MobileNetV2:
    """Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018), table 2."""

    def __init__(self):
        self.layers = []
        self.first = Layer(self, 3, 32, 3, 2, RELU6)
        self.blocks, C = [], 32
        for widen, K, repeats, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                          (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
            for i in range(repeats):
                wide, step = C * widen, stride if i == 0 else 1
                self.blocks.append((Layer(self, C, wide, 1, 1, RELU6) if widen > 1 else None,
                                    Layer(self, wide, wide, 3, step, RELU6, wide),
                                    Layer(self, wide, K, 1, 1, NONE), step == 1 and C == K))
                C = K
        self.head = Layer(self, C, 1280, 1, 1, RELU6)
        self.last = torch.randn(1000, 1280, generator=torch.Generator().manual_seed(99)).cuda() / 1280**0.5

    def forward(self, conv, x, last):
        x = conv(self.first, x)
        for expand, depthwise, project, is_residual in self.blocks:
            y = conv(depthwise, conv(expand, x) if expand else x)
            x = conv(project, y, x if is_residual else None)
        return F.linear(conv(self.head, x).mean((2, 3)), last)


def torch_conv(kind, memory=torch.contiguous_format):
    """PyTorch's side, with weights of a type and layout that are converted once."""
    weights = {}

    def conv(layer, x, add=None):
        if layer not in weights:
            weights[layer] = layer.w.to(kind).contiguous(memory_format=memory), layer.b.to(kind)
        w, b = weights[layer]
        y = F.conv2d(x, w, b, layer.stride, layer.side // 2, 1, layer.groups)
        if add is not None:
            y += add
        if layer.activation == NONE:
            return y
        return y.relu_() if layer.activation == RELU else y.clamp_(0, 6)

    return conv


def at(tensor):
    return ctypes.c_void_p(tensor.data_ptr() if tensor is not None else 0)


class Labs:
    """The labs' side."""

    def __init__(self, folder):
        self.library = {lab: ctypes.CDLL(f"{folder}/{lab}.so") for lab in (10, 14, 15, 21)}
        self.chosen = {}

    def begin(self):
        for library in self.library.values():
            library.captured_begin()

    def candidates(self, layer):
        if layer.groups > 1:
            return (21,)
        return (10, 14, 15) if layer.side == 3 and layer.stride == 1 else (10,)

    def product(self, lab, layer, x):
        """The convolution alone."""
        N, C, H, W = x.shape
        pad, size = layer.side // 2, lambda n: (n + 2 * (layer.side // 2) - layer.side) // layer.stride + 1
        shape = dict(N=N, C=C, H=H, W=W, K=layer.K, R=layer.side, S=layer.side, P=size(H), Q=size(W),
                     pad_top=pad, pad_left=pad, pad_bottom=pad, pad_right=pad,
                     stride_h=layer.stride, stride_w=layer.stride)
        y = torch.empty(N, layer.K, shape["P"], shape["Q"], device="cuda")
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        if layer.groups > 1:
            p = Grouped(groups=layer.groups, dilation_h=1, dilation_w=1, **shape)
            self.library[lab].grouped_forward(ctypes.byref(p), at(x), at(layer.w), at(y), stream)
        else:
            p = Convolution(**shape)
            self.library[lab].conv_forward(ctypes.byref(p), at(x), at(layer.w), at(y), stream)
        return y

    def conv(self, layer, x, add=None):
        y = self.product(self.chosen[layer], layer, x)
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.library[10].finish(at(y), at(layer.b), at(add), y.numel(), layer.K, y.shape[2] * y.shape[3],
                                layer.activation, stream)
        return y

    def choose(self, layer, x, right):
        """The fastest lab whose result is right.  Returns its microseconds."""
        times = {}
        for lab in self.candidates(layer):
            def call():
                self.begin()
                self.product(lab, layer, x)
            self.begin()
            y = self.product(lab, layer, x)
            if (y - right).abs().max() > 1e-3 * right.abs().max():
                sys.exit(f"networks: lab {lab} is wrong for {layer.C} to {layer.K}, {layer.side}x"
                         f"{layer.side}, stride {layer.stride}, x of {tuple(x.shape)}")
            times[lab] = timed([captured(call, CALLS)])[0][0]
        self.chosen[layer] = min(times, key=times.get)
        return times[self.chosen[layer]]


def timed(graphs):
    """Median, lowest and highest microseconds of one call of every graph."""
    taken = [[] for _ in graphs]
    for _ in range(ROUNDS + 2):
        for graph, list_ in zip(graphs, taken):
            list_.append(microseconds(graph, CALLS))
    return [(statistics.median(t[2:]), min(t[2:]), max(t[2:])) for t in taken]


def compare(name, network, labs, batch, times, layers):
    x = torch.randn(batch, 3, 224, 224, generator=torch.Generator().manual_seed(7)).cuda()
    right = network.forward(torch_conv(torch.float64), x.double(), network.last.double())
    plain = torch_conv(torch.float32)

    def choose(layer, x, add=None):
        product = F.conv2d(x, layer.w, None, layer.stride, layer.side // 2, 1, layer.groups)
        us = labs.choose(layer, x, product)
        other = timed([captured(lambda: F.conv2d(x, layer.w, None, layer.stride, layer.side // 2, 1,
                                                 layer.groups), CALLS)])[0][0]
        layers.write(f"{name}\t{batch}\t{layer.C}\t{layer.K}\t{layer.side}\t{layer.stride}\t"
                     f"{layer.groups}\t{x.shape[2]}\t{labs.chosen[layer]}\t{us:.1f}\t{other:.1f}\n")
        return plain(layer, x, add)

    network.forward(choose, x, network.last)
    last = x.contiguous(memory_format=torch.channels_last)
    beside = torch_conv(torch.float32, torch.channels_last)
    outputs = [None] * 3

    def ours():
        labs.begin()
        outputs[0] = network.forward(labs.conv, x, network.last)

    def theirs():
        outputs[1] = network.forward(plain, x, network.last)

    def channels_last():
        outputs[2] = network.forward(beside, last, network.last)

    graphs = [captured(call, CALLS) for call in (ours, theirs, channels_last)]
    spans = timed(graphs)
    error = [((y.double() - right).abs().max() / right.abs().max()).item() for y in outputs]
    times.write("\t".join([name, str(batch)] + [f"{v:.1f}" for span in spans for v in span] +
                          [f"{e:.2g}" for e in error]) + "\n")
    times.flush()


def main():
    folder, out = sys.argv[1:3]
    head = in_fp32("sh common/apps/compare/networks.sh")
    times, layers = (open(f"{out}/networks-{part}.tsv", "w") for part in ("times", "layers"))
    times.write(head + "network\tbatch\t" + "\t".join(
        f"{side}_{what}" for side in ("labs", "torch", "channels_last") for what in ("us", "low", "high")) +
        "\tlabs_error\ttorch_error\tchannels_last_error\n")
    layers.write(head + "network\tbatch\tC\tK\tside\tstride\tgroups\tH\tlab\tlab_us\ttorch_us\n")
    with torch.no_grad():
        for name, network in ("ResNet-18", ResNet18()), ("MobileNetV2", MobileNetV2()):
            for batch in BATCHES:
                compare(name, network, Labs(folder), batch, times, layers)


main()
