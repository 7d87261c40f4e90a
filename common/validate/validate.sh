#!/bin/sh
# validate.sh BUILD - runs every measured kernel on the simulated h200, compares with the records, and refreshes the tables
# and plots of docs/validation.md.  Exits 1 when a promise is broken.
set -eu
build=${1:?usage: validate.sh BUILD}
out=$build/validate
records=common/validate/data/h200
names=
for times in "$records"/*-times.tsv; do
    name=$(basename "$times" -times.tsv)
    names="$names $name"
    if [ "$name" = micro ]; then
        : >"$out/cases"
    else
        "$build/bin/lab" cases --lab "$name" >"$out/cases"
    fi
    "$out/run-$name" h200 common/simt/gpus <"$out/cases" >"$out/$name.tsv"
done
status=0
# shellcheck disable=SC2086
"$build/tests/common/validate/tool_validate" "$records" "$out" "$out" $names >"$out/report.md" || status=$?
cat "$out/report.md"
[ "$status" -le 1 ] || exit "$status"

if command -v gnuplot >/dev/null; then
    gnuplot -e "data='$out/times.tsv'; out='docs/figures/validation-times.svg'" common/validate/times.gp
else
    echo "validate: no gnuplot, so docs/figures/validation-times.svg is left as it was" >&2
fi
sh common/setup/splice.sh docs/validation.md "$out"
exit "$status"
