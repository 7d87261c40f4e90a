#!/bin/sh
# fuzz.sh BUILD SECONDS - runs every fuzz_* program for SECONDS, from earlier inputs and from the
# solutions' kernels.
#
# BUILD/corpus keeps inputs that reach something new; an input that breaks a program goes to
# BUILD/broken, and `BUILD/tests/ROOM/fuzz_NAME FILE` runs it once more.
set -eu
build=${1:?usage: fuzz.sh BUILD SECONDS}
seconds=${2:?usage: fuzz.sh BUILD SECONDS}
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
mkdir -p "$build/broken" "$build/seeds/ptx" "$build/seeds/fatbin" "$build/seeds/ini" \
    "$build/seeds/frames" "$build/seeds/maps" "$build/seeds/records" "$build/seeds/machine" \
    "$build/seeds/rosters"
# A request with a body of four bytes and one without (common/apps/serve/batches/frame.h).
printf 'CLS1\004\0\0\0\001\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0four' \
    >"$build/seeds/frames/one"
printf 'CLS1\0\0\0\0\002\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\003\0\0\0\0\0\0\0' |
    cat "$build/seeds/frames/one" - >"$build/seeds/frames/two"
# Two layers of feature maps (datasets/fuzz_maps.c); records of grades, and the table of a grade
# history.
printf 'layer\nlayer\n\0(1, 2, 2, 3)\n3x4\n\0001 2.5 -3e-2, 0\n5 6 7 8 9 10 11 12\n' \
    >"$build/seeds/maps/two"
cp docs/data/h200/*.json "$build/seeds/records"
printf '2026-01-31T12:00:00Z\t0a\tsim h200\tcycles\t80.5\t100\tlenet\t1500\t3000\t1000\t500\n' \
    >"$build/seeds/records/history"
# Rosters of two platforms (autograder/lms/fuzz_roster.c).
printf 'Student,ID,SIS User ID,SIS Login ID,Section\n"Byron, Ada",123,S1,ada,A\n' \
    >"$build/seeds/rosters/canvas"
printf 'Identifier;Full name;Extension;Group\nParticipant 1;"a""b";3d;g\n' \
    >"$build/seeds/rosters/moodle"
# Legal conversations of a runner (autograder/session/fuzz_runner.c), 16 bytes for each message:
# start, module, kernel, launch, answer, and launch and answer again; two answers of host code.
mkdir -p "$build/seeds/runners"
message()
{
    # shellcheck disable=SC2059 # octal numbers
    { printf "$1" && head -c 16 /dev/zero; } | head -c 16
}
launch='\0\016\002\0\0\0\0\001\0\001 \0\0\0\0\030'
{ printf '\002' && message '\0\010' && message '\0\012' && message "$launch" && message '\014' &&
    message "$launch" && message '\014'; } >"$build/seeds/runners/device"
{ printf '\003' && message '\014' && message '\014'; } >"$build/seeds/runners/host"
for lab in labs/*/; do cp "$lab/lab.ini" "$build/seeds/ini/$(basename "$lab")"; done

for source in solutions/*/conv.cu; do
    name=$(basename "$(dirname "$source")")
    [ -s "$build/seeds/fatbin/$name" ] && continue
    older=80 newer=90
    ! grep -q '^needs *=.*cc = 9.0' "labs/$name/lab.ini" || older=90a newer=90a
    set -- -std=c++17 -lineinfo -Icommon/include "$source"
    "$nvcc" -arch=compute_$older -ptx -o "$build/seeds/ptx/$name" "$@"
    "$nvcc" -gencode arch=compute_$newer,code=sm_$newer \
        -gencode arch=compute_$newer,code=compute_$newer -fatbin -o "$build/seeds/fatbin/$name" "$@"
done

# A kernel that spills, small and not compressed, so that mutations reach the machine code of its
# PTX and the lines in it (common/simulator/sass/sass.c, cubin_lines.c,
# common/simulator/decode/spill.c).
cat >"$build/seeds/tight.cu" <<'END'
extern "C" __global__ void tight(float *x, int turns)
{
    float v[36];
    for (int k = 0; k < 36; k++) v[k] = x[threadIdx.x + k * 32];
    for (int turn = 0; turn < turns; turn++)
        for (int k = 0; k < 36; k++) v[k] = v[k] * v[(k + 18) % 36] + v[(k * 7 + 1) % 36];
    for (int k = 0; k < 36; k++) x[threadIdx.x + k * 32] = v[k];
}
END
for cc in 75 80 90; do
    [ -s "$build/seeds/machine/tight_$cc" ] ||
        "$nvcc" -lineinfo -maxrregcount 32 --no-compress -Wno-deprecated-gpu-targets -fatbin \
            -gencode arch=compute_$cc,code=sm_$cc -gencode arch=compute_$cc,code=compute_$cc \
            -o "$build/seeds/machine/tight_$cc" "$build/seeds/tight.cu"
done

# Kernels whose machine code is replayed (common/simulator/sass_map/*.c): loops that ptxas unrolls,
# completely and partially, nested, and a barrier; for the simulated machine, with a line for each
# instruction.
cat >"$build/seeds/turns.cu" <<'END'
extern "C" __global__ void turns(float *x, int n)
{
    __shared__ float s[64];
    float sum = 0;
    for (int k = 0; k < n; k++) sum += x[k * 32 + threadIdx.x];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 0; k < (n & 31); k++)
        if (s[k] > sum) sum = sum * s[k] + x[k];
    x[threadIdx.x] = sum;
}
extern "C" __global__ void nested(float *x, int n)
{
    float sum = 0;
    for (int i = 0; i < (n & 7); i++) {
        for (int k = 0; k < 8; k++) sum += x[(i * 8 + k) & 255];
        x[i] = sum;
    }
}
END
[ -s "$build/seeds/machine/turns" ] ||
    "$nvcc" -lineinfo --no-compress -fatbin -gencode arch=compute_90,code=sm_90 \
        -gencode arch=compute_90,code=compute_90 -o "$build/seeds/machine/turns" \
        "$build/seeds/turns.cu"

# Every eighth form of the conformance tables, one kernel each, changed so that its operands are in
# the memory that fuzz_kernel provides.
if [ ! -s "$build/seeds/forms/1" ]; then
    mkdir -p "$build/seeds/forms" "$build/seeds/tables"
    "$build/tests/common/simulator/conformance/tool_conformance" ptx "$build/seeds/tables"
    cat "$build/seeds/tables"/*.ptx |
        sed -E 's/\[%(in|out)\+[0-9]+\]/[%\1]/; s/%t, 64/%t, 32/; s/memory\[2048\]/memory[8192]/' |
        awk -v directory="$build/seeds/forms" '
            /^\.version/ { head = ""; reads_head = 1 }
            /^\.visible/ { form++; reads_head = 0; name = directory "/" form }
            reads_head { head = head $0 "\n"; next }
            form % 8 != 1 { next }
            /^\.visible/ { printf "%s", head > name }
            { print > name }
            $0 == "}" { close(name) }'
fi

status=0
for program in $(find "$build/tests" -type f -name 'fuzz_*' -perm -u+x | sort); do
    name=$(basename "$program")
    case $name in
    fuzz_array) set -- datasets/digits-8x8 ;;
    fuzz_client) set -- "$build/seeds/frames" ;;
    fuzz_command | fuzz_dap) set -- ;; # they make their own lines
    fuzz_fatbin) set -- "$build/seeds/fatbin" "$build/seeds/machine" ;;
    fuzz_ini) set -- "$build/seeds/ini" ;;
    fuzz_kernel | fuzz_repeats) set -- "$build/seeds/ptx" "$build/seeds/machine" "$build/seeds/forms" ;;
    fuzz_machine) set -- common/simulator/gpus ;;
    fuzz_maps) set -- "$build/seeds/maps" ;;
    fuzz_record) set -- "$build/seeds/records" ;;
    fuzz_roster) set -- "$build/seeds/rosters" ;;
    fuzz_runner) set -- "$build/seeds/runners" ;;
    *) set -- "$build/seeds/ptx" "$build/seeds/forms" ;;
    esac
    mkdir -p "$build/corpus/$name"
    echo "== ${program#"$build/tests/"}, $seconds s"
    "$program" -max_total_time="$seconds" -max_len=40000 -rss_limit_mb=2048 -print_final_stats=1 \
        -verbosity=0 \
        -artifact_prefix="$build/broken/$name-" "$build/corpus/$name" "$@" \
        >"$build/$name.log" 2>&1 || {
        echo "BROKEN: $(grep -m 1 -e 'ERROR:' -e 'runtime error:' "$build/$name.log")"
        grep 'Test unit written to' "$build/$name.log" || true
        echo "the complete output is in $build/$name.log"
        status=1
    }
    sed -n 's/^stat::number_of_executed_units: */inputs tried: /p' "$build/$name.log"
done
exit $status
