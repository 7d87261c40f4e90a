"""numba_add.py [outside]: an unmodified kernel of Numba."""

import sys

import numpy as np
from numba import cuda


@cuda.jit(debug=False, lineinfo=True)
def add(a, b, c, n):
    i = cuda.grid(1)
    if i < n:
        c[i] = a[i] + b[i]


n = 1000
a = cuda.to_device(np.arange(n, dtype=np.float32))
b = cuda.to_device(2 * np.arange(n, dtype=np.float32))
c = cuda.device_array(n, dtype=np.float32)
add[4, 256](a, b, c, n + 24 * (len(sys.argv) > 1))
print("right" if (c.copy_to_host() == 3 * np.arange(n)).all() else "wrong")
