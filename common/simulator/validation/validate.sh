#!/bin/sh
# validate.sh BUILD [ptx] - runs every measured kernel on the simulated h200, into BUILD/validate,
# and compares with the records. Exits 1 if a limit is exceeded.  `make numbers LAB=validation`
# puts the result into docs/simulator/validation.md.
#
# With ptx the simulator uses no machine code, as in labs; the results are in BUILD/validate/ptx.
# These results have no limits: the script prints the error of each set.
set -eu
build=${1:?usage: validate.sh BUILD [ptx]}
alone=${2:-}
programs=$build/validate
out=$programs${alone:+/$alone}
records=common/simulator/validation/data/h200
mkdir -p "$out"
names=
# shellcheck disable=SC2012 # names of our own
all=$(ls "$records"/*-times.tsv | wc -l)
. common/setup/ticker.sh
ticker_begin "$build" 'kernels on the simulated h200, by source' "$all" "$out/seconds"
for times in "$records"/*-times.tsv; do
    name=$(basename "$times" -times.tsv)
    names="$names $name"
    cases=$records/$name-cases.txt # the measured cases of a lab
    [ -f "$cases" ] || cases=/dev/null
    "$programs/run-$name" h200 common/simulator/gpus ${alone:+"$alone"} <"$cases" >"$out/$name.tsv"
    echo >&9
done
ticker_end
compare() {
    # shellcheck disable=SC2086
    "$build/tests/common/simulator/validation/tool_validate" "$records" "$out" "$out" $names
}
if [ "$alone" ]; then
    # Status 1 is an exceeded limit, and there are no limits here; a higher status is a failure.
    status=0
    compare >"$out/said" || status=$?
    sed -n '/^| set/,/^$/p' "$out/said"
    [ "$status" -le 1 ] || exit "$status"
else
    compare
fi
