# shellcheck shell=sh
# sides.sh - functions for compare.sh and sweep.sh, which source it with build, nvcc and out set.
# Finds cuDNN; then
#
#     program NAME                           makes OUT/NAME of common/apps/compare/NAME.c and the sides
# add_side NAME SOURCE LAYOUT PRECISION  compiles a solution as a shared object, a side; `wait` for
# the end
# shellcheck disable=SC2154 # build, nvcc and out are the caller's
mkdir -p "$out"

fail() {
    printf '%s: %s\n' "$(basename "$0" .sh)" "$1" >&2
    exit 1
}

nvidia-smi >/dev/null 2>&1 || fail "this needs an NVIDIA GPU and its driver; what an H200 did is in docs/student/compare.md"
python='import nvidia.cudnn as m; print(list(m.__path__)[0])'
for prefix in "${CUDNN:-}" /usr /usr/local/cuda "$(python3 -c "$python" 2>/dev/null || true)"; do
    [ -n "$prefix" ] && [ -f "$prefix/include/cudnn.h" ] && break
    prefix=
done
[ -n "$prefix" ] || fail "no cudnn.h: install libcudnn9-dev, or say CUDNN=prefix (the directory above include/cudnn.h)"
library=$(find "$prefix/lib" "$prefix/lib64" "$prefix/lib/$(uname -m)-linux-gnu" -maxdepth 1 -name 'libcudnn.so*' 2>/dev/null | head -n 1)
[ -n "$library" ] || fail "there is $prefix/include/cudnn.h but no libcudnn.so for it"

# The toolkit's headers: next to nvcc, or in the folder of NVIDIA's packages.
toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")/include
[ -f "$toolkit/cuda.h" ] || toolkit=/usr/local/cuda/include

# Each solution is a shared object with the shared runtime.
native=-arch=native
# shellcheck disable=SC2034  # compare.sh and others that read this file use it
hopper="-gencode arch=compute_90a,code=sm_90a" # for labs that need cc = 9.0; -arch=sm_90a alone gives PTX for 9.0
target=$native # target options of a side
flags="-O3 -std=c++17 -cudart shared -lineinfo -I. -Icommon/include"

# is_new FILE SOURCE ...: FILE exists, and no SOURCE, file or folder, is newer.
is_new() {
    made=$1
    shift
    [ -f "$made" ] && [ -z "$(find "$@" -newer "$made" | head -n 1)" ]
}

program() {
    is_new "$out/$1" common/apps/compare "$build"/lib/*.a && return
    # shellcheck disable=SC2086
    "$nvcc" $flags $native -c common/apps/compare/kernels.cu -o "$out/kernels.o"
    for name in "$1" side_graph side_lab side_cudnn side_cublas; do
        "${CC:-cc}" -O2 -std=c11 -D_GNU_SOURCE -Wall -Wextra ${CI:+-Werror} -I. -Icommon/include \
            -isystem "$toolkit" -isystem "$prefix/include" \
            -c "common/apps/compare/$name.c" -o "$out/$name.o"
    done
    # The catalogue needs every operation, but not the files that call a solution.
    operations=$(find common/operations -mindepth 1 -maxdepth 1 -type d ! -name calls \
        -printf "$build/lib/%f.a\n")
    # shellcheck disable=SC2086
    "$nvcc" -cudart shared -Xlinker --export-dynamic "$out"/*.o \
        -Xlinker --start-group $operations -Xlinker --end-group \
        "$build/lib/paired_timing.a" "$build/lib/base.a" -Xlinker "$library" \
        -Xlinker "-rpath=$(dirname "$library")" \
        -lcublas -lcuda -lsodium -lpthread -lm -ldl -o "$out/$1"
}

sides=
defines= # defines of a side
add_side() {
    sides="$sides $1:$out/$1.so:$3:$4"
    is_new "$out/$1.so" "$2" common/include && return
    # shellcheck disable=SC2086
    "$nvcc" $flags $target $defines -shared -Xcompiler -fPIC "$2" -o "$out/$1.so" &
}
