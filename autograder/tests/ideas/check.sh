#!/bin/sh
# check.sh BUILD - every TODO region has a variant without it, and every variant of this folder
# loses points (autograder/mutate/ideas.sh); and that check finds what is wrong.
set -eu
build=${1:?usage: check.sh BUILD}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

if sh autograder/mutate/ideas.sh "$build" check >"$work/said" 2>&1 && [ ! -s "$work/said" ]; then
    echo 'ok ideas/complete'
else
    echo 'not ok ideas/complete'
    sed 's/^/    /' "$work/said"
    bad=1
fi

# A copy of the tree with one lab, in which a variant loses nothing and a region has no variant.
mkdir -p "$work/t/autograder/tests/ideas/02-naive" "$work/t/autograder/tests/mutants"
for part in labs solutions common docs; do ln -s "$PWD/$part" "$work/t/$part"; done
cp -r autograder/mutate "$work/t/autograder/mutate"
{
    printf 'TODO: 2\nIdea: a comment\nCase: uneven\n'
    sed 's|float sum = 0.0f;|float sum = 0.0f; /* zero */|' solutions/02-naive/conv.cu |
        diff -U2 --label solution --label same solutions/02-naive/conv.cu - || :
} >"$work/t/autograder/tests/ideas/02-naive/same.patch"
printf 'TODO: 3\nIdea: none\nCase: uneven\n--- solution\n+++ old\n@@ -1,1 +1,1 @@\n-not there\n+new\n' \
    >"$work/t/autograder/tests/ideas/02-naive/old.patch"
root=$PWD
case $build in /*) ;; *) build=$root/$build ;; esac
cd "$work/t"
if sh autograder/mutate/ideas.sh "$build" check 02 >"$work/said" 2>&1; then
    echo 'not ok ideas/finds-what-is-missing: it passed'
    bad=1
elif grep -q 'ideas/same: loses no points in case uneven (a comment)' "$work/said" &&
    grep -q 'ideas/old: the patch does not fit' "$work/said" &&
    grep -q 'TODO(1) has no variant without it' "$work/said" &&
    [ "$(wc -l <"$work/said")" = 3 ]; then
    echo 'ok ideas/finds-what-is-missing'
else
    echo 'not ok ideas/finds-what-is-missing'
    sed 's/^/    /' "$work/said"
    bad=1
fi
exit "$bad"
