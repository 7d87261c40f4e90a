#!/bin/sh
# validation.sh BUILD OUT - the tables and the figure of docs/simulator/validation.md: what the simulated h200
# says of kernels that were measured on a real one.  make numbers simulates them all; make check
# takes the record of that.
. docs/numbers/lib.sh

measured=common/simulator/validation/data/h200
record=docs/data/simulated/validation
names=$(for times in "$measured"/*-times.tsv; do basename "$times" -times.tsv; done)

if [ -n "${NUMBERS_LONG:-}" ]; then
    sh common/simulator/validation/validate.sh "$build"
    mkdir -p "$out/data/$record"
    for name in $names; do cp "$build/validate/$name.tsv" "$out/data/$record"; done
    sh common/simulator/validation/validate.sh "$build" ptx >"$out/data/$record/ptx.md"
    record=$out/data/$record
fi
# shellcheck disable=SC2086
"$build/tests/common/simulator/validation/tool_validate" "$measured" "$record" "$out" $names >"$out/report.md"

cp "$record/ptx.md" "$out/ptx.md"

if command -v gnuplot >/dev/null; then
    gnuplot -e "data='$out/times.tsv'; out='$out/validation-times.svg'" common/simulator/validation/times.gp
fi

# ---- sentences -----------------------------------------------------------------------------------

page=docs/simulator/validation.md
# of SET FILE: how many launches of the set were measured; without a set, all of them.
of() { grep -c "$(printf '\t')${1:-\(fit\|held-out\)}$(printf '\t')" "$measured/$2-times.tsv"; }
say "$page" "$(of '' micro) launches with one property each"
say "$page" "A third, $(of held-out micro), are *held out*"
say "$page" "$(of '' families) launches of kernels in which programs"
say "$page" "$(of held-out families) siblings are held out"
say "$page" "$(of '' strangers) launches as public samples"
say "$page" "$(($(of '' unseen) - 1)) launches that were written after the model was"
say "$page" "$(($(of '' blind) - 1)) launches more, as public programs have them"
say "$page" "$(($(of '' suites) - 1)) launches more, written when all of the above was"
say "$page" "$(($(of '' public) - 1)) launches more, as public repositories have them"
say "$page" "$(($(of '' field) - 1)) launches more, unlike those of all sets above"
say "$page" "$(of '' everyday) launches more of what was there before"
say "$page" "*Everyday* has $(of '' everyday) launches"
say "$page" "*Field* has $(($(of '' field) - 1)) launches"
say "$page" "*Public* has $(($(of '' public) - 1)):"
say "$page" "*Suites* has $(($(of '' suites) - 1)):"
say "$page" "$(of '' lookups) launches that each have one part of a program"
say "$page" "exponentials, trees of sums; $(of held-out lookups) are held out"
say "$page" "$(($(of '' textures) - 1)) launches that read through the texture units"
say "$page" "$(($(of '' spills) - 1)) launches of kernels whose registers do not suffice"
say "$page" "in products, filters and doubles; $(of held-out spills) are held out"
say "$page" "$(($(of '' streams) - 1)) launches of what goes through the L2"
say "$page" "pieces of memory that lie anywhere; $(of held-out streams) are held out"
say "$page" "$(($(of '' meetings) - 1)) launches in which threads meet"
say "$page" "sums that look back, and matches; $(of held-out meetings) of them are held out"
say "$page" "$(($(of '' pauses) - 1)) launches that wait"
say "$page" "what was done before them; $(of held-out pauses) of them are held out"
say "$page" "$(of raced accesses) more (\`copies-…\`, the set *raced*)"
say "$page" "$(of counted accesses) launches whose counts alone are compared"
say "$page" "$(($(of '' hopper) - 1)) launches, each with one property of Hopper's own"
say "$page" "$(of held-out hopper) are held out. ncu counts"
say "$page" "medians of $(constant REPEATS common/simulator/validation/measure_gpu.cu) event pairs"
say "$page" "an empty kernel takes $(calc '%.2f' "$(machine h200 launch_cycles) / $(machine h200 clock_mhz)") µs that way"
# foretold NAME COLUMN: what was foretold of the launches NAME.
foretold() {
    awk -F' *[|] *' -v name="$1" -v column="$2" '
        /^[|] foretold / { on = 1 }
        /^$/ { on = 0 }
        on && $2 == name { print $column }' "$out/report.md"
}
for set in everyday field public suites; do
    say "$page" "these forecasts are $(foretold $set 5) off"
    say "$page" "$(foretold $set 6) of them are within a quarter"
done
say "$page" "their rank correlation is $(foretold everyday 4); each of"
say "$page" "their rank correlation is $(foretold field 4), and three are beyond 1.5"
say "$page" "their rank correlation is $(foretold public 4), and five are beyond 1.5 times"
say "$page" "their rank correlation is $(foretold suites 4), and three are beyond 1.5 times"
say "$page" "in which threads wait for each other, were $(foretold meetings 5) off"
say "$page" "$(foretold meetings 5) off and *lookups* $(foretold lookups 5)"
say "$page" "of which the model knew little then, were $(foretold pauses 5) off"
alone=$(awk -F'|' '$2 ~ /all/ { gsub(/ /, "", $5); sub(/%/, " %", $5); print $5 }' "$out/ptx.md")
say docs/simulator/cycle-model.md "is $alone in that mode"
