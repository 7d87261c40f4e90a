#!/bin/sh
# debug.sh BUILD LAB PROGRAM ARGS - debugs the kernels of a lab's case, or of a CUDA program, on the
# simulated GPU (docs/student/debug.md).
#
# LAB is a number, with CASE=name or SHAPE='...', SUBMISSION=dir, SEED=n as for make run.  PROGRAM is
# a source file, with ARGS, ARCH, NVCCFLAGS as for make simulate, or a program of simnvcc -G.  COMMANDS=file reads the debugger's
# commands from a file, DAP=1 speaks the Debug Adapter Protocol on stdin and stdout.
set -euf
build=${1:?usage: debug.sh BUILD LAB PROGRAM ARGS}
lab=${2:-}
program=${3:-}
args=${4:-}
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
cxx=$(sed -n 's/^CXX=//p' "$build/toolchain.env")
libraries='-ldw -lelf -lreadline -ljansson -linih -lmuparser -lsodium -lzstd -llz4 -ldl -lpthread -lm'

fail() {
    printf 'debug: %s\n' "$*" >&2
    exit 2
}
[ -n "$lab$program" ] ||
    fail "say what: make debug LAB=NN [CASE=name], or make debug PROGRAM=file.cu [ARGS='...']"
[ -z "$lab" ] || [ -z "$program" ] || fail "LAB and PROGRAM: give one of them"
[ -z "${COMMANDS:-}" ] || [ -r "${COMMANDS:-}" ] || fail "there is no file of commands $COMMANDS"

whole=$build/lib/debug.a
calls=
if [ -n "$lab" ]; then
    set -- served --build "$build" --lab "$lab" --engine sim
    [ -z "${CASE:-}" ] || set -- "$@" --case "$CASE"
    [ -z "${SHAPE:-}" ] || set -- "$@" --shape "$SHAPE"
    served=$("$build/bin/lab" "$@") || exit 2
    word() { printf '%s\n' "$served" | sed -n "s/^$1 //p"; }
    name=$(word lab)
    gpu=${GPU:-$(word gpu)}
    arch=$(word cc)
    program=${SUBMISSION:-labs}/$name/$(word source)
    [ ! -f "${SUBMISSION:-labs}" ] || program=$SUBMISSION
    [ -f "$program" ] || fail "there is no $program"
    for entry in $(word entries); do
        calls="$calls $build/obj/common/operations/calls/$entry.o"
    done
    whole=$build/lib/run.a
else
    [ -f "$program" ] || fail "there is no file $program"
    gpu=${GPU:-h200}
    arch=${ARCH:-80}
fi
# A program that is linked already.
if [ -z "$lab" ] && head -c 4 "$program" | grep -q ELF; then
    grep -qa 'Kernels are debugged on the simulated GPU' "$program" ||
        fail "$program was not linked for the debugger: compile and link it with simnvcc -G"
    [ -x "$program" ] || fail "$program may not be executed: chmod +x"
    [ -z "${DEBUG_BUILD_ONLY:-}" ] || exit 0
    export SIMCUDA_DEBUG=1 DEBUG_COMMANDS="${COMMANDS:+$(realpath "$COMMANDS")}"
    [ -z "${GPU:-}" ] || export SIMULATE_GPU="$GPU"
    # shellcheck disable=SC2086
    exec "$(realpath "$program")" $args
fi
[ -f "common/simulator/gpus/$gpu.ini" ] || fail "there is no machine $gpu in common/simulator/gpus"
case ${arch%a} in *[!0-9]* | '') fail "ARCH is a compute capability without its dot, as 80, 90 or 90a, not '$arch'" ;; esac
[ "$arch" != 90 ] || [ -z "$lab" ] || arch=90a # as make grade compiles labs that need Hopper's units

mkdir -p "$build/debug"
work=$(mktemp -d "$(realpath "$build")/debug/part.XXXXXX") || fail "nothing can be written into $build/debug"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# The same source, compiled for debugging: -G keeps every variable, or -lineinfo lines alone.
flags=-G
case $arch in
*a) # the registers of wgmma must not be moved, as unoptimised code moves them
    flags=-lineinfo
    echo "debug: code for wgmma is compiled with -lineinfo: lines and PTX registers, no variables" >&2 ;;
esac
flags=${DEBUGFLAGS:-$flags}
archives="$build/lib/debug.a $build/lib/debugger.a $build/lib/ui.a $build/lib/run.a $build/lib/run-modules.a"
# shellcheck disable=SC2086
kept=$build/debug/$({ printf '%s\n' "$nvcc" "$cxx" "$arch" "$flags ${NVCCFLAGS:-}" "$lab" "$(realpath "$program")"; } | sha256sum | cut -c 1-16)
if ! sha256sum -c --status "$kept/sums" 2>/dev/null; then
    # shellcheck disable=SC2086
    TMPDIR=$work "$nvcc" -O0 -g $flags -std=c++17 -cudart none -Wno-deprecated-gpu-targets \
        -diag-suppress=177,550 -ccbin "$cxx" -Icommon/include -I"$(dirname "$program")" \
        -gencode "arch=compute_$arch,code=compute_$arch" ${NVCCFLAGS:-} -x cu -MD \
        -MF "$work/from" -c "$(realpath "$program")" -o "$work/program.o" 2>"$work/words" || {
        cat "$work/words" >&2
        fail "$program does not compile"
    }
    # shellcheck disable=SC2086
    TMPDIR=$work "$cxx" -o "$work/program" "$work/program.o" $calls -Wl,--wrap=main \
        -Wl,--whole-archive "$whole" "$build/lib/debugger.a" "$build/lib/ui.a" \
        -Wl,--no-whole-archive "$build/lib/run-modules.a" $libraries 2>"$work/link" || {
        grep -m 3 'undefined' "$work/link" >&2 || cat "$work/link" >&2
        fail "$program cannot be linked"
    }
    # shellcheck disable=SC2086 # a list of files
    sed -e 's/^[^:]*: //' -e 's/ *\\$//' -e 's/\\ /\x01/g' "$work/from" | tr -s ' ' '\n' |
        tr '\001' ' ' | sed '/^$/d' |
        { cat; printf '%s\n' $archives; } | tr '\n' '\0' | xargs -0 sha256sum >"$work/sums"
    mkdir -p "$kept"
    mv "$work/words" "$work/program" "$kept"
    mv "$work/sums" "$kept"
fi
[ ! -s "$kept/words" ] || cat "$kept/words" >&2
rm -rf "$work"
trap - EXIT INT TERM
[ -z "${DEBUG_BUILD_ONLY:-}" ] || exit 0 # for a debug adapter (autograder/debug.c)
export DEBUG_COMMANDS="${COMMANDS:+$(realpath "$COMMANDS")}" SIMULATE_GPU="$gpu" SIMULATE_GPUS="$PWD/common/simulator/gpus"
if [ -z "$lab" ]; then
    # shellcheck disable=SC2086
    exec "$kept/program" $args
fi
set -- --root . --lab "$name" --engine sim --gpu "$gpu"
[ -z "${CASE:-}" ] || set -- "$@" --case "$CASE"
[ -z "${SHAPE:-}" ] || set -- "$@" --shape "$SHAPE"
exec "$kept/program" "$@" --seed "${SEED:-1}" --source "$program"
