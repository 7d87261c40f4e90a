# shellcheck shell=sh
# shellcheck disable=SC2034  # whoever sources this uses them
# lib.sh - what a check.sh begins with, at the root:  . autograder/tests/lib.sh
#
# Sets room (the check's folder, after which its results are named), build (the script's first
# argument, absolute), work (a folder that goes at the end) and failed (the status to exit with).
room=$(basename "$(dirname "$0")")
build=$(realpath "${1:?usage: check.sh BUILD}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# tell NAME: prints the verdict of the last test, by its exit status. Of one that failed it also
# prints what the test's commands left in $work: said or out, err, differ, server, *.log.
tell()
{
    if [ $? = 0 ]; then echo "ok $room/$1"; else
        echo "not ok $room/$1"
        (cd "$work" && cat said out err differ server ./*.log 2>/dev/null) | tail -n 30 |
            sed 's/^/    /'
        failed=1
    fi
}

# skip WHY: ends a check that cannot be made here; where CI runs it has to be.
skip()
{
    if [ -n "${CI:-}" ]; then
        echo "not ok $room: $1"
        exit 1
    fi
    echo "skipped: $1"
    exit 0
}
