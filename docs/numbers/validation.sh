#!/bin/sh
# validation.sh BUILD OUT - the tables and the figure of docs/simulator/validation.md: predicted and
# measured times of kernels on an H200.  make numbers simulates all kernels; make check uses the
# recorded predictions.
. docs/numbers/lib.sh

gpu=h200
measured=common/simulator/validation/data/$gpu
record=docs/data/simulated/validation/$gpu
names=$(for times in "$measured"/*-times.tsv; do basename "$times" -times.tsv; done)

if [ -n "${NUMBERS_LONG:-}" ]; then
    sh common/simulator/validation/validate.sh "$build"
    mkdir -p "$out/data/$record"
    for name in $names; do cp "$build/validate/$name.tsv" "$out/data/$record"; done
    sh common/simulator/validation/validate.sh "$build" ptx >"$out/data/$record/ptx.md"
    record=$out/data/$record
fi
# shellcheck disable=SC2086
"$build/tests/common/simulator/validation/tool_validate" "$measured" "$record" "$out" $names | sed '1{/^$/d}' >"$out/report.md"

cp "$record/ptx.md" "$out/ptx.md"

if command -v gnuplot >/dev/null; then
    gnuplot -e "data='$out/times.tsv'; out='$out/validation-times.svg'" common/simulator/validation/times.gp
fi

# ---- the summary, and the sets ------------------------------------------------------------------

# forecasts.md: the rows of whole programs, from the report's table of forecasts.
subject() {
    case $1 in
    common-kernels) echo 'common kernels: matrix products, layers of networks, samples, courses' ;;
    *) echo "features that no earlier set has" ;;
    esac
}
{
    echo '| set | kernels | launches | rank correlation | mean absolute error | within 25 % | off by more than 1.5× |'
    echo '| --- | --- | --- | --- | --- | --- | --- |'
    for set in common-kernels experts-and-hashes attention-and-convolutions gemm-ladder-and-science; do
        row=$(sed -n "/^| forecast set/,/^\$/s/^| \`$set\` | [0-9-]* //p" "$out/report.md")
        [ -n "$row" ] || fail "the report has no forecast of $set"
        printf '| `%s` | %s %s\n' "$set" "$(subject "$set")" "$row"
    done
} >"$out/forecasts.md"

python3 docs/numbers/validation.py "$measured" >"$out/sets.md"

page=docs/simulator/validation.md
# Usage: of SET FILE.  Prints the number of measured launches of FILE in the sets that match SET.
of() {
    awk -F'\t' -v set="^($1)\$" '$1 != "name" && $1 != "empty" && $2 ~ set { n++ } END { print n + 0 }' \
        "$measured/$2-times.tsv"
}
say "$page" "$(of racing access-patterns) more launches (\`copies-…\`, kind *racing*)"
say "$page" "($(of counters single-instructions) launches, counts only)"
say "$page" "a third of the launches, $(of regression microbenchmarks), are regression launches"
say "$page" "the $(of regression mma-tiles) regression launches were selected"
say "$page" "medians of $(constant REPEATS common/simulator/validation/measure_gpu.cu) event pairs"
say "$page" "An empty kernel takes $(calc '%.2f' "$(machine h200 launch_cycles) / $(machine h200 clock_mhz)") µs in this way"
# forecast NAME: the mean absolute error of the forecasts of NAME.
forecast() {
    awk -F' *[|] *' -v name="\`$1\`" '
        /^[|] forecast set / { on = 1 }
        /^$/ { on = 0 }
        on && $2 == name { print $6 }' "$out/report.md"
}
say "$page" "communicate, was off by $(forecast interblock-waits)"
say "$page" "\`lookups-and-loops\` by $(forecast lookups-and-loops)"
say "$page" "clocks or retry, was off by $(forecast sleeps-and-backoff)"
alone=$(awk -F'|' '$2 ~ /all/ { gsub(/ /, "", $5); sub(/%/, " %", $5); print $5 }' "$out/ptx.md")
say docs/simulator/cycle-model.md "is $alone in that mode"
# duration RANGE: the mean absolute error of the forecasts of launches of that duration.
duration() { awk -F' *[|] *' -v range="$1" '/^### / { on = /launch duration/ } on && $2 == range { print $4 }' "$out/report.md"; }
say "$page" "are off by $(duration 'below 8') below 8 µs and by $(duration '32 to 64') from 32 to 64 µs"
