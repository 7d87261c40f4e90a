#!/bin/sh
# check.sh BUILD - datasets/datasets.sh: published sets over file:, right, damaged, missing and
# unknown.
set -u
. autograder/tests/lib.sh
tab=$(printf '\t')

make_set() { RECIPES=$work/recipes.tsv sh datasets/datasets.sh "$work/build" "$1" 1 >"$work/out" 2>"$work/err"; }

# No incomplete file, and one line with these words.
refused() { [ "$(grep -c '^datasets: ' "$work/err")" = 1 ] && grep -q -- "$1" "$work/err" && ! find "$work/build" -name '*.part*' | grep -q .; }

printf 'seven letters' | gzip -n >"$work/file.gz"
sum=$(sha256sum <"$work/file.gz" | cut -d' ' -f1)
{
    echo "set${tab}file${tab}sha256${tab}url"
    echo "right${tab}file.gz${tab}$sum${tab}file://$work/file.gz"
    echo "damaged${tab}file.gz${tab}$(echo "$sum" | tr 0-9a-f 1-9a-f0)${tab}file://$work/file.gz"
    echo "missing${tab}file.gz${tab}$sum${tab}file://$work/nowhere.gz"
} >"$work/recipes.tsv"

make_set right && [ "$(cat "$work/build/datasets/right/file")" = 'seven letters' ]
tell fetched-and-unpacked
make_set right && ! grep -q FETCH "$work/out"
tell not-fetched-twice
! make_set damaged && refused 'is not the published file' &&
    [ ! -e "$work/build/datasets/damaged/file" ]
tell damaged
! make_set missing && refused 'could not be downloaded'
tell missing
! make_set unknown && refused "no set 'unknown'; SET= is one of: digits recordings damaged missing right"
tell unknown

mkdir -p "$work/drawn"
"$build/tests/datasets/tool_digits" "$work/drawn" 1 50 20 &&
    [ "$(cat "$work"/drawn/* | wc -c)" = $((70 * 785 + 2 * 16 + 2 * 8)) ]
tell drawn
! "$build/tests/datasets/tool_digits" "$work/none" 1 50 20 2>"$work/err" &&
    grep -q "$work/none/train-images-idx3-ubyte" "$work/err"
tell nowhere-to-write
mkdir -p "$work/recorded"
"$build/tests/datasets/tool_recordings" "$work/recorded" 1 30 10 >"$work/out" 2>"$work/err" &&
    grep -q 'learnt from 30, reads [0-9]* of 10' "$work/out" &&
    [ "$(cat "$work"/recorded/*.npy | wc -c)" -gt $((4 * (10 * 5600 + 5821635))) ]
tell recorded
! "$build/tests/datasets/tool_recordings" "$work/recorded" 1 30 0 2>"$work/err" &&
    grep -q "'0' is no whole number from 1 to 50000" "$work/err"
tell too-few-recordings
! "$build/tests/datasets/tool_recordings" "$work/none" 1 30 10 2>"$work/err" &&
    grep -q "$work/none/test-recordings.npy" "$work/err"
tell nowhere-to-record
exit $failed
