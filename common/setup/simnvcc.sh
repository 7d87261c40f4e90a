#!/bin/sh
# simnvcc.sh BUILD ARGUMENTS... - nvcc for the simulated GPU (docs/simulator/simnvcc.md).
#
# Calls nvcc with the same arguments, except:
#   - the architecture becomes one that a simulated machine has, as PTX and as SASS for sm_90;
#   - the CUDA runtime is the simulated GPU of BUILD/simnvcc, which also links the PTX of
#     relocatable device code (common/simulator/ptx/ptx_link.h);
#   - a cubin is a fat binary with PTX, which the simulated driver can load;
#   - names that CUDA removed, and headers that the toolkit lacks, are those of
#     BUILD/simnvcc/include.
set -euf
build=${1:?usage: simnvcc.sh BUILD ARGUMENTS...}
shift
env_file=$build/toolchain.env

fail()
{
    printf 'simnvcc: %s\n' "$1" >&2
    exit 2
}
[ -f "$env_file" ] || fail "there is no $env_file: run make simnvcc in the workbook's folder again"
nvcc=$(sed -n 's/^NVCC=//p' "$env_file")
cxx=$(sed -n 's/^CXX=//p' "$env_file")
case $nvcc in
*/simnvcc) fail "NVCC in $env_file is simnvcc itself: run make setup NVCC=/path/to/nvcc" ;;
esac
library=$build/simnvcc
[ -f "$library/libcudart_static.a" ] || fail "there is no $library/libcudart_static.a: run make simnvcc again"
[ -x "$nvcc" ] || fail "there is no $nvcc: run make setup in the workbook's folder"
[ $# -gt 0 ] || fail "no input files; --help lists nvcc's options"

# The first pass over the arguments sets these.
archs='' host_compiler='' debugs='' lines='' informs='' uses='' packages='' cubin='' output='' source=''

# Each argument is taken from the front; what stays is appended at the end.
left=$#
next()
{
    [ "$left" -gt 0 ] || fail "$1 needs a value"
}
while [ "$left" -gt 0 ]; do
    word=$1
    shift
    left=$((left - 1))
    case $word in
    -arch | -gencode | -code | --gpu-architecture | --generate-code | --gpu-code)
        next "$word"
        archs="$archs $1"
        shift
        left=$((left - 1))
        ;;
    -arch=* | -gencode=* | -code=* | --gpu-architecture=* | --generate-code=* | --gpu-code=*) archs="$archs $word" ;;
    -cudart | --cudart | -cudadevrt | --cudadevrt)
        next "$word"
        shift
        left=$((left - 1))
        ;;
    -cudart=* | --cudart=* | -cudadevrt=* | --cudadevrt=*) ;;
    -lcudart | -lcudart_static | -lcudadevrt | -lcuda) ;;
    *)
        case $word in
        -ccbin | -ccbin=* | --compiler-bindir | --compiler-bindir=*) host_compiler=yes ;;
        -G | --device-debug) debugs=yes ;;
        -lineinfo | --generate-line-info) lines=yes ;;
        -cubin | --cubin) cubin=yes word=-fatbin ;;
        -o* | --output-file | --output-file=*) output=yes ;;
        *.cu)
            source=$word
            ! grep -qs '\<texture *<' "$word" || uses="$uses -DSIMULATE_TEXTURE_REFERENCES"
            ! grep -Eqs '\<__(any|all|ballot) *\(' "$word" || uses="$uses -DSIMULATE_WARP_VOTES"
            ;;
        -lcublas | -lcublas_static) packages="$packages libopenblas0-pthread" ;;
        -lcufft | -lcufft_static) packages="$packages libfftw3-single3 libfftw3-double3" ;;
        -V | --version | -h | --help | --list-gpu-arch | --list-gpu-code) informs=yes ;;
        esac
        set -- "$@" "$word"
        ;;
    esac
done
[ -z "$informs" ] || exec "$nvcc" "$@"

# The newest architecture that was asked for and that a simulated machine has; 80 if there is none.
arch=80
chosen=$(printf '%s\n' "$archs" | grep -oE '(compute|sm|lto)_[0-9]+a?' | sed 's/.*_//' | sort -u) || true
if [ "$chosen" ]; then
    arch=
    for one in $chosen; do
        [ "${one%a}" -gt 90 ] || [ "${one%a}" -lt "${arch:-0}" ] || arch=${one%a}
    done
    [ "$arch" ] || fail "the architectures$archs are newer than every simulated machine: use sm_90 or an older one"
    case " $(printf '%s' "$chosen" | tr '\n' ' ') " in *" 90a "*) arch=90a ;; esac
fi
# Makefiles of older projects request architectures that nvcc has dropped.
if [ "${arch%a}" -lt 75 ]; then
    oldest=$("$nvcc" --list-gpu-arch | sed -n 's/^compute_\([0-9]*\)$/\1/p' | sort -n | head -n 1)
    [ "${arch%a}" -ge "${oldest:-0}" ] || arch=$oldest
fi
# Code for the debugger is linked with it (docs/student/debug.md).
runtime=$library
[ -z "$debugs" ] || [ ! -d "$library/debug" ] || runtime=$library/debug
machine=sm_90
[ "$arch" != 90a ] || machine=sm_90a
# A cubin would have no PTX, which the simulated driver loads.
[ -z "$cubin" ] || [ "$output" ] || set -- "$@" -o "$(basename "$source" .cu).cubin"
[ "$host_compiler" ] || set -- "$@" -ccbin "$cxx"
[ "$debugs" ] || [ "$lines" ] || set -- "$@" -lineinfo
# The libraries on the host that compute for CUDA's; their lack is reported when a program calls them.
# shellcheck disable=SC2086
[ -z "$packages" ] || [ ! -f "$(dirname "$0")/setup.sh" ] || (cd "$(dirname "$0")/../.." && sh common/setup/setup.sh "$build" $packages) >&2 || true
# shellcheck disable=SC2086  # $uses are options
exec "$nvcc" -gencode "arch=compute_$arch,code=[compute_$arch,$machine]" -Wno-deprecated-gpu-targets \
    -include "$library/include/cuda_removed.h" -Xcompiler "-idirafter,$library/include" $uses \
    -cudart static -cudadevrt none -I"$library" -L"$runtime" -L"$library" "$@"
