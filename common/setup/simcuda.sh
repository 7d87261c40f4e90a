#!/bin/sh
# simcuda.sh BUILD - CUDA's driver on the simulated GPU as BUILD/simcuda/libcuda.so.1.
#
# Programs and Python packages load it (docs/simulator/driver.md).  libnvrtc.so.13 is NVRTC, which
# calls nvcc here.
#
# Functions of cuda.h that the driver lacks are rejected by name: each reports its name and returns
# CUDA_ERROR_NOT_SUPPORTED.
set -eu
build=$(realpath "${1:?usage: simcuda.sh BUILD}")
out=$build/simcuda
cc=$(sed -n 's/^CC=//p' "$build/toolchain.env")
cxx=$(sed -n 's/^CXX=//p' "$build/toolchain.env")
include=$(sed -n 's/^CUDA_INCLUDE=//p' "$build/toolchain.env")
mkdir -p "$out"
nm -g --defined-only "$build/lib/driver.a" "$build/simnvcc/simulate.o" |
    sed -n 's/.* T \(cu[A-Z][A-Za-z0-9_]*\)$/\1/p' | sort -u >"$out/defined"
printf '#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n' | "$cc" -E -I"$include" - |
    tr '\n' ' ' | grep -oE 'CUresult +cu[A-Z][A-Za-z0-9_]*\(' | sed 's/.* //;s/($//' | sort -u |
    comm -23 - "$out/defined" >"$out/lacking.all"
# Another version of a function that the driver has is not made: cuGetProcAddress returns that one.
sed 's/_v[0-9]*$//' "$out/defined" | sort -u >"$out/bases"
while read -r name; do
    base=$(printf '%s' "$name" | sed 's/_ptsz$//;s/_ptds$//;s/_v[0-9]*$//')
    grep -qx "$base" "$out/bases" || echo "$name"
done <"$out/lacking.all" >"$out/lacking"
{
    echo 'int driver_refuse(const char *name);'
    sed 's/.*/int &(void); int &(void) { return driver_refuse("&"); }/' "$out/lacking"
} >"$out/lacking.c"
"$cc" -fPIC -c "$out/lacking.c" -o "$out/lacking.o"
"$cxx" -shared -o "$out/libcuda.part" -Wl,-soname,libcuda.so.1 "$build/simnvcc/simulate.o" \
    -Wl,--whole-archive "$build/lib/driver.a" -Wl,--no-whole-archive "$out/lacking.o" \
    "$build/lib/run-modules.a" -Wl,-Bsymbolic \
    -ldw -ljansson -linih -lmuparser -lsodium -lzstd -llz4 -ldl -lpthread -lm
mv "$out/libcuda.part" "$out/libcuda.so.1"
"$cxx" -shared -o "$out/libnvrtc.part" -Wl,-soname,libnvrtc.so.13 "$build/simnvcc/nvcc.o" \
    -Wl,--whole-archive "$build/lib/nvrtc.a" -Wl,--no-whole-archive
mv "$out/libnvrtc.part" "$out/libnvrtc.so.13"
ln -sf libnvrtc.so.13 "$out/libnvrtc.so.12"
ln -sf libnvrtc.so.13 "$out/libnvrtc.so"
ln -sf libcuda.so.1 "$out/libcuda.so"
