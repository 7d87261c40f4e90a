#!/bin/sh
# check.sh BUILD - do make compare's sources compile?  It runs where there is a GPU only; this is enough to find a function that
# it needs and somebody has taken away.
set -eu
build=${1:?usage: check.sh BUILD}
cuda=$(sed -n 's/^CUDA_INCLUDE=//p' "$build/toolchain.env")
if ! printf '#include <cudnn.h>\n#include <cublas_v2.h>\n' | cc -E -x c -isystem "$cuda" - >/dev/null 2>&1; then
    echo 'skipped: no cudnn.h and cublas_v2.h'
    exit 0
fi
failed=0
for source in common/compare/*.c; do
    if said=$(cc -fsyntax-only -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -Icommon/include -isystem "$cuda" "$source" 2>&1); then
        echo "ok compare/$source"
    else
        echo "$said"
        echo "not ok compare/$source"
        failed=1
    fi
done
exit $failed
