#!/bin/sh
# validation.sh BUILD OUT - the tables and the figure of docs/simulator/validation.md: predicted and
# measured times and counts.  `make numbers` simulates all sets on each machine; `make check` uses
# the recorded predictions.
. docs/numbers/lib.sh

here=common/simulator/validation
data=$here/data
recorded=docs/data/simulated/validation
simulated=$recorded
# GPU and machine file of each comparison; their predictions are in a folder GPU or GPU-MACHINE.
# Files of `make machine` are records.  The first comparison of a GPU is the one that the page
# shows.
comparisons="h200 h200
h200 $data/h200/measured-machine.ini
h100 h100
h100 $data/h100/measured-machine.ini"
folder_of() { # GPU MACHINE
    [ "$1" = "$2" ] && echo "$1" || echo "$1-$(basename "$2" .ini)"
}

if [ -n "${NUMBERS_LONG:-}" ]; then
    simulated=$out/data/$recorded
    simulate() { # FOLDER OPTIONS GPU MACHINE
        sh $here/simulate.sh ${2:+"$2"} --jobs "${JOBS:-1}" "$build" "$3" "$4" "$simulated/$1"
        rm -f "$simulated/$1/seconds"
    }
    echo "$comparisons" | while read -r gpu machine; do
        simulate "$(folder_of "$gpu" "$machine")" '' "$gpu" "$machine"
    done
    simulate h200-ptx --ptx h200 h200
fi

# compare GPU FOLDER: compares recorded or new predictions with the records of a GPU.
compare() {
    mkdir -p "$out/$2"
    status=0
    "$build/tests/$here/tool_validate" $here "$1" "$simulated/$2" "$out/$2" >"$out/$2/report.md" || status=$?
    [ "$status" -le 1 ] || fail "the comparison of $2 failed"
}

echo "$comparisons" | while read -r gpu machine; do
    compare "$gpu" "$(folder_of "$gpu" "$machine")"
done
compare h200 h200-ptx
grep -q 'are not needed\|are off by more' "$out/h200/report.md" "$out/h100/report.md" &&
    fail "$(grep -h 'known.tsv\|are off by more' "$out/h200/report.md" "$out/h100/report.md")"
python3 docs/numbers/validation.py "$out" \
    'H200/`h200.ini`, fitted=h200' \
    'H200/`make machine`, 2026-11-28=h200-measured-machine' \
    'H200/`h200.ini`, PTX alone=h200-ptx' \
    'H100/`h100.ini`, from data sheets=h100' \
    'H100/`make machine`, 2026-11-28=h100-measured-machine'
# part GPU TITLE: a section of the report of tool_validate.
part() { awk -v title="### $2" '/^### / { on = $0 == title; next } on' "$out/$1/report.md" | sed '/^$/d'; }
for gpu in h200 h100; do
    part $gpu Counts >"$out/counts-$gpu.md"
    part $gpu 'Largest errors' >"$out/largest-$gpu.md"
done
part h200 'Racing launches' >"$out/racing.md"

if command -v gnuplot >/dev/null; then
    gnuplot -e "data='$out/times.tsv'; out='$out/validation-times.svg'" $here/times.gp
fi

# ---- sentences -----------------------------------------------------------------------------------

page=docs/simulator/validation.md
# Usage: of KIND SET.  Prints the number of measured launches of SET whose kind matches.
of() {
    awk -F'\t' -v kind="^($1)\$" '$1 != "name" && $1 != "empty" && $2 ~ kind { n++ } END { print n + 0 }' \
        "$data/h200/$2-times.tsv"
}
# cell_of TABLE ROW COLUMN: a cell of a table; ROW is a text in the row.
cell_of() {
    _cell=$(grep -F -m 1 -- "$2" "$out/$1.md" | awk -F' *[|] *' -v column="$3" '{ print $(column + 1) }')
    [ "$_cell" ] || fail "the table $1 has no row with $2"
    printf '%s\n' "$_cell"
}
say "$page" "$(of racing access-patterns) more launches (\`copies-…\`, kind *racing*)"
say "$page" "($(of counters single-instructions) launches, counts only)"
say "$page" "a third of the launches, $(of regression microbenchmarks), are regression launches"
say "$page" "the $(of regression mma-tiles) regression launches were selected"
say "$page" "medians of $(constant REPEATS $here/measure_gpu.cu) event pairs"
say "$page" "An empty kernel takes $(calc '%.2f' "$(machine h200 launch_cycles) / $(machine h200 clock_mhz)") µs in this way"
say "$page" "communicate, was off by $(cell_of all-forecasts '`interblock-waits`' 6)"
say "$page" "\`lookups-and-loops\` by $(cell_of all-forecasts '`lookups-and-loops`' 6)"
say "$page" "clocks or retry, was off by $(cell_of all-forecasts '`sleeps-and-backoff`' 6)"
say "$page" "are off by $(cell_of durations '| below 30 |' 3) below 30 µs and by $(cell_of durations '| 30 and more |' 3) from 30 µs on"
say docs/simulator/cycle-model.md "is $(cell_of machines 'PTX alone' 5) in that mode"
# error_of ROW: the mean absolute error of a row of the table of machines.
error_of() { cell_of machines "$1" 5; }
machines=docs/simulator/machines.md
say "$machines" "the error on an H100 is $(error_of 'H100 | `make') over $(cell_of machines 'H100 | `make' 3) launches, and $(error_of 'H100 | `h100.ini`') with the hand-written \`h100.ini\`"
say "$machines" "On an H200, it is $(error_of 'H200 | `make'), and $(error_of 'H200 | `h200.ini`, fitted') with the fitted \`h200.ini\`"
