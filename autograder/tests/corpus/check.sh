#!/bin/sh
# check.sh BUILD [FILTER] - solutions, skeletons, mutants and attacks through the grade program; FILTER: only items whose name
# holds it.  Several may run at once in the same BUILD if they name different items.
set -eu
build=${1:?usage: check.sh BUILD [FILTER]}
filter=${2:-}
planted=$build/planted/mutants
failed=0

# A mutant is its lab's solution with a fault planted.
command -v patch >/dev/null || { echo "not ok mutants: no patch program; install the package patch"; exit 1; }
for fault in autograder/tests/mutants/*/*/fault.patch; do
    folder=${fault%/fault.patch}
    name=${folder#autograder/tests/mutants/}
    case mutants/$name in *"$filter"*) ;; *) continue ;; esac
    lab=${name%/*}
    source=$(sed -n 's/^source *= *//p' "labs/$lab/lab.ini")
    rm -rf "${planted:?}/$name"
    mkdir -p "$planted/$name"
    if ! patch --silent --batch --fuzz=0 --output="$planted/$name/$source" "solutions/$lab/$source" "$fault" >/dev/null 2>&1; then
        echo "not ok mutants/$name: fault.patch does not fit solutions/$lab/$source as it is now; plant the fault anew"
        rm -r "${planted:?}/$name"
        failed=1
    fi
done

"$build/tests/autograder/test_corpus" "$@" || failed=1
exit "$failed"
