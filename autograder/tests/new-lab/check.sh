#!/bin/sh
# check.sh BUILD - tests a new lab, made in a copy of the tree: it passes make check, it is
# formatted, its solution earns every point, its skeleton none, and its mutant's patch applies.  A
# new operation compiles, and its own unit test passes.
set -u
. autograder/tests/lib.sh

# told STATUS WORDS COMMAND ...: the command ends with that status and prints the words.
told()
{
    status=$1 words=$2
    shift 2
    "$@" >"$work/out" 2>&1
    [ $? = "$status" ] && grep -q -- "$words" "$work/out"
}

cp -r .clang-format README.md autograder common datasets docs labs solutions "$work"
cd "$work" || exit 1
make_lab='sh common/setup/new_lab.sh'

# shellcheck disable=SC2086
{
    told 0 labs.def $make_lab 99 small-steps conv_forward
    tell files
    told 2 'labs/99-small-steps already' $make_lab 99 another conv_forward
    tell nothing-is-overwritten
    told 2 'LAB is two digits' $make_lab 9 name conv_forward
    tell bad-number
    told 2 'NAME may contain lower-case letters' $make_lab 98 ../name conv_forward
    tell bad-name
    told 2 'no template.*there are: conv_forward' $make_lab 98 name no-such
    tell bad-operation
}
grep -rl '@[A-Z][A-Z]*@' labs/99-* solutions/99-* autograder/tests/*/99-* docs/numbers/labs/99-* \
    >"$work/out"
[ ! -s "$work/out" ]
tell every-place-is-filled-in

told 0 '^99-small-steps: ok' "$build/bin/lab" check
tell lab-check
grade="$build/bin/grade --build $build --lab 99 --engine sim --results $work/results"
# shellcheck disable=SC2086
{
    told 0 '^total  100/100 points' $grade --submission solutions
    tell its-solution-earns-all
    told 0 '^total  0/100 points' $grade --submission autograder/tests/skeletons
    tell its-skeleton-earns-nothing
}
told 0 '' patch --batch --fuzz=0 --output="$work/mutant" solutions/99-small-steps/conv.cu \
    autograder/tests/mutants/99-small-steps/no-guard.patch
tell its-mutant-is-a-patch
told 0 '' sh autograder/tests/format/check.sh "$build"
tell its-sources-are-formatted

# ---- a lab with an operation of its own
new=97-row-sums
# shellcheck disable=SC2086
{
    told 0 'operations.c (two lines)' $make_lab 97 row-sums new
    tell files-of-an-operation
    told 2 "an operation 'brighten' already" $make_lab 96 brighten new
    tell an-operation-is-not-overwritten
    told 2 'layers.h already exists; choose another NAME' $make_lab 96 layers new
    tell a-header-is-not-overwritten
}
catalog=common/operations/catalog
[ "$(grep -c row_sums $catalog/operations.c)" = 2 ] &&
    ! grep -rl '@[A-Z][A-Z]*@' labs/$new solutions/$new $catalog/*row_sums.c \
        common/operations/calls/row_sums.c common/include/convlab/row_sums.h \
        autograder/tests/predictions/$new.c docs/numbers/labs/$new.sh >"$work/out"
tell every-place-of-an-operation-is-filled-in
# Links the operation in $1 with its unit test.  The new list of operations comes before the
# archive that has the old one.
link_operation()
{
    set -- "$1" -Wl,--start-group
    for each in catalog operation conv conv_diagnosis training_step depthwise int8 base; do
        set -- "$@" "$build/lib/$each.a"
    done
    cc -std=gnu11 -Wall -Wextra -Werror -I. -Icommon/include -o "$work/test_row_sums" \
        $catalog/test_row_sums.c $catalog/operations.c "$@" -Wl,--end-group -lcmocka -lsodium -lm
}
link_operation $catalog/row_sums.c >"$work/out" 2>&1 && told 0 'PASSED.*3 test' "$work/test_row_sums"
tell the-unit-test-of-an-operation-passes
sed 's/s < taps/s < taps - 1/' $catalog/row_sums.c >"$work/wrong.c"
link_operation "$work/wrong.c" >"$work/out" 2>&1 &&
    told 2 'FAILED.*right_code' "$work/test_row_sums"
tell the-unit-test-finds-a-wrong-oracle
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
"$nvcc" -ptx -std=c++17 -Icommon/include -o "$work/kernel.ptx" solutions/$new/conv.cu \
    >"$work/out" 2>&1
tell the-kernel-of-an-operation-compiles
told 0 '' patch --batch --fuzz=0 --output="$work/mutant" solutions/$new/conv.cu \
    autograder/tests/mutants/$new/no-guard.patch
tell mutant-of-an-operation-is-a-patch
exit $failed
