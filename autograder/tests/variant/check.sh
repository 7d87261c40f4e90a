#!/bin/sh
# check.sh BUILD - make variant: the rules of index arithmetic, bad input, and a variant of lab 02 in
# which the new solution is correct and this workbook's solution is not.
#
# The complete check of all labs, with the mutants, is `make variant` itself: it takes minutes.
set -u
. autograder/tests/lib.sh
tool=common/setup/variant/variant.py
variant() { python3 $tool "$@" >"$work/out" 2>"$work/err"; }

# Each rule changes each lab's solution, and the rules of mutants are their own inverses.
python3 - >"$work/out" 2>&1 <<'END'
import sys
sys.path.insert(0, 'common/setup/variant')
import index_rules as rules
labs = {'01-sequential': 'conv.c', '02-naive': 'conv.cu', '03-layout': 'conv.cu', '04-tiled': 'conv.cu'}
for lab, name in labs.items():
    text = open(f'solutions/{lab}/{name}').read()
    for axis in rules.AXES:
        assert rules.rewrite(text, {axis}) != text, f'{lab} has no index of {axis}'
flipped = 'w[((k * p.C + c) * p.R + p.R - 1 - r) * p.S + p.S - 1 - s]'
assert rules.rewrite(flipped, {'w.rs'}) == 'w[((k * p.C + c) * p.R + r) * p.S + s]'
assert rules.rewrite('oq*stride_w + s - pad_left', set(rules.AXES)) == 'oq*stride_w + s - pad_left'
assert rules.rewrite('w[(k * p.C + c)', {'x.c', 'x.n'}) == 'w[(k * p.C + c)'
assert rules.rewrite('((n*C + c)*H + ih)*W', {'x.n', 'x.c', 'x.h'}) == '(((N - 1 - n)*C + C - 1 - c)*H + H - 1 - ih)*W'
END
tell 'each axis has an index in each solution'

refused() { # WORDS ARGUMENT...
    words=$1
    shift
    status=0
    variant "$@" || status=$?
    [ "$status" = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qF "$words" "$work/err" && [ ! -e "$work/new" ]
}
refused "OUT=$work exists" "$build" 1 "$work"
tell 'a folder that exists is refused'
refused 'lab 05 has no variants: there are 01 02 03 04' "$build" 1 "$work/new" 05
tell 'a lab without variants is refused'
refused 'has no solutions' --against "$work" "$build" 1 "$work/new"
tell 'an earlier workbook without solutions is refused'
make variant SEED=1 >"$work/out" 2>&1
grep -q '^usage: make variant SEED=' "$work/out"
tell 'make variant without a folder shows its usage'

variant --unchecked "$build" 2027 "$work/new" 02
tell 'a variant of lab 02 is made'
git -C "$work/new" log -1 --format=%s | grep -qx 'Draw a variant of labs 02' &&
    [ -z "$(git -C "$work/new" status --porcelain)" ]
tell 'and committed'
verdict() { # FOLDER OF A SUBMISSION
    (cd "$work/new" && "$build/bin/grade" --build "$build" --engine sim --lab 02 --case uneven --submission "$1" \
        --results "$work/results") >"$work/out" 2>&1
}
verdict solutions && grep -q 'uneven *correct' "$work/out"
tell 'the new solution is correct'
verdict "$PWD/solutions" && grep -q 'axes are in ascending order' "$work/out" && ! grep -q 'uneven *correct' "$work/out"
tell 'the earlier solution is wrong, and the grader says why'
(cd "$work/new" && diff solutions/02-naive/predict.ini "$OLDPWD/solutions/02-naive/predict.ini") | grep -q '^< blocks = '
tell 'other answers are expected'
grep -q '^## The order in memory' "$work/new/labs/02-naive/README.md"
tell 'the handout states the order'
python3 $tool --against "$work/new" --unchecked "$build" 2028 "$work/later" 02 >"$work/out" 2>&1
before=$(grep -o 'reversed=[^ ]*' "$work/new/labs/02-naive/lab.ini" | head -1)
after=$(grep -o 'reversed=[^ ]*' "$work/later/labs/02-naive/lab.ini" | head -1)
[ -n "$after" ] && [ "$(echo "$before" | grep -c x.h)" != "$(echo "$after" | grep -c x.h)" ]
tell 'the next variant differs in the rows of x'
exit "$failed"
