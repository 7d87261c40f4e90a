#!/bin/sh
# check.sh BUILD [FILTER] - solutions, skeletons, mutants and attacks through the grade program; FILTER: only items whose name
# holds it.
set -eu
build=${1:?usage: check.sh BUILD [FILTER]}
mutants=$build/test-mutants
failed=0

# A mutant is its lab's solution with a fault planted.
command -v patch >/dev/null || { echo "not ok mutants: no patch program; install the package patch"; exit 1; }
rm -rf "$mutants"
for fault in autograder/tests/mutants/*/*/fault.patch; do
    folder=${fault%/fault.patch}
    name=${folder#autograder/tests/mutants/}
    lab=${name%/*}
    source=$(sed -n 's/^source *= *//p' "labs/$lab/lab.ini")
    mkdir -p "$mutants/$name"
    if patch --silent --batch --fuzz=0 --output="$mutants/$name/$source" "solutions/$lab/$source" "$fault" >"$mutants/log" 2>&1; then
        cp "$folder/expect.ini" "$mutants/$name"
    else
        echo "not ok mutants/$name: fault.patch does not fit solutions/$lab/$source as it is now; plant the fault anew"
        rm -r "${mutants:?}/$name"
        failed=1
    fi
done

"$build/tests/autograder/test_corpus" "$@" || failed=1
exit "$failed"
