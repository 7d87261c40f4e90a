#!/bin/sh
# labs.sh BUILD OUT - the table of docs/student/labs.md, from the labs' lab.ini; make check compares it with
# their handouts.
. docs/numbers/lib.sh

"$build/bin/lab" plan >"$out/plan.md"

# A recorded history (docs/data/ladder), as make ladder shows it.
mkdir -p "$out/b/progress/history" "$out/d"
cp docs/data/ladder/04-tiled.tsv "$out/b/progress/history/"
{
    echo '```'
    TZ=UTC COLUMNS=80 "$build/bin/lab" ladder --build "$out/b" --lab 04 --out "$out/d"
    echo '```'
} >"$out/history.md"
if command -v gnuplot >/dev/null; then
    tab=$(printf '\t')
    IFS=$tab read -r title unit names <"$out/d/04-tiled.tsv"
    gnuplot -c common/setup/ladder.gp "$out/d/04-tiled" "${title#\# }" "$unit" "$names" &&
        cp "$out/d/04-tiled.svg" "$out/ladder.svg"
fi

# The screen in README.md: a mutant of lab 04 without its second barrier.  The seconds are left out,
# because they differ from run to run.
mutant=$(variant no-second-barrier solutions/04-tiled/conv.cu \
    autograder/tests/mutants/04-tiled/no-second-barrier.patch)
mkdir -p "$out/submission/04-tiled"
cp "$mutant" "$out/submission/04-tiled/conv.cu"
{
    echo '```'
    COLUMNS=100 "$build/bin/grade" --build "$build" --lab 04 --submission "$out/submission" \
        --engine sim --seed 1 --results "$out/results" |
        sed -e '/^$/{N;/\ntotal/d}' -e 's/, [0-9.]* s$//' -e "s,$out/submission/,labs/,"
    echo '```'
} >"$out/screen.md"

say README.md "a CUDA course in $(find labs -name lab.ini | wc -l) labs"
