#!/bin/sh
# check.sh BUILD - commands, paths, links and identifiers in pages, comments and hints: each one
# exists in the workbook.  A planted fault of each rule is reported.
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
exit "$failed"
