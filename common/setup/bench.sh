#!/bin/sh
# bench.sh BUILD - runs every bench_* program: the simulator's speed, and the ceilings of the GPU if
# there is one.
set -eu
build=${1:?usage: bench.sh BUILD}
for bench in $(find "$build/tests" -type f -name 'bench_*' -perm -u+x | sort); do
    echo "== ${bench#"$build/tests/"}"
    "$bench"
done
