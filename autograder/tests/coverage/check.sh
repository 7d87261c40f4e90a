#!/bin/sh
# check.sh BUILD [LAB] - checks that the public cases execute every line of every kernel of the
# solutions. Unreached lines must be in unreached.tsv, with the reason.  Each instance of a template
# is a kernel of its own.
#
# The lines are those in the PTX (-lineinfo), including those of kernels that are never launched.
# Cases run until all lines are reached: first those of first.tsv, each of which is known to add
# lines, then the others, smallest first.  If first.tsv is outdated, the check takes longer with the
# same result.
set -eu
build=${1:?usage: check.sh BUILD [LAB]}
only=${2:-}
listed=autograder/tests/coverage/unreached.tsv
first=autograder/tests/coverage/first.tsv
tab=$(printf '\t')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Compares the lines seen so far with the list: unlisted lines that were not reached, as "kernel,
# line, text"; and rows of the list that a case reached, or that are not lines.
missing() {
    awk -F "$tab" -v lab="$1" -v source="$source" '
        FNR == 1 { file++ }
        file == 1 { if ($1 == lab) reason[$2 "\t" $3] = 1; next }
        file == 2 { sub("^ *", ""); text[FNR] = $0; next }
        { kernels[$1]; if ($2 != source) next; lines[$1]++; at = $1 "\t" $3; seen[at] += 0; if ($4 > 0) seen[at] += $4 }
        END {
            for (kernel in kernels) if (!lines[kernel]) print kernel " names no line of " source
            for (at in seen) { split(at, part, "\t"); row = part[1] "\t" text[part[2]]; is[row] = 1
                if (!seen[at] && !(row in reason)) print "no case executes line " part[2] " of " part[1] ": " text[part[2]]
                if (seen[at] && (row in reason)) print "listed in unreached.tsv, and executed: line " part[2] " of " part[1] }
            for (row in reason) if (!(row in is)) print "listed in unreached.tsv, and no line: " row }' \
        "$listed" "solutions/$1/$source" "$work/runs.tsv" | sort -t ' ' -k 5n
}

# The lab's cases in the order of execution.
cases() {
    { awk -F "$tab" -v lab="$lab" '$1 == lab' "$first" | cut -f 2 | tr ' ' '\n' && "$build/bin/lab" smallest --lab "$lab"; } | awk '!seen[$0]++'
}

failed=0
for lab in $("$build/bin/lab" names); do
    case $lab in "$only"*) ;; *) continue ;; esac
    source=$(sed -n 's/^source *= *//p' "labs/$lab/lab.ini")
    case $source in *.cu) ;; *) continue ;; esac # on the host there are no kernels
    : >"$work/runs.tsv"
    ran=0
    for case in $(cases); do
        "$build/bin/lab" run --build "$build" --lab "$lab" --submission solutions --engine sim \
            --case "$case" --alone --seed 1 \
            --runs "$work/case.tsv" >"$work/log" 2>&1 ||
            { tail -n 5 "$work/log"; echo "not ok coverage/$lab: case $case"; failed=1; continue 2; }
        sort -u "$work/case.tsv" >>"$work/runs.tsv"
        ran=$((ran + 1))
        missing "$lab" >"$work/missing"
        [ -s "$work/missing" ] || break
    done
    c++filt <"$work/missing"
    if [ -s "$work/missing" ]; then
        echo "not ok coverage/$lab"
        failed=1
    else
        echo "ok coverage/$lab: $ran cases execute every line"
    fi
done
exit $failed
