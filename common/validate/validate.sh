#!/bin/sh
# validate.sh BUILD - runs every measured kernel on the simulated h200, into BUILD/validate, and
# compares with the records. Exits 1 when a promise is broken.  `make numbers LAB=validation` puts
# the result into docs/validation.md.
set -eu
build=${1:?usage: validate.sh BUILD}
out=$build/validate
records=common/validate/data/h200
mkdir -p "$out"
names=
# shellcheck disable=SC2012 # names of our own
all=$(ls "$records"/*-times.tsv | wc -l)
. common/setup/ticker.sh
ticker_begin "$build" 'kernels on the simulated h200, by source' "$all" "$out/seconds"
for times in "$records"/*-times.tsv; do
    name=$(basename "$times" -times.tsv)
    names="$names $name"
    cases=$records/$name-cases.txt # of a lab: those that were measured, whatever it has now
    [ -f "$cases" ] || cases=/dev/null
    "$out/run-$name" h200 common/simt/gpus <"$cases" >"$out/$name.tsv"
    echo >&9
done
ticker_end
# shellcheck disable=SC2086
"$build/tests/common/validate/tool_validate" "$records" "$out" "$out" $names
