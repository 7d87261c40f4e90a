#!/bin/sh
# check.sh BUILD - every shell script through shellcheck.
set -eu
if ! command -v shellcheck >/dev/null; then
    why='no shellcheck: sudo apt-get install shellcheck'
    [ -z "${CI:-}" ] || { echo "not ok shellcheck: $why"; exit 1; }
    echo "skipped: $why"
    exit 0
fi
failed=0
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
