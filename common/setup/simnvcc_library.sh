#!/bin/sh
# simnvcc_library.sh BUILD - the libraries with which simnvcc links programs, in BUILD/simnvcc.
set -eu
build=$(realpath "${1:?usage: simnvcc_library.sh BUILD}")
out=$build/simnvcc
cc=$(sed -n 's/^CC=//p' "$build/toolchain.env")
rm -rf "$out"
mkdir -p "$out"
# Programs are linked without --wrap=main here, so nothing calls __real_main.
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
printf 'const char simulate_nvcc[] = "%s";\n' "$nvcc" >"$out/nvcc.c"
"$cc" -fPIC -c "$out/nvcc.c" -o "$out/nvcc.o"
printf 'const char simulate_gpus_folder[] = "%s";\nint __real_main(void);\nint __real_main(void)\n{\n    return 0;\n}\n' \
    "$(realpath common/simulator/gpus)" >"$out/folder.c"
"$cc" -fPIC -c "$out/folder.c" -o "$out/folder.o"
# One object, so that all of the runtime is linked whether or not the program names it.
ld -r -o "$out/simulate.o" --whole-archive "$build/lib/simulate.a" --no-whole-archive "$out/folder.o" \
    "$out/nvcc.o"
for name in libcudart_static.a libcudart.so; do
    printf '/* GNU ld script: the simulated GPU (docs/simulator/simnvcc.md) */\nINPUT(%s)\nGROUP(%s %s)\nINPUT(%s)\n' \
        "$out/simulate.o" "$build/lib/driver.a" "$build/lib/run-modules.a" \
        '-ldw -ljansson -linih -lmuparser -lsodium -lzstd -llz4 -ldl -lpthread -lm' >"$out/$name"
done
# Names that CUDA removed, and headers of its libraries.
cp -r common/include/cuda "$out/include"
# CUDA's libraries, of which a program gets the parts that it calls.
for library in cublas cufft curand nvrtc; do
    needed=
    [ $library != curand ] || needed='-lgsl -lgslcblas'
    for name in "lib$library.a" "lib${library}_static.a" "lib$library.so"; do
        printf '/* GNU ld script: docs/simulator/libraries.md */\nINPUT(%s %s)\n' \
            "$build/lib/$library.a" "$needed" >"$out/$name"
    done
done
# Parts of the toolkit's libraries that programs name and the above contain.
for name in libcublasLt.a libcublasLt.so libcublasLt_static.a libculibos.a libcufftw.a; do
    printf '/* GNU ld script: nothing to link */\n' >"$out/$name"
done
