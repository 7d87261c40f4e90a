# shellcheck shell=sh
# shellcheck disable=SC2034  # used by the scripts that source this file
# lib.sh - common start of every check.sh, at the root:  . autograder/tests/lib.sh
#
# Sets `room` (the name of the check's folder, a prefix of its results), build (the script's first
# argument, absolute), work (a temporary folder) and failed (the exit status).
room=$(basename "$(dirname "$0")")
build=$(realpath "${1:?usage: check.sh BUILD}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# `tell NAME` prints the verdict of the last test, from its exit status. After a failure it also
# prints the output of the test's commands in $work: said or out, err, differ, server, *.log.
tell()
{
    if [ $? = 0 ]; then echo "ok $room/$1"; else
        echo "not ok $room/$1"
        (cd "$work" && cat said out err differ server ./*.log 2>/dev/null) | tail -n 30 |
            sed 's/^/    /'
        failed=1
    fi
}

# skip WHY: ends a check that cannot run here; in CI it must run.
skip()
{
    if [ -n "${CI:-}" ]; then
        echo "not ok $room: $1"
        exit 1
    fi
    echo "skipped: $1"
    exit 0
}
