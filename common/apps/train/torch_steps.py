"""torch_steps.py FILE.npy [cuda|cpu] - five training steps of a small network in PyTorch and fp64, for test_train.c.

The file is one vector of doubles: rate, momentum, decay; then for each of five steps its images and labels; the parameters at
first; then for each step parameters, velocities and loss.  Parameters are layer by layer weights, then biases, as train.h has
them; everything that goes in is a float.
"""
import sys

import numpy as np
import torch

N, H, W, R, C1, C3, C5, F6, CLASSES, STEPS = 4, 14, 18, 3, 3, 5, 12, 9, 4, 5
RATE, MOMENTUM, DECAY = 0.25, 0.875, 0.0625

device = sys.argv[2] if len(sys.argv) > 2 else "cuda"
torch.manual_seed(7)
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
rows, columns = ((H - R + 1) // 2 - R + 1) // 2, ((W - R + 1) // 2 - R + 1) // 2
network = torch.nn.Sequential(
    torch.nn.Conv2d(1, C1, R), torch.nn.ReLU(), torch.nn.AvgPool2d(2),
    torch.nn.Conv2d(C1, C3, R), torch.nn.ReLU(), torch.nn.AvgPool2d(2), torch.nn.Flatten(),
    torch.nn.Linear(C3 * rows * columns, C5), torch.nn.ReLU(), torch.nn.Linear(C5, F6), torch.nn.ReLU(),
    torch.nn.Linear(F6, CLASSES)).to(device)  # in float: so what goes in is a float
network = network.double()
images = torch.randn(STEPS, N, 1, H, W).to(device).double()
labels = torch.randint(0, CLASSES, (STEPS, N)).to(device)
optimizer = torch.optim.SGD(network.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)


def flat(tensors):
    return torch.cat([t.detach().reshape(-1) for t in tensors]).cpu().numpy()


out = [np.array([RATE, MOMENTUM, DECAY]), flat([images]), flat([labels.double()]), flat(network.parameters())]
for step in range(STEPS):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(network(images[step]), labels[step])
    loss.backward()
    optimizer.step()
    velocities = [optimizer.state[p]["momentum_buffer"] for p in network.parameters()]
    out += [flat(network.parameters()), flat(velocities), np.array([loss.item()])]
np.save(sys.argv[1], np.concatenate(out))
print(f"{sys.argv[1]}: {sum(len(o) for o in out)} numbers, PyTorch {torch.__version__}, "
      f"{torch.cuda.get_device_name() if device == 'cuda' else 'CPU'}")
