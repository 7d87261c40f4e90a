#!/bin/sh
# check.sh BUILD - tests make mutate: its table with fake verdicts; two real mutants of lab 02; and
# every row of the lists here must still be a change of its solution. Whole labs take hours, and
# are run by hand.
set -eu
build=${1:?usage: check.sh BUILD}
tab=$(printf '\t')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# table NAME STATUS WORDS: the table of $work's files ends with that status and contains these
# words.
table() {
    status=0
    awk -F "$tab" -v lab=x -f autograder/mutate/table.awk "$work/listed" "$work/all" "$work/found" \
        "$work/all" >"$work/said" || status=$?
    if [ "$status" = "$2" ] && grep -q "$3" "$work/said"; then
        echo "ok $1"
    else
        cat "$work/said"
        echo "not ok $1: status $status instead of $2, or no words '$3'"
    fi
}
row() { printf '%s\t' "$@" | sed 's/\t$//'; echo; }

{ row name line kind todo before after; row m1 5 operator 1 'a + b' 'a - b'; row m2 6 constant 2 'n = 1' 'n = 0'; } >"$work/all"
{ row m1 'public small'; row m2 nothing; } >"$work/found"
row todo before after reason >"$work/listed"
table "what nothing finds is shown, and makes it fail" 1 'nothing finds: line 6, constant, TODO(2)'
: >"$work/listed"
table "also without a list" 1 '1 of 2 mutants .* are found: 50.0 %'
{ row todo before after reason; row 2 'n = 1' 'n = 0' 'costs time'; } >"$work/listed"
table "what is listed does not" 0 '1 of 1 mutants .* are found: 100.0 %'
{ row todo before after reason; row 2 'n = 1' '*' 'costs time'; } >"$work/listed"
table "a star stands for every change of the line" 0 '1 of 1 mutants .* are found: 100.0 %'
{ row todo before after reason; row until 1 - 'a part'; row 2 'n = 1' 'n = 0' 'costs time'; } >"$work/listed"
table "a part is no mutant" 0 '1 of 1 mutants .* are found: 100.0 %'
{ row todo before after reason; row 2 'n = 1' '*' 'costs time'; } >"$work/listed"
row 1 'a + b' 'a - b' 'harmless' >>"$work/listed"
table "what is listed and found makes it fail" 1 'found, and listed as if nothing found it: line 5'
{ row todo before after reason; row 2 'n = 1' '*' 'costs time'; row 3 'gone' 'away' 'harmless'; } \
    >"$work/listed"
table "what is listed and no mutant makes it fail" 1 'listed, but there is no such mutant'
{ row m1 'public small'; } >"$work/found"
table "a mutant without a verdict makes it fail" 1 'no verdict on: line 6'
{ row m1 same; row m2 none; } >"$work/found"
row todo before after reason >"$work/listed"
table "the same program and no program count for nothing" 0 '0 of 0 mutants'

# A race whose outputs are right is known by the words of its report.
words=$(sed -n "s/.*! grep -q '\(.*\)' \"\${program.*/\1/p" autograder/mutate/mutate.sh)
if [ -n "$words" ] && grep -q "$words" autograder/record/case_words.c; then
    echo "ok the words of a race are those of its report"
else
    echo "not ok the words of a race are those of its report: '$words'"
fi

if SAMPLE=2 SEED=7 sh autograder/mutate/mutate.sh "$build" 02 >"$work/said" 2>&1 &&
    grep -q '^02-naive: 2 of 2' "$work/said"; then
    echo "ok two mutants of lab 02 are found"
else
    cat "$work/said"
    echo "not ok two mutants of lab 02 are found"
fi

# The first and the third of three mutants are a half.  Another machine's detected mutants are
# accepted, and its undetected ones are tried again.
"$build/bin/lab" mutants --lab 02 --sample 3 --seed 7 |
    awk -F "$tab" 'NR == 2 { print $1 "\thidden" } NR == 4 { print $1 "\tnothing 1" }' \
    >"$work/known"
if SAMPLE=3 SEED=7 SHARD=1/2 KNOWN=$work/known sh autograder/mutate/mutate.sh "$build" 02 \
    >"$work/said" 2>&1 &&
    grep -q '^ *all *2 *0 *0 *1 *1 *0 *0$' "$work/said"; then
    echo "ok a part of the mutants, of which another machine found one"
else
    cat "$work/said"
    echo "not ok a part of the mutants, of which another machine found one"
fi
for wrong in 3/2 0/1 x 1/2/3; do
    SHARD=$wrong sh autograder/mutate/mutate.sh "$build" 02 >"$work/said" 2>&1 || :
    if grep -q "not '$wrong'" "$work/said"; then echo "ok SHARD=$wrong is refused"; else echo "not ok SHARD=$wrong is refused"; fi
done

for list in autograder/tests/mutate/*.tsv; do
    lab=$(basename "$list" .tsv)
    "$build/bin/lab" mutants --lab "$lab" >"$work/all"
    awk -F "$tab" 'FNR == 1 { file++; next } file == 1 { is[$4 "\t" $5 "\t" $6]; is[$4 "\t" $5 "\t*"]; next }
        $1 == "until" && $2 > 0 && $4 != "" { next }
        !(($1 "\t" $2 "\t" $3) in is) || $4 == "" { print "no such mutant, or no reason: " $0; wrong = 1 } END { exit wrong }' \
        "$work/all" "$list" && echo "ok $list" || echo "not ok $list"
done
