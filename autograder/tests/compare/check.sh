#!/bin/sh
# check.sh BUILD - checks that the sources of make compare and make tune compile.  Both need a GPU
# to run; compiling is enough to detect functions that were removed, also from solutions.
set -eu
build=${1:?usage: check.sh BUILD}
cuda=$(sed -n 's/^CUDA_INCLUDE=//p' "$build/toolchain.env")
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
failed=0

# judge NAME COMMAND ...: ok if it succeeds, else its output.
judge() {
    name=$1
    shift
    if said=$("$@" 2>&1); then
        echo "ok compare/$name"
    else
        echo "$said"
        echo "not ok compare/$name"
        failed=1
    fi
}

# All of make tune's programs in one compilation, each in a namespace: nvcc spends most of its time
# on the headers, which come first.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
    printf '#include <%s>\n' cuda.h cuda_pipeline.h stdint.h
    echo '#include "common/apps/compare/tune.h"'
    for source in common/apps/compare/tune_*.cu; do
        lab=$(basename "$source" .cu)
        printf '#define conv_forward %s_forward\nnamespace %s {\n#include "%s"\n}\n#undef conv_forward\n#undef TILE\n' "$lab" "$lab" "$source"
    done
} >"$work/tune.cu"
judge tune "$nvcc" -std=c++17 -gencode arch=compute_90a,code=sm_90a -fdevice-syntax-only -c -I. \
    -Icommon/include "$work/tune.cu" -o "$work/tune.o"

solution=$(realpath solutions/10-*/conv.cu)
judge networks "$nvcc" -std=c++17 -arch=sm_90 -fdevice-syntax-only -c -I. -Icommon/include \
    "-DCAPTURED_SOURCE=\"$solution\"" common/apps/compare/networks.cu -o "$work/networks.o"
judge networks.py python3 -c 'compile(open("common/apps/compare/networks.py").read(), "networks.py", "exec")'

# The libraries that compare.sh links have every operation of the catalogue.
echo 'extern int operation_find(void); int main(void) { return operation_find(); }' >"$work/link.c"
# shellcheck disable=SC2046
judge every-operation-is-linked cc "$work/link.c" -Wl,--start-group \
    $(find common/operations -mindepth 1 -maxdepth 1 -type d ! -name calls -printf "$build/lib/%f.a\n") \
    -Wl,--end-group "$build/lib/base.a" -lsodium -lpthread -lm -ldl -o "$work/link"

if ! printf '#include <cudnn.h>\n#include <cublas_v2.h>\n' |
    cc -E -x c -isystem "$cuda" - >/dev/null 2>&1; then
    echo 'skipped: no cudnn.h and cublas_v2.h'
    exit $failed
fi
for source in common/apps/compare/*.c; do
    judge "$source" cc -fsyntax-only -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. \
        -Icommon/include -isystem "$cuda" "$source"
done
exit $failed
