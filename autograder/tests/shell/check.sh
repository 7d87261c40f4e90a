#!/bin/sh
# check.sh BUILD - every shell script through shellcheck.
set -eu
. autograder/tests/lib.sh
command -v shellcheck >/dev/null || skip 'no shellcheck: sudo apt-get install shellcheck'
for script in .ci/run $(find autograder common datasets docs labs solutions -name '*.sh' | sort); do
    if said=$(shellcheck -x "$script" 2>&1); then
        echo "ok shellcheck/$script"
    else
        echo "not ok shellcheck/$script"
        echo "$said"
        failed=1
    fi
done
exit $failed
