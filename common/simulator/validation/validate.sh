#!/bin/sh
# validate.sh [--ptx] [--jobs N] BUILD [GPU [MACHINE]] - simulates every validation set on a machine
# and compares with the records of a GPU (h200 unless named).  Exits 1 if a limit is exceeded.
#
# MACHINE: a machine's name, or a machine file (simulate.sh); the machine named like the GPU unless
# given.  The results are in BUILD/validate/GPU, with a named machine in BUILD/validate/GPU-MACHINE.
# `make numbers LAB=validation` puts them into docs/simulator/validation.md.
#
# With --ptx the simulator uses no machine code, as in labs.  These results have no limits: the
# script prints the error of each kind.
set -eu
ptx='' jobs=1
while :; do
    case ${1-} in
    --ptx) ptx=--ptx ;;
    --jobs) jobs=${2:?} && shift ;;
    *) break ;;
    esac
    shift
done
build=${1:?usage: validate.sh [--ptx] [--jobs N] BUILD [GPU [MACHINE]]}
gpu=${2:-h200}
machine=${3:-$gpu}
here=common/simulator/validation
out=$build/validate/$gpu
[ "$machine" = "$gpu" ] || out=$out-$(basename "$machine" .ini)
out=$out${ptx:+-ptx}
sh $here/simulate.sh ${ptx:+"$ptx"} --jobs "$jobs" "$build" "$gpu" "$machine" "$out"
status=0
"$build/tests/$here/tool_validate" "$here" "$gpu" "$out" "$out" >"$out/report.md" || status=$?
if [ "$ptx" ]; then
    # Status 1 is an exceeded limit, and there are no limits here; a higher status is a failure.
    sed -n "/^| launch kind/,/^\$/p" "$out/report.md"
    [ "$status" -gt 1 ] || status=0
else
    cat "$out/report.md"
fi
exit "$status"
