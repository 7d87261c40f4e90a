#!/bin/sh
# simulate.sh BUILD PROGRAM ARGS - compiles CUDA source files with simnvcc.sh and runs the program on
# the simulated GPU (docs/simulator/simulate.md).
#
# PROGRAM is a file, or several separated by blanks; ARGS are words separated by blanks.  GPU=name is
# the machine.  PROFILE=1 or PROFILE=file.cu prints a profile by source line; KERNEL, LAUNCH and
# TRACE are for it.  PRICE=all prices repeated launches, too.  ARCH=80 is the compute capability, and
# NVCCFLAGS has further options for nvcc.  LAUNCHES, REPORT and SUPPRESSIONS are settings of the
# report.
set -euf
build=${1:?usage: simulate.sh BUILD PROGRAM ARGS}
program=${2:-}
args=${3:-}
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
cxx=$(sed -n 's/^CXX=//p' "$build/toolchain.env")
arch=${ARCH:-80}

fail() {
    printf 'simulate: %s\n' "$*" >&2
    exit 2
}
[ -n "$program" ] || fail "say which program: make simulate PROGRAM=file.cu [ARGS='...']"
# A file's name may contain blanks if it is the only one.
several=
if [ ! -f "$program" ]; then
    for file in $program; do
        [ -f "$file" ] || fail "there is no file $file"
        several="$several $file"
    done
fi
[ -z "${REPORT:-}" ] || case $REPORT in
    *.json | *.sarif | *.supp) ;;
    *) fail "REPORT is a file whose name ends with .json, .sarif or .supp, not '$REPORT'" ;;
esac
[ -z "${SUPPRESSIONS:-}" ] || [ -f "$SUPPRESSIONS" ] || fail "there is no file $SUPPRESSIONS"
gpu=${GPU:-h200}
[ -f "common/simulator/gpus/$gpu.ini" ] ||
    fail "there is no machine $gpu; there are: $(cd common/simulator/gpus && find . -maxdepth 1 -name '*.ini' | sed 's|./||;s|.ini$||' | sort | tr '\n' ' ')"
case ${arch%a} in *[!0-9]* | '') fail "ARCH is a compute capability without its dot, as 80, 90 or 90a, not '$arch'" ;; esac
[ "${arch%a}" -le 90 ] || fail "ARCH=$arch is newer than every simulated machine: use at most 90 or 90a"

# In the build folder, because /tmp may be full, or TMPDIR may not exist.
mkdir -p "$build/simulate"
work=$(mktemp -d "$(realpath "$build")/simulate/part.XXXXXX") || fail "nothing can be written into $build/simulate"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# With one source file there is no separate compilation, so relocatable device code equals plain
# code.  With several, -rdc=true links their device code.  The host compiler's options for sanitizers and similar ones are also needed by the linker.
flags='' linked='' before='' relocatable=''
for word in ${NVCCFLAGS:-}; do
    case $word in
        -rdc=true | --relocatable-device-code=true | -dc | --device-c)
            [ -z "$several" ] || relocatable=-rdc=true
            continue ;;
        -ptx | --ptx | -cubin | --cubin | -fatbin | --fatbin | -E | --preprocess | -lib | --lib | -dryrun | --dryrun)
            fail "$word in NVCCFLAGS is not possible: make compiles the program itself, and runs it" ;;
    esac
    flags="$flags $word"
    case $before in -Xcompiler | --compiler-options) word=-Xcompiler=$word ;; esac
    case $word in
        -Xcompiler=* | --compiler-options=*)
            for host in $(printf '%s\n' "${word#*=}" | tr -d "'\"" | tr ',' ' '); do
                case $host in -fsanitize* | -fprofile* | --coverage | -coverage | -fopenmp | -pthread | -pg | -flto*) linked="$linked $host" ;; esac
            done ;;
    esac
    before=$word
done

# sources_have PATTERN
sources_have()
{
    # shellcheck disable=SC2086
    if [ "$several" ]; then grep -Eqs "$1" $several; else grep -Eqs "$1" "$program"; fi
}
# Two kinds of names that CUDA removed need a macro (common/include/cuda).
! sources_have '\<texture *<' || flags="$flags -DSIMULATE_TEXTURE_REFERENCES"
! sources_have '\<__(any|all|ballot) *\(' || flags="$flags -DSIMULATE_WARP_VOTES"

# An already built program is reused while all of its input files are unchanged.
paths()
{
    if [ "$several" ]; then
        # shellcheck disable=SC2086
        realpath $several
    else
        realpath "$program"
    fi
}
kept=$build/simulate/$(printf '%s\n' "$nvcc" "$cxx" "$arch" "${NVCCFLAGS:-}" "$(paths)" | sha256sum | cut -c 1-16)
if ! sha256sum -c --status "$kept/sums" 2>/dev/null; then
    paths >"$work/paths"
    number=0
    while IFS= read -r path; do
        number=$((number + 1))
        # shellcheck disable=SC2086
        TMPDIR=$work sh common/setup/simnvcc.sh "$build" -O3 -lineinfo -std=c++17 -arch="compute_$arch" \
            -I"$(dirname "$path")" \
            -Xcompiler -g1,-fno-optimize-sibling-calls $flags $relocatable -x cu -MD \
            -MF "$work/$number.from" -c "$path" \
            -o "$work/$number.o" 2>>"$work/words" || {
            grep -q 'requires separate compilation mode' "$work/words" &&
                fail "$program has kernels that launch kernels (dynamic parallelism), which the simulated GPU does not run"
            cat "$work/words" >&2
            ! grep -q "nvcc fatal *: Unknown option" "$work/words" ||
                fail "nvcc rejects an option in NVCCFLAGS; put options of the host compiler after -Xcompiler, as in NVCCFLAGS='-Xcompiler -Wall'"
            ! grep -q "ptxas fatal *: Unresolved extern" "$work/words" ||
                fail "device code of $path uses another file's: add all files to PROGRAM, and NVCCFLAGS=-rdc=true"
            [ -s "$work/words" ] || fail "nvcc failed without a message: possibly the disk is full"
            exit 2
        }
    done <"$work/paths"
    if [ "$relocatable" ]; then
        set +f
        sh common/setup/simnvcc.sh "$build" -arch="compute_$arch" -dlink -o "$work/linked.o" "$work"/[0-9]*.o 2>"$work/link" || {
            cat "$work/link" >&2
            fail "the device code of $program cannot be linked"
        }
        set -f
    fi
    # Functions that the program calls and the runtime lacks are then listed in $work/missing.
    set +f
    objects=$(printf '%s ' "$work"/*.o)
    set -f
    link() {
        # shellcheck disable=SC2086
        TMPDIR=$work "$cxx" $linked -o "$work/program" $objects -Wl,--wrap=main "$@" \
            -Wl,--whole-archive "$build/lib/simulate.a" -Wl,--no-whole-archive \
            "$build/lib/cublas.a" "$build/lib/cufft.a" "$build/lib/curand.a" "$build/lib/driver.a" "$build/lib/nvrtc.a" \
            "$build/lib/run-modules.a" -Wl,--as-needed -lgsl -lgslcblas -Wl,--no-as-needed -ldw -ljansson -linih -lmuparser -lsodium -lzstd -llz4 -ldl \
            -lpthread -lm 2>"$work/link" && return 0
        sed -n -e "s/.*undefined reference to [\`']\([^']*\)'.*/\1/p" \
            -e "s/.*undefined symbol [\`']*\([A-Za-z0-9_]*\)'* referenced in expression.*/\1/p" \
            "$work/link" | sort -u >"$work/missing"
        return 1
    }
    # With --default-stream per-thread each call has another name; the stream is the same here.
    # shellcheck disable=SC2046
    link || link $(sed -n 's/^ *\(.*\)\(_pt[ds][sz]\)$/-Wl,--defsym=\1\2=\1/p' "$work/missing") || {
        [ -s "$work/missing" ] || { cat "$work/link" >&2; fail "$program cannot be linked"; }
        ! grep -qx ' *main' "$work/missing" || fail "$program has no main"
        ! grep -q '__cudaRegisterLinkedBinary' "$work/missing" ||
            fail "$program is compiled with -rdc=true (relocatable device code), which the simulated GPU does not run"
        # The toolkit's functions have C names with its prefixes; other names are the program's own.
        sed 's/^ *//;s/ *$//' "$work/missing" |
            grep -E '^(_*cu|nv|nccl)[A-Za-z0-9_]*$' | sort -u >"$work/calls" || true
        [ -s "$work/calls" ] ||
            fail "$program uses $(paste -sd ';' "$work/missing" | sed 's/^ *//;s/; */; /g'), which it does not define: possibly another source file of the program does: add it to PROGRAM='$program other.cu'"
        fail "$program calls $(paste -sd , "$work/calls" | sed 's/,/, /g'), which the workbook's runtime does not support; docs/simulator/cuda-calls.md lists the supported calls"
    }
    # The libraries on the host that compute for CUDA's; without them, the program reports it.
    packages=''
    # shellcheck disable=SC2086
    nm $objects >"$work/names"
    ! grep -q ' U cublas' "$work/names" || packages=libopenblas0-pthread
    ! grep -q ' U cufft' "$work/names" || packages="$packages libfftw3-single3 libfftw3-double3"
    # shellcheck disable=SC2086
    [ -z "$packages" ] || sh common/setup/setup.sh "$build" $packages >&2 || true
    # make's list of files, "it: one two \": one per line, a space in a name is "\ ".
    set +f
    sed -e 's/^[^:]*: //' -e 's/ *\\$//' -e 's/\\ /\x01/g' "$work"/*.from | tr -s ' ' '\n' |
        tr '\001' ' ' | sed '/^$/d' |
        { cat; printf '%s\n' "$build"/lib/simulate.a "$build"/lib/run-modules.a \
            "$build"/lib/cublas.a "$build"/lib/cufft.a "$build"/lib/curand.a "$build"/lib/driver.a "$build"/lib/nvrtc.a; } | tr '\n' '\0' |
        xargs -0 sha256sum >"$work/sums"
    set -f
    mkdir -p "$kept"
    mv "$work/words" "$work/paths" "$work/program" "$kept"
    mv "$work/sums" "$kept"
fi
cat "$kept/words" >&2
profile=
case ${PROFILE:-} in
    '') ;;
    *.cu | *.cuh) profile=$PROFILE ;;
    *) profile=$(head -n 1 "$kept/paths") && [ "$several" ] || profile=$program ;;
esac
export SIMULATE_NVCC="$nvcc" SIMULATE_GPU="$gpu" SIMULATE_GPUS="$PWD/common/simulator/gpus" SIMULATE_PROFILE="$profile"
export SIMULATE_KERNEL="${KERNEL:-}" SIMULATE_LAUNCH="${LAUNCH:-}" SIMULATE_TRACE="${TRACE:-}"
export SIMULATE_ONLY_LAUNCHES="${LAUNCHES:-}"
export SIMULATE_REPORT="${REPORT:-}" SIMULATE_SUPPRESSIONS="${SUPPRESSIONS:-}"
case ${LAUNCH:-} in *[!0-9]*) fail "LAUNCH is the number of a launch, from 1, not '$LAUNCH'" ;; esac
[ -n "${PROFILE:-}" ] || [ -z "${KERNEL:-}${LAUNCH:-}${TRACE:-}" ] || fail 'KERNEL, LAUNCH and TRACE need PROFILE=1'
case ${PRICE:-} in
    '') ;;
    all) export SIMULATE_PRICE_ALL=1 ;;
    *) fail "PRICE is 'all' or not set, not '$PRICE'" ;;
esac
status=0
# shellcheck disable=SC2086
"$kept/program" $args || status=$?
exit "$status"
