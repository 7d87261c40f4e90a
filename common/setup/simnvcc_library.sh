#!/bin/sh
# simnvcc_library.sh BUILD OUT GPUS - the libraries with which simnvcc links programs, in OUT; GPUS is
# the folder of the machine descriptions that the programs will read.  PLACE is the path of
# OUT when programs are linked, and SCRIPT that of simnvcc.sh, if they will be installed elsewhere.
set -eu
build=$(realpath "${1:?usage: simnvcc_library.sh BUILD OUT GPUS}")
out=${2:?usage: simnvcc_library.sh BUILD OUT GPUS}
gpus=${3:?usage: simnvcc_library.sh BUILD OUT GPUS}
cc=$(sed -n 's/^CC=//p' "$build/toolchain.env")
rm -rf "$out"
mkdir -p "$out"
place=${PLACE:-$(realpath "$out")}
# Programs are linked without --wrap=main here, so nothing calls __real_main.
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
printf 'const char simulate_nvcc[] = "%s";\n' "$nvcc" >"$out/nvcc.c"
"$cc" -fPIC -c "$out/nvcc.c" -o "$out/nvcc.o"
printf 'const char simulate_gpus_folder[] = "%s";\nint __real_main(void);\nint __real_main(void)\n{\n    return 0;\n}\n' \
    "$gpus" >"$out/folder.c"
"$cc" -fPIC -c "$out/folder.c" -o "$out/folder.o"
# One object, so that all of the runtime is linked whether or not the program names it.
ld -r -o "$out/simulate.o" --whole-archive "$build/lib/simulate.a" --no-whole-archive "$out/folder.o" \
    "$out/nvcc.o"
cp "$build/lib/run-modules.a" "$build/lib/driver.a" common/include/simcuda.h "$out"
# The same with the debugger, which SIMCUDA_DEBUG=1 starts: simnvcc -G links it.  Both parts have a
# wrapper of main, and neither is used.
mkdir "$out/debug"
printf 'const int debugger_is_optional = 1;\n' >"$out/debug/optional.c"
"$cc" -fPIC -c "$out/debug/optional.c" -o "$out/debug/optional.o"
(cd "$out/debug" && ar x "$build/lib/debug.a" debug_program.o)
ld -r -z muldefs -o "$out/debug/simulate.o" "$out/debug/debug_program.o" "$out/debug/optional.o" \
    --whole-archive "$build/lib/debugger.a" "$build/lib/ui.a" --no-whole-archive "$out/simulate.o"
rm "$out/debug/optional.o" "$out/debug/debug_program.o"
# Archives, because a link may name several runtimes, and only the first may define its names.
for part in "$out" "$out/debug"; do
    ar rcs "$part/simulate.a" "$part/simulate.o"
done
# libstdc++ is for C projects that link nvcc's objects with gcc: nvcc 13's host code needs it.
for name in libcudart_static.a libcudart.so debug/libcudart_static.a debug/libcudart.so; do
    readline=
    [ "${name%/*}" != debug ] || readline='-lreadline -lelf'
    part=${name%"${name##*/}"}
    printf '/* GNU ld script: the simulated GPU (docs/simulator/simnvcc.md) */
EXTERN(simulate_gpus_folder)\nGROUP(%s %s %s)\nINPUT(%s)\nINPUT(AS_NEEDED(-lstdc++))\n' \
        "$place/${part}simulate.a" "$place/driver.a" "$place/run-modules.a" \
        "$readline -ldw -ljansson -linih -lmuparser -lsodium -lzstd -llz4 -ldl -lpthread -lm" >"$out/$name"
done
# Names that CUDA removed, and headers of its libraries.
cp -r common/include/cuda "$out/include"
# CUDA's libraries, of which a program gets the parts that it calls.
for library in cublas cufft curand nvrtc; do
    cp "$build/lib/$library.a" "$out/cuda-$library.a"
    needed=
    [ $library != curand ] || needed='-lgsl -lgslcblas'
    for name in "lib$library.a" "lib${library}_static.a" "lib$library.so"; do
        printf '/* GNU ld script: docs/simulator/libraries.md */\nINPUT(%s %s)\n' \
            "$place/cuda-$library.a" "$needed" >"$out/$name"
    done
done
# Parts of the toolkit's libraries that programs name and the above contain.
for name in libcublasLt.a libcublasLt.so libcublasLt_static.a libculibos.a libcufftw.a; do
    printf '/* GNU ld script: nothing to link */\n' >"$out/$name"
done

# A toolkit's folders, for projects that take nvcc from CUDA_DIR or CUDA_HOME.  Programs that are
# linked with -lcuda too get nothing from it.
mkdir -p "$out/toolkit/bin"
printf '#!/bin/sh\nexec sh "%s" "%s" "$@"\n' "${SCRIPT:-$(realpath common/setup/simnvcc.sh)}" \
    "$(dirname "$place")" >"$out/toolkit/bin/nvcc"
chmod +x "$out/toolkit/bin/nvcc"
ln -s "$(sed -n 's/^CUDA_INCLUDE=//p' "$build/toolchain.env")" "$out/toolkit/include"
echo '/* GNU ld script: see libcudart.so */' >"$out/libcuda.so"
# A link per file: a link to the parent folder would be a loop for programs that follow links.
mkdir "$out/toolkit/lib64"
for library in "$out"/lib*; do
    ln -s "../../${library##*/}" "$out/toolkit/lib64"
done
ln -s lib64 "$out/toolkit/lib"
