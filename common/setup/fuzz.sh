#!/bin/sh
# fuzz.sh BUILD SECONDS - every fuzz_* program for so long, from what it found before and from the solutions' kernels.
#
# BUILD/corpus keeps inputs that reach something new; an input that breaks a program goes to BUILD/broken, and
# `BUILD/tests/ROOM/fuzz_NAME FILE` runs it once more.
set -eu
build=${1:?usage: fuzz.sh BUILD SECONDS}
seconds=${2:?usage: fuzz.sh BUILD SECONDS}
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
mkdir -p "$build/broken" "$build/seeds/ptx" "$build/seeds/fatbin" "$build/seeds/ini" "$build/seeds/frames"
# A request of four bytes and one without any (common/serve/batches/frame.h).
printf 'CLS1\004\0\0\0\001\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0four' >"$build/seeds/frames/one"
printf 'CLS1\0\0\0\0\002\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\003\0\0\0\0\0\0\0' | cat "$build/seeds/frames/one" - >"$build/seeds/frames/two"
for lab in labs/*/; do cp "$lab/lab.ini" "$build/seeds/ini/$(basename "$lab")"; done

for source in solutions/*/conv.cu; do
    name=$(basename "$(dirname "$source")")
    [ -s "$build/seeds/fatbin/$name" ] && continue
    older=80 newer=90
    ! grep -q '^needs *=.*cc = 9.0' "labs/$name/lab.ini" || older=90a newer=90a
    set -- -std=c++17 -Icommon/include "$source"
    "$nvcc" -arch=compute_$older -ptx -o "$build/seeds/ptx/$name" "$@"
    "$nvcc" -gencode arch=compute_$newer,code=sm_$newer -gencode arch=compute_$newer,code=compute_$newer -fatbin -o "$build/seeds/fatbin/$name" "$@"
done

status=0
for program in $(find "$build/tests" -type f -name 'fuzz_*' -perm -u+x | sort); do
    name=$(basename "$program")
    seeds=$build/seeds/ptx
    [ "$name" != fuzz_fatbin ] || seeds=$build/seeds/fatbin
    [ "$name" != fuzz_array ] || seeds=datasets/digits-8x8
    [ "$name" != fuzz_client ] || seeds=$build/seeds/frames
    [ "$name" != fuzz_ini ] || seeds=$build/seeds/ini
    mkdir -p "$build/corpus/$name"
    echo "== ${program#"$build/tests/"}, $seconds s"
    "$program" -max_total_time="$seconds" -max_len=40000 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="$build/broken/$name-" "$build/corpus/$name" "$seeds" >"$build/$name.log" 2>&1 || {
        echo "BROKEN: $(grep -m 1 -e 'ERROR:' -e 'runtime error:' "$build/$name.log")"
        grep 'Test unit written to' "$build/$name.log" || true
        echo "the whole story is in $build/$name.log"
        status=1
    }
    sed -n 's/^stat::number_of_executed_units: */inputs tried: /p' "$build/$name.log"
done
exit $status
