#!/bin/sh
# check.sh BUILD - the hints of TODO regions agree with the skeletons: each region
# has its hints, and no other region has any.  Hints use only names that the skeleton, its handout
# or CUDA has; only the third level may use names of the solution.  And make hint shows one level
# more each time.
set -eu
build=${1:?usage: check.sh BUILD}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

tell() {
    if [ "$2" ]; then echo "ok hints/$1"; else
        echo "not ok hints/$1"
        sed 's/^/    /' "$work/said"
        bad=1
    fi
}

if python3 autograder/tests/hints/names.py labs autograder/tests/skeletons solutions >"$work/said" 2>&1; then fine=1; else fine=; fi
tell names-are-those-of-the-skeleton "$fine"

# A hint with a name that nobody has, of a region that does not exist, about another region.
mkdir -p "$work/labs/02-naive"
cp labs/02-naive/README.md labs/02-naive/conv.cu "$work/labs/02-naive"
sed 's/Which of threadIdx.x/Which of lane_of_warp, TODO(3) and threadIdx.x/' labs/02-naive/lab.ini >"$work/labs/02-naive/lab.ini"
printf '\n[todo 4]\nquestion = a\nidea = b\ncode = c\n' >>"$work/labs/02-naive/lab.ini"
if python3 autograder/tests/hints/names.py "$work/labs" autograder/tests/skeletons solutions >"$work/said" 2>&1; then
    fine=
else
    grep -q "todo 1, question: no lane_of_warp" "$work/said" && grep -q "todo 1, question: names TODO(3)" "$work/said" &&
        grep -q "4 regions with hints, but 3 in the skeleton" "$work/said" && fine=1 || fine=
fi
tell a-wrong-hint-is-found "$fine"

# One level more each time, then all three again; other regions have levels of their own.
mkdir -p "$work/root/labs" "$work/root/autograder/tests/skeletons" "$work/b"
cp -r labs/02-naive "$work/root/labs/"
cp -r autograder/tests/skeletons/02-naive "$work/root/autograder/tests/skeletons/"
cp autograder/tests/skeletons/02-naive/conv.cu "$work/root/labs/02-naive/"
hint() { "$build/bin/lab" hint --root "$work/root" --build "$work/b" --lab 02 "$@" >"$work/said" 2>&1; }
hint --todo 2 && grep -q 'TODO(2), hint 1 of 3 (question)' "$work/said" && ! grep -q 'hint 2 of 3' "$work/said" &&
    hint --todo 2 && grep -q 'hint 2 of 3 (idea)' "$work/said" && ! grep -q 'hint 3 of 3' "$work/said" &&
    hint --todo 1 && ! grep -q 'hint 2 of 3' "$work/said" &&
    hint --todo 2 && grep -q 'hint 3 of 3 (code)' "$work/said" &&
    hint --todo 2 && grep -q 'hint 3 of 3 (code)' "$work/said" && fine=1 || fine=
tell three-levels "$fine"
! hint --todo 9 && grep -q '02-naive has no TODO(9); it has TODO(1) to TODO(3)' "$work/said" && fine=1 || fine=
tell no-such-region "$fine"

# Staged hint 1 is about TODO(3): with TODO(3) written, hint 2 is the first.
hint && grep -q 'Hint 1 of' "$work/said" && fine=1 || fine=
tell staged-hints-start-with-the-first "$fine"
rm -rf "$work/b/progress"
awk -v region=3 '
    FNR == NR { if ($0 ~ "END TODO\\(" region) on = 0; if (on) body = body $0 "\n"; if ($0 ~ "// TODO\\(" region) on = 1; next }
    $0 ~ "END TODO\\(" region { printf "%s", body; off = 0 }
    !off
    $0 ~ "// TODO\\(" region { off = 1 }' solutions/02-naive/conv.cu autograder/tests/skeletons/02-naive/conv.cu \
    >"$work/root/labs/02-naive/conv.cu"
hint && grep -q 'Hint 2 of' "$work/said" && fine=1 || fine=
tell written-regions-get-no-staged-hint "$fine"
hint --todo 3 && grep -q 'TODO(3) is already written' "$work/said" && fine=1 || fine=
tell a-written-region-is-called-written "$fine"
exit "$bad"
