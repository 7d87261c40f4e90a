#!/bin/sh
# checks.sh BUILD OUT - the numbers of docs/simulator/checks.md: how many planted faults there are, and
# kernels without one.
. docs/numbers/lib.sh

kernels=$(cat common/simulator/tests/faults/*.cu | grep -c '^KERNEL(')
faults=$(cat common/simulator/tests/faults/*.cu | grep -v '^ \*' | grep -c '// FAULT ')
say docs/simulator/checks.md "holds $faults planted faults, each found on its line, and $((kernels - faults)) kernels that come close and are clean"
