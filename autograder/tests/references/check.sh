#!/bin/sh
# check.sh BUILD - commands, paths, links and identifiers in pages, comments and hints: each one
# exists in the workbook, and those of a student's copy in the copy, where cheap commands are also
# executed.  A planted fault of each rule is reported.
# shellcheck disable=SC2015,SC2016,SC2181  # conditions, not choices; backquotes are Markdown's
set -u
. autograder/tests/lib.sh
script=$PWD/autograder/tests/references/references.py

for rule in commands paths hints; do
    python3 "$script" "$rule" >"$work/out" 2>&1
    tell "$rule"
done

# A small tree with one fault of each kind.
mkdir -p "$work/tree/docs/simulator" "$work/tree/common/include/convlab" "$work/tree/labs/02-naive"
cp -r Makefile mk "$work/tree/"
git -C "$work/tree" init -q
: >"$work/tree/common/include/convlab/conv.h"
: >"$work/tree/docs/simulator/cuda-calls.md"
: >"$work/tree/labs/02-naive/conv.cu"
: >"$work/tree/labs/02-naive/README.md"
printf '[lab]\nsource = conv.cu\n[case small]\n[hint 1]\ntext = call missing_call(x)\n' >"$work/tree/labs/02-naive/lab.ini"
cat >"$work/tree/README.md" <<'END_PAGE'
# Page

`make nothing`, `make grade CASES=x`, `make run LAB=77`, `make run LAB=02 CASE=large`,
`make run LAB=02 GPU=none`, `make run LAB=02 SUBMISSION=labs/none.cu`.

[a link](docs/none.md), [an anchor](#none), `docs/none.c`, `none_such()`.
END_PAGE
echo '// see common/none.h' >"$work/tree/common/planted.c"

# finds RULE TEXT
finds()
{
    python3 "$script" "$1" "$work/tree" >"$work/out" 2>&1
    [ $? = 1 ] && grep -qF -- "$2" "$work/out"
    tell "finds: $2"
}
finds commands 'make has no target nothing'
finds commands 'make knows no variable CASES'
finds commands 'there is no lab 77'
finds commands 'lab 02 has no case large'
finds commands 'there is no GPU none'
finds commands 'there is no labs/none.cu'
finds paths 'README.md:6: link: there is no docs/none.md'
finds paths 'has no heading #none'
finds paths 'there is no docs/none.c'
finds paths 'no source has none_such()'
finds paths 'there is no common/none.h'
finds hints 'has missing_call'
# ---- the student's copy ----
# Every command, path and hint of its pages, in the tree in which the student reads them.
copy=$work/copy
sh autograder/handout/handout.sh "$build" "$copy" '' >"$work/out" 2>&1
tell copy-is-made
for rule in commands paths hints; do
    python3 "$script" "$rule" --copy "$copy" >"$work/out" 2>&1
    tell "copy-$rule"
done
! grep -rIF 'SUBMISSION=solutions' --exclude-dir=.git --exclude=Makefile --exclude-dir=mk "$copy" >"$work/out" &&
    make -s -C "$copy" help >"$work/help" && ! grep -F solutions "$work/help" >>"$work/out" &&
    ! grep -rIE '<!-- (only with|end only)' --include='*.md' "$copy" >>"$work/out"
tell copy-names-no-solutions
# The same rules find faults there.
cp -a "$copy" "$work/wrong"
echo '`make test`, `make grade SUBMISSION=solutions`, `docs/architecture.md`' >>"$work/wrong/labs/02-naive/README.md"
sed -i 's/make widths/make/' "$work/wrong/README.md"
for text in "make test: a student's copy does not have this target" "a student's copy has no solutions" \
    'the page does not list make widths'; do
    python3 "$script" commands --copy "$work/wrong" >"$work/out" 2>&1
    [ $? = 1 ] && grep -qF -- "$text" "$work/out"
    tell "copy finds: $text"
done
python3 "$script" paths --copy "$work/wrong" >"$work/out" 2>&1
[ $? = 1 ] && grep -qF 'there is no docs/architecture.md' "$work/out"
tell 'copy finds: there is no docs/architecture.md'

# Printed commands that take at most a few seconds are also executed there, with this build's
# programs: each explains itself in words, and make reports no error of its own.
mkdir -p "$copy/build"
for part in bin lib obj cache toolchain.env; do ln -s "$build/$part" "$copy/build/$part"; done
python3 "$script" printed --copy "$copy" |
    grep -E '^make( (help|hint|ladder|doctor|reset|see|picture|debug)( LAB=[0-9]+)?)?$|^make run LAB=[0-9]+( CASE=[a-z0-9-]+)?$' >"$work/commands"
[ "$(wc -l <"$work/commands")" -ge 20 ]
tell 'copy-prints-commands'
while read -r command; do
    (cd "$copy" && timeout 60 sh -c "$command" >"$work/out" 2>&1 </dev/null)
    status=$?
    # 1: the skeleton's answer is wrong, or there is no grade yet; 2: a question is missing.
    [ $status -le 2 ] && [ -s "$work/out" ] && ! grep -E '^make: \*\*\*|[Nn]o such file|usage:' "$work/out"
    tell "copy: $command"
done <"$work/commands"

# Lab 19's page prints two commands for one of its four strategies, and names the others: each builds
# and is right.
awk '/^## The report.s four strategies/ { on = 1 } on && /^```/ { inside = !inside; if (!inside) exit; next } inside' \
    "$copy/labs/19-electrode/README.md" >"$work/strategy"
[ "$(wc -l <"$work/strategy")" = 2 ] && grep -q 'STRATEGY IM2COL' "$work/strategy"
tell 'lab 19 prints commands for a strategy'
for strategy in IM2COL STREAMS CHANNELS SCATTER; do
    sed "s,STRATEGY IM2COL,STRATEGY $strategy,; s,/tmp/,$work/,g" "$work/strategy" >"$work/run.sh"
    grep -qw "$strategy" "$copy/labs/19-electrode/README.md" &&
        (cd "$copy" && timeout 300 sh -e "$work/run.sh" >"$work/out" 2>&1 </dev/null) &&
        grep -q "STRATEGY $strategy" "$work/im2col.cu" && grep -q '^  correct: ' "$work/out"
    tell "lab 19: strategy $strategy"
done
exit "$failed"
