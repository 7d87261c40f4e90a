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
exit $failed
