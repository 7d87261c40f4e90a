#!/bin/sh
# checks.sh BUILD OUT - the numbers of docs/checks.md: how many planted faults there are, and kernels without one.
. docs/numbers/lib.sh

planted=common/simt/faults/faults.cu
kernels=$(grep -c '^KERNEL(' "$planted")
faults=$(grep -v '^ \*' "$planted" | grep -c '// FAULT ')
say docs/checks.md "holds $faults planted faults, each found on its line, and $((kernels - faults)) kernels that come close and are clean"
