#!/bin/sh
# arm_test.sh BUILD - cross-compiles the workbook for ARM and runs unit tests of the simulated GPU
# under qemu's user emulation (docs/simulator/arm.md).  LONG=1 also runs those that take minutes.
#
# Needs Debian's gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu and qemu-user-static.  The libraries
# for ARM are unpacked into BUILD/arm/sysroot; the system's packages stay as they are.
set -eu
build=${1:?usage: arm_test.sh BUILD}
arm=$build/arm
sysroot=$arm/sysroot
libraries='libc6-dev libgcc-12-dev libstdc++-12-dev'
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64-static; do
    command -v "$tool" >/dev/null || {
        echo "arm_test: there is no $tool: sudo apt-get install gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static" >&2
        exit 1
    }
done
mkdir -p "$arm"

# apt with lists and a status of its own, in which nothing is installed.
arm_apt()
{
    APT_CONFIG=$arm/apt.conf apt-get -qq "$@"
}
if [ ! -d "$sysroot/usr/include" ]; then
    apt=$(realpath "$arm")/apt
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    cat >"$arm/apt.conf" <<END
Dir::State "$apt/state"; Dir::State::status "$apt/status"; Dir::Cache "$apt/cache";
APT::Architecture "arm64"; APT::Architectures { "arm64"; };
END
    required=$(sed -n "s/^required='\(.*\)'/\1/p" common/setup/setup.sh | tr ' ' '\n' | grep '^lib')
    arm_apt update
    # shellcheck disable=SC2086 # words
    arm_apt -y -d --no-install-recommends install $libraries $required
    for package in "$apt"/cache/archives/*.deb; do dpkg -x "$package" "$sysroot.part"; done
    mv "$sysroot.part" "$sysroot"
fi
for tool in gcc g++; do
    printf '#!/bin/sh\nexec aarch64-linux-gnu-%s --sysroot="%s" "$@"\n' $tool "$(realpath "$sysroot")" >"$arm/$tool"
    chmod +x "$arm/$tool"
done
sed "s|^CC=.*|CC=$(realpath "$arm")/gcc|; s|^CXX=.*|CXX=$(realpath "$arm")/g++|; s|^CCACHE=.*|CCACHE=|; s|^LINKER=.*|LINKER=|; s|^CPU_VECTORS=.*|CPU_VECTORS=base|" \
    "$build/toolchain.env" >"$arm/toolchain.env.part"
cmp -s "$arm/toolchain.env.part" "$arm/toolchain.env" || cp "$arm/toolchain.env.part" "$arm/toolchain.env"

# Tests of the sandbox and of the GPU's driver need a kernel for ARM.
simulator=common/simulator
tests="$simulator/ptx/test_ptx $simulator/ptx/test_fatbin $simulator/ptx/test_ptx_link
    $simulator/tests/test_simt $simulator/tests/test_simt_machine $simulator/tests/test_simt_tensor
    common/base/test_demangle autograder/findings/test_findings
    autograder/lab/test_formula autograder/lab/test_handout autograder/lab/test_metric
    autograder/lab/test_predict autograder/lab/test_sealed autograder/lab/test_slow
    autograder/lab/test_todo autograder/record/test_best_record autograder/record/test_cause
    autograder/record/test_score autograder/tensors/test_guarded autograder/text/test_screen
    autograder/text/test_table common/base/test_array_name common/base/test_counters
    common/base/test_error common/base/test_parallel common/cuda/paired_timing/test_paired"
[ -z "${LONG:-}" ] || tests="$tests $simulator/tests/test_simt_checks
    $simulator/tests/test_simt_large $simulator/tests/test_simt_races
    autograder/lab/test_lab_ini autograder/record/test_record"
programs=
for test in $tests; do programs="$programs $arm/tests/$test"; done
# shellcheck disable=SC2086 # words
make -s -j"${JOBS:-2}" -o "$arm/toolchain.env" BUILD="$arm" MAKE_HOST=aarch64-linux-gnu tools $programs
failed=0
for test in $tests; do
    if CMOCKA_MESSAGE_OUTPUT=tap timeout 3600 qemu-aarch64-static -L "$sysroot" "$arm/tests/$test" >"$arm/log" 2>&1; then
        printf 'ok arm/%s: %s passed\n' "$(basename "$test")" "$(grep -c '^ok' "$arm/log")"
    else
        printf 'not ok arm/%s\n' "$(basename "$test")"
        grep -v '^ok' "$arm/log" | tail -n 20
        failed=1
    fi
done
exit $failed
