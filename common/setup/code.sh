#!/bin/sh
# code.sh BUILD OUT LAB [PROGRAM] - compiles a lab's source, or a CUDA program, and runs nothing.
#
# Prints the registers and the shared memory of each kernel.  Writes OUT/code.ptx and, if the toolkit
# has nvdisasm, OUT/code.sass, both with line numbers of the source.
#
# ARCH=80 is the compute capability of a program, NVCCFLAGS has further options, as in simulate.sh.
set -euf
build=${1:?usage: code.sh BUILD OUT LAB [PROGRAM]}
out=${2:?usage: code.sh BUILD OUT LAB [PROGRAM]}
lab=${3:-}
program=${4:-}
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
cxx=$(sed -n 's/^CXX=//p' "$build/toolchain.env")
tools=$(dirname "$(realpath "$nvcc")")

fail()
{
    printf 'code: %s\n' "$*" >&2
    exit 2
}
level=-O3
if [ -n "$lab" ]; then
    served=$("$build/bin/lab" served --build "$build" --lab "$lab" --engine sim) || exit 2
    word() { printf '%s\n' "$served" | sed -n "s/^$1 //p"; }
    program=labs/$(word lab)/$(word source)
    arch=$(word cc)
    level=-O1
    case $program in *.cu) ;; *) fail "$program runs on the host and has no PTX" ;; esac
else
    arch=${ARCH:-80}
fi
[ -f "$program" ] || fail "there is no file $program"
case ${arch%a} in *[!0-9]* | '') fail "ARCH is a compute capability without its dot, as 80, 90 or 90a, not '$arch'" ;; esac
[ "$arch" != 90 ] || [ -z "$lab" ] || arch=90a # as make grade compiles labs that need Hopper's units
card=sm_90
[ "$arch" != 90a ] || card=sm_90a

mkdir -p "$out"
rm -f "$out/code.ptx" "$out/code.sass" "$out/code.cubin"
# shellcheck disable=SC2086
"$nvcc" "$level" -lineinfo -std=c++17 -Wno-deprecated-gpu-targets -diag-suppress=177,550 \
    -ccbin "$cxx" -Icommon/include -I"$(dirname "$program")" ${NVCCFLAGS:-} \
    -arch "compute_$arch" -ptx -x cu "$program" -o "$out/code.ptx" || fail "$program does not compile"
"$tools/ptxas" -v -arch "$card" "$out/code.ptx" -o "$out/code.cubin" 2>"$out/words" || {
    cat "$out/words" >&2
    fail "$program does not compile"
}
echo "  $program compiles for compute_$arch; machine code of $card:"
echo
# Names of kernels in the words of C++, if there is a program that can do that.
filter=$(command -v c++filt || echo cat)
sed -n -e "s/.*Compiling entry function '\(.*\)' for.*/\1/p" -e 's/.* \(Used [0-9]* registers.*\)/\1/p' \
    -e 's/^ *\([0-9]* bytes stack frame.*\)/\1/p' "$out/words" | "$filter" | sed 's/^/    /'
if [ -x "$tools/nvdisasm" ]; then
    "$tools/nvdisasm" -g -c "$out/code.cubin" >"$out/code.sass"
else
    echo
    echo "  No SASS: this toolkit has no nvdisasm (package cuda-nvdisasm)."
fi
rm -f "$out/words"
