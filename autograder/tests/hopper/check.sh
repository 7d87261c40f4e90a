#!/bin/sh
# check.sh BUILD - compares Hopper's units on the simulated GPU with an H200's results of the same
# program.
set -u
. autograder/tests/lib.sh
here=autograder/tests/hopper

grep -v '^#' $here/vectors.txt >"$work/card"
ARCH=90a NVCCFLAGS='-diag-suppress 550' sh common/setup/simulate.sh "$build" $here/units.cu >"$work/out" 2>"$work/err"
status=$?
LC_ALL=C sort "$work/out" | diff "$work/card" - >"$work/differ" && [ "$status" = 0 ]
tell "$(wc -l <"$work/card")-forms-as-on-a-card"
grep 'a check found' "$work/err" >"$work/differ"
[ $? = 1 ]
tell no-check-finds-anything

# Rows of taps: overlapping in x, or copied one by one (operands_plan of lab 12).
for shape in 'N=2 C=1 H=1 W=400 K=64 R=1 S=10 pad=valid stride=5' \
    'N=2 C=3 H=23 W=31 K=70 R=5 S=11 pad=2,3,1,4 stride=2,3' \
    'N=1 C=8 H=9 W=9 K=64 R=3 S=5 pad=same stride=1'; do
    "$build/bin/lab" run --root . --build "$build" --lab 12 --submission solutions --gpu h200 \
        --engine sim --shape "$shape layout=nhwc" >"$work/differ" 2>&1 &&
        grep -q '^  correct: all' "$work/differ"
    tell "lab-12-rows-of-taps $shape"
done
exit $failed
