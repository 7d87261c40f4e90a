#!/bin/sh
# setup.sh BUILD [PACKAGE ...] - finds or installs the course's tools; writes BUILD/toolchain.env.
#
# Debian and Ubuntu packages are installed if the user is root or sudo needs no password; otherwise
# the command to run is printed.  Without nvcc (12.0 or newer), NVIDIA's compiler wheels are
# installed in BUILD/toolchain with pip, without root.  Runs once; later calls return in
# milliseconds.  NVCC=/path/to/nvcc selects a compiler; NVCC=private the wheels.  CC and CXX select
# host compilers.
#
# PACKAGE: additional packages of one target, such as clang-format-14 for `make test`.  They are
# optional here; the target reports features that need them.
set -eu

build=${1:?usage: setup.sh BUILD [PACKAGE ...]}
shift
env_file=$build/toolchain.env
log=$build/setup.log

required='gcc g++ make libjansson-dev libinih-dev libseccomp-dev libzstd-dev liblz4-dev libmd-dev libmuparser-dev libsodium-dev libarchive-dev libsqlite3-dev libcmocka-dev libevent-dev libgsl-dev libdw-dev libelf-dev libreadline-dev libmicrohttpd-dev libcmark-gfm-dev libcmark-gfm-extensions-dev'
optional='bubblewrap valgrind gnuplot-nox git patch jq'

# The private toolchain, with matching versions.
wheels='nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85'

fail()
{
    printf 'setup: %s\n' "$1" >&2
    exit 1
}

# Whether the programs in these lines of the file exist; a line may be empty.
are_there()
{
    for line in "$@"; do
        program=$(sed -n "s/^$line=//p" "$env_file")
        [ -z "$program" ] || [ -x "$program" ] || return 1
    done
}

# Whether the tools found last time still exist, and this script is unchanged.
is_done()
{
    [ -f "$env_file" ] && [ -z "$(find "$0" -newer "$env_file")" ] || return 1
    nvcc=$(sed -n 's/^NVCC=//p' "$env_file")
    [ -x "$nvcc" ] && are_there CC CXX CCACHE || return 1
    # Several machines may share the folder.  Programs of VECTORS=all may run on any of them.
    sets=$({ sed -n 's/^CPU_VECTORS=//p' "$env_file"; cat "$build/obj/vectors"; } 2>/dev/null | tr '\n' ' ')
    case " $sets" in *" $(vectors) "*) ;; *) return 1 ;; esac
    is_chosen CC "${CC:-}" && is_chosen CXX "${CXX:-}" || return 1
    case ${NVCC:-} in
    '' | "$nvcc") return 0 ;;
    */*) [ "$nvcc" = "$(realpath -s "$NVCC")" ] ;;
    private) [ "${nvcc#"$build"/}" != "$nvcc" ] || [ "${nvcc#"$(realpath "$build")"/}" != "$nvcc" ] ;;
    *) return 1 ;;
    esac
}

# compiler_of NAME: the first on the path that is not a link to ccache, which would search for its
# cache inside the sandbox.  A path remains as it is.
compiler_of()
{
    case $1 in */*) realpath -s "$1" && return ;; esac
    old_ifs=$IFS
    IFS=:
    for folder in $PATH; do
        [ -x "$folder/$1" ] && [ "$(basename "$(realpath "$folder/$1")")" != ccache ] && break
    done
    IFS=$old_ifs
    echo "$folder/$1"
}

# is_chosen LINE COMPILER: whether this line of the file has the compiler; none is any.
is_chosen()
{
    [ -z "$2" ] || [ "$(sed -n "s/^$1=//p" "$env_file")" = "$(compiler_of "$2")" ]
}

# The widest vectors of this processor for which the simulated GPU has handlers
# (common/simulator/exec).
vectors()
{
    flags=$(sed -n '/^flags/{p;q;}' /proc/cpuinfo 2>/dev/null) || true
    if has_flags avx512f avx512dq avx512bw avx512vl avx512cd; then
        echo avx512
    elif has_flags avx2 fma bmi2 abm f16c; then
        echo avx2
    else
        echo base
    fi
}

has_flags()
{
    for flag in "$@"; do
        case "$flags " in *" $flag "*) ;; *) return 1 ;; esac
    done
}

has_header()
{
    printf '#include <%s>\n' "$1" | cc -E -x c - >/dev/null 2>&1
}

# The first python in PATH may not be the one with the packages.
python_has()
{
    for python in python3 /usr/bin/python3; do
        "$python" -c "import $1" 2>/dev/null && return
    done
    return 1
}

has_package()
{
    case $1 in
    gcc) command -v cc ;;
    g++) command -v c++ ;;
    make) command -v make ;;
    bubblewrap) command -v bwrap ;;
    valgrind) command -v valgrind ;; # for lab 01's speed
    gnuplot-nox) command -v gnuplot ;;
    git) command -v git ;;     # for releases of the student's copy, bundles
    patch) command -v patch ;; # for the tests
    jq) command -v jq ;;       # for the numbers in the pages
    clang-format-14 | clang-14 | shellcheck | bear | tidy) command -v "$1" ;;
    libxml2-utils) command -v xmllint ;;
    python3-jsonschema) python3 -c 'import importlib.util as u; exit(not u.find_spec("jsonschema"))' ;;
    python3-numpy | python3-pil) python_has 'numpy, PIL' ;; # for pictures: one python with both
    python3-sphinx | python3-myst-parser) python_has 'sphinx, myst_parser' ;; # sufficient for the book's test
    furo | weasyprint) python_has 'sphinx, myst_parser, furo, weasyprint' ;;  # for the book: one python with all of them
    chromium) command -v chromium ;;               # for the test of the workbench
    chromium-driver) command -v chromedriver ;;
    python3-selenium) python_has selenium ;;
    curl | cmake) command -v "$1" ;;
    xz-utils) command -v xz ;; # for the test of a class
    similarity-tester) command -v sim_c++ ;; # for a class
    slurmctld | slurmd) command -v "$1" ;;   # for the test of a class on a cluster
    libopenblas0-pthread) ldconfig -p | grep -q 'libopenblas\.so\.0' ;; # for cuBLAS (simulator/libraries.md)
    libfftw3-single3) ldconfig -p | grep -q 'libfftw3f\.so\.3' ;;       # for cuFFT
    libfftw3-double3) ldconfig -p | grep -q 'libfftw3\.so\.3' ;;
    slurm-client) command -v sbatch ;;
    gcc-aarch64-linux-gnu) command -v aarch64-linux-gnu-gcc ;; # for the tests on ARM
    g++-aarch64-linux-gnu) command -v aarch64-linux-gnu-g++ ;;
    qemu-user-static) command -v qemu-aarch64-static ;;
    munge) command -v munged ;;
    libclang-rt-14-dev) find /usr/lib/llvm-14 -name 'libclang_rt.fuzzer-*.a' | grep -q . ;;
    libjansson-dev) has_header jansson.h ;;
    libinih-dev) has_header ini.h ;;
    libseccomp-dev) has_header seccomp.h ;;
    libzstd-dev) has_header zstd.h ;;
    liblz4-dev) has_header lz4.h ;;
    libmd-dev) has_header sha2.h ;;
    libmuparser-dev) has_header muParserDLL.h ;;
    libsodium-dev) has_header sodium.h ;;
    libarchive-dev) has_header archive.h ;; # for a class
    libsqlite3-dev) has_header sqlite3.h ;; # for a class, too
    libevent-dev) has_header event2/http.h ;;  # the server
    libgsl-dev) has_header gsl/gsl_histogram.h ;; # and its load generator
    libdw-dev) has_header elfutils/libdw.h ;;     # the debugger
    libelf-dev) has_header libelf.h ;;            # for the debugger, too
    libmicrohttpd-dev) printf '#include <stdint.h>\n#include <sys/types.h>\n#include <microhttpd.h>\n' | cc -E -x c - ;; # the workbench
    libcmark-gfm-dev) has_header cmark-gfm.h ;;   # and its handouts
    libcmark-gfm-extensions-dev) has_header cmark-gfm-core-extensions.h ;;
    libjs-codemirror) [ -f /usr/share/javascript/codemirror/codemirror.js ] ;; # its editor
    libreadline-dev) printf '#include <stdio.h>\n#include <readline/readline.h>\n' | cc -E -x c - ;;
    libcmocka-dev) printf '#include <setjmp.h>\n#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <cmocka.h>\n' | cc -E -x c - ;;
    esac >/dev/null 2>&1
}

missing_of()
{
    for package in "$@"; do
        has_package "$package" || printf ' %s' "$package"
    done
}

install_packages()
{
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        as_root=sudo
    else
        return 1
    fi
    command -v apt-get >/dev/null || return 1
    printf '  SETUP   installing %s\n' "${1# }"
    get_packages "$1" || { update_lists && get_packages "$1"; }
}

get_packages()
{
    # shellcheck disable=SC2086  # the list is words on purpose
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $1 \
        >>"$log" 2>&1
}

# Once, and only for packages that the present lists do not contain, because it takes as long as ten
# packages.
update_lists()
{
    [ -z "${updated:-}" ] || return 1
    updated=yes
    $as_root apt-get update >>"$log" 2>&1
}

# Used if a release does not offer one of the packages.
install_one_by_one()
{
    for package in "$@"; do
        install_packages " $package" ||
            printf '  SETUP   without %s (optional): sudo apt-get install %s\n' "$package" \
            "$package"
    done
}

# need_packages [PACKAGE ...]: installs the required packages together; then the optional ones and
# these, together if possible.
need_packages()
{
    # shellcheck disable=SC2086
    missing=$(missing_of $required)
    [ -z "$missing" ] || install_packages "$missing" ||
        fail "missing packages; install them with:  sudo apt-get install$missing"
    # shellcheck disable=SC2086
    missing=$(missing_of $optional "$@")
    # shellcheck disable=SC2086
    [ -z "$missing" ] || install_packages "$missing" || install_one_by_one $missing
}

# Whether it is an nvcc that runs and is 12.0 or newer.
is_usable()
{
    [ -x "$1" ] || return 1
    major=$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
    [ -n "$major" ] && [ "$major" -ge 12 ]
}

find_nvcc()
{
    if [ "${NVCC:-}" = private ]; then
        set -- "$build/toolchain/nvidia/cu13/bin/nvcc"
    elif [ "${NVCC:-}" ]; then
        set -- "$NVCC"
    else
        set -- "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc \
            /usr/local/cuda-1[2-9]*/bin/nvcc /opt/cuda/bin/nvcc \
            "$build/toolchain/nvidia/cu13/bin/nvcc"
    fi
    for candidate; do
        # cuda_fp16.h includes nv/target.  The wheels of an earlier setup may lack it, and lib64.
        case $candidate in
        "$build"/toolchain/*)
            [ -e "$build/toolchain/nvidia/cu13/include/cccl/nv/target" ] || continue
            [ -e "$build/toolchain/nvidia/cu13/lib64" ] || continue
            ;;
        esac
        if [ -n "$candidate" ] && is_usable "$candidate"; then
            realpath -s "$candidate"
            return
        fi
    done
}

# Installs into another folder and renames it, so that an interrupted download leaves no incomplete
# toolchain.
install_wheels()
{
    python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip ||
        fail 'no nvcc and no pip; install one:  sudo apt-get install python3-pip  (or the CUDA Toolkit, 12.0 or newer)'
    printf '  SETUP   no nvcc: downloading the compiler wheels into %s/toolchain (110 MB)\n' "$build"
    rm -rf "$build/toolchain" "$build/toolchain.part"
    # shellcheck disable=SC2086
    python3 -m pip install --quiet --no-deps --no-compile --disable-pip-version-check \
        --target "$build/toolchain.part" \
        $wheels >>"$log" 2>&1 ||
        { rm -rf "$build/toolchain.part"; fail "pip could not download nvcc (see $log); install the CUDA Toolkit, 12.0 or newer"; }
    # nvcc and CMake search for libcudadevrt.a in the toolkit's lib64, which the wheels call lib.
    ln -s lib "$build/toolchain.part/nvidia/cu13/lib64"
    mv "$build/toolchain.part" "$build/toolchain"
}

cuda_include()
{
    printf '#include <cuda_runtime_api.h>\n' | "$1" -E -x cu - 2>/dev/null |
        sed -n 's/^# [0-9]* "\(.*\)\/cuda_runtime_api\.h".*/\1/p' | head -n 1
}

# If the user has ccache's links on the path, the project's own sources are compiled through it,
# provided that it can write its cache: with a read-only home it compiles nothing.
ccache_of()
{
    found=$(realpath "$(command -v "$1")" 2>/dev/null) || return 0
    case $found in */ccache) ;; *) return 0 ;; esac
    echo 'int tried;' >"$build/ccache.c"
    ! "$found" "$(compiler_of "$1")" -c -o "$build/ccache.o" "$build/ccache.c" >>"$log" 2>&1 ||
        echo "$found"
    rm -f "$build/ccache.c" "$build/ccache.o"
}

if is_done; then
    [ -z "$(missing_of "$@")" ] || need_packages "$@"
    exit 0
fi
mkdir -p "$build" || fail "cannot create $build: choose another folder with  make BUILD=dir"
build=$(realpath "$build")
: >>"$log" || fail "cannot write $log: possibly the disk is full"
# A parallel call waits, and then finds the setup finished.
if command -v flock >/dev/null; then
    exec 8>>"$build/setup.lock"
    flock 8
    ! is_done || exit 0
fi
: >"$log"
case ${NVCC:-} in
'' | private) ;;
*/simnvcc) fail "NVCC=$NVCC calls the workbook's own nvcc; unset NVCC, or NVCC=/path/to/nvcc" ;;
*) is_usable "$NVCC" || fail "NVCC=$NVCC is not an nvcc of CUDA 12.0 or newer" ;;
esac
# Several kernels in parallel: nvcc and ptxas of 13.0 support it, those of 12.4 reject the option.
# The output is the same for any number of threads except one; more threads than cores cost time.
split_flags()
{
    cores=$(nproc 2>/dev/null || echo 2)
    [ "$cores" -ge 2 ] || cores=2
    [ "$cores" -le 8 ] || cores=8
    ! "$1" --help 2>/dev/null | grep -q -e '--split-compile ' || echo "--split-compile=$cores"
}

# gold links in half the time of GNU ld; newer systems may not have it.
linker()
{
    printf 'int main(void) { return 0; }\n' >"$build/linker.c"
    ! "$1" -fuse-ld=gold -o "$build/linker" "$build/linker.c" 2>/dev/null || echo -fuse-ld=gold
    rm -f "$build/linker" "$build/linker.c"
}

# Whether this toolkit's headers use no more of <utility> than common/include/lean provides, and no
# mathematical functions (autograder/build/build_command.c).
lean()
{
    printf '__global__ void none() {}\n' >"$build/lean.cu"
    ! "$nvcc" -std=c++17 -ccbin "$1" -Icommon/include/lean -Xcompiler=-D__MATH_FUNCTIONS_H__ \
        -Xcompiler=-D__DEVICE_FUNCTIONS_HPP__ -c -o "$build/lean.o" "$build/lean.cu" \
        >>"$log" 2>&1 || echo common/include/lean
    rm -f "$build/lean.cu" "$build/lean.o"
}

# Whether nvcc's steps, in the order of autograder/build/steps.sh, produce the same object as nvcc.
steps()
{
    steps=autograder/build/steps.sh
    rm -rf "$build/steps"
    mkdir "$build/steps" && cp "$steps" "$build/steps" || return 0
    printf '%s\n' '__global__ void none(float *x) { *x = 1; }' \
        'void start(float *x) { none<<<1, 1>>>(x); }' >"$build/steps/none.cu"
    set -- -ccbin="$1" -O1 -lineinfo -std=c++17 -gencode 'arch=compute_75,code=[compute_75,sm_90]'
    (
        cd "$build/steps"
        sh steps.sh "$nvcc" "$@" -c none.cu -o steps.o && [ -s host.s ] &&
            "$nvcc" --keep "$@" -c none.cu -o nvcc.o && cmp steps.o nvcc.o
    ) >>"$log" 2>&1 && echo "$steps"
    rm -rf "$build/steps"
}

need_packages "$@"
nvcc=$(find_nvcc)
if [ -z "$nvcc" ]; then
    install_wheels
    nvcc=$(find_nvcc)
fi
[ -n "$nvcc" ] || fail 'no usable nvcc; install the CUDA Toolkit, 12.0 or newer, or set NVCC=/path/to/nvcc'
cc=$(compiler_of "${CC:-cc}")
cxx=$(compiler_of "${CXX:-c++}")
[ -x "$cc" ] || fail "there is no compiler CC=$CC"
[ -x "$cxx" ] || fail "there is no compiler CXX=$CXX"
include=$(cuda_include "$nvcc")
[ -n "$include" ] || fail "$nvcc cannot preprocess cuda_runtime_api.h: possibly the toolkit is incomplete, or it does not support this g++"
include=$(realpath "$include")
cat >"$env_file.part" <<EOF
NVCC=$nvcc
CUDA_INCLUDE=$include
CC=$cc
CXX=$cxx
CCACHE=$(ccache_of "$(basename "$cc")")
PTXAS_FLAGS=$(split_flags "$(dirname "$(realpath "$nvcc")")/ptxas")
NVCC_FLAGS=$(split_flags "$nvcc")
LEAN=$(lean "$cxx")
STEPS=$(steps "$cxx")
LINKER=$(linker "$cxx")
CPU_VECTORS=$({ sed -n 's/^CPU_VECTORS=//p' "$env_file" 2>/dev/null | tr ' ' '\n'; vectors; } | sort -u | xargs)
EOF
# make parses these lines as makefile syntax.
if [ "$(wc -l <"$env_file.part")" != 11 ] || grep -q '[$#\\]' "$env_file.part"; then
    fail "a compiler's path has a '\$', a '#', a '\\' or a line break: see $env_file.part, and move that compiler"
fi
mv "$env_file.part" "$env_file"
printf '  SETUP   nvcc %s at %s\n' \
    "$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')" "$nvcc"
