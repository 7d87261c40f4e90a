#!/bin/sh
# check.sh BUILD - grading in a container without namespaces: a system-call filter refuses what
# Docker's default filter refuses (autograder/sandbox/tool_no_namespaces.c).  Limits, messages and
# lab 01's counts must be those of the highest level of the sandbox.
#
# Needs valgrind and a kernel with Landlock.
set -eu
. autograder/tests/lib.sh
box=$build/tests/autograder/sandbox/tool_no_namespaces
[ -x "$box" ] || { echo "there is no $box: make $box"; exit 1; }
"$box" "$build/bin/doctor" --build "$build" >"$work/doctor" || true
grep -q 'filter and Landlock' "$work/doctor" || skip "this kernel has no Landlock"
command -v valgrind >/dev/null || skip "no valgrind: sudo apt-get install valgrind"

# plain FILE: the text of a file without line breaks.
plain()
{
    tr '\n' ' ' <"$1" | sed 's/  */ /g'
}
# graded BOX LAB SUBMISSION [OPTION...]: the grade's output is in said.
graded()
{
    with=$1 lab=$2 submission=$3
    shift 3
    # shellcheck disable=SC2086 # a command and its options, or nothing
    $with "$build/bin/grade" --build "$build" --engine sim --lab "$lab" --seed 1 \
        --submission "$submission" --results "$work/results" "$@" >"$work/said" 2>&1 </dev/null
}

set +e
plain "$work/doctor" | grep -q "system-call filter refuses namespaces (bwrap: .*): start the container with" &&
    ! plain "$work/doctor" | grep -q 'apt-get install bubblewrap'
tell doctor-names-the-cause-and-the-remedy
"$box" "$build/tests/autograder/sandbox/test_sandbox" >"$work/said" 2>&1
tell the-sandbox-holds
graded "$box" 01 solutions --for-marks && grep -q '100/100 points' "$work/said"
tell lab-01-with-its-speed-points
nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
if [ "$(id -u)" = 0 ] && $nobody test -x "$build/bin/grade"; then
    chmod 755 "$work" && mkdir -p "$work/results" && chmod 777 "$work/results"
    graded "$nobody $box" 01 solutions --case lenet-c1
    grep -q 'lenet-c1 .* 15/15' "$work/said"
    tell another-user-than-root
else
    echo "# $room/another-user-than-root did not run: it needs root, and a folder that others can enter"
fi
# A container hides parts of /proc, and the kernel then allows no new /proc in a namespace.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    # shellcheck disable=SC2016 # the inner shell's
    printf '#!/bin/sh\nmount --bind /dev/null /proc/version && exec "$@"\n' >"$work/masked"
    chmod +x "$work/masked"
    graded "unshare -m $work/masked" 01 solutions --case lenet-c1 && grep -q 'lenet-c1 .* 15/15' "$work/said"
    tell namespaces-with-a-masked-proc
fi
! graded "$box --no-landlock" 01 solutions --for-marks &&
    plain "$work/said" | grep -q 'no marks in this sandbox .*no Landlock and .* refuses namespaces'
tell no-marks-without-landlock
graded "$box --no-landlock" 01 solutions --case lenet-c1 &&
    plain "$work/said" | grep -q 'speed points need a sandbox that hides files'
tell no-speed-points-without-landlock

# The words of a crash in each sandbox, from code that fails before it computes.
while IFS='|' read -r code words; do
    mkdir -p "$work/wrong/01-sequential"
    sed "/^void conv_forward_host/,/{/ s|{|{ $code|" solutions/01-sequential/conv.c >"$work/wrong/01-sequential/conv.c"
    sed -i '1i #define _GNU_SOURCE\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>' "$work/wrong/01-sequential/conv.c"
    for with in "$box" ''; do
        graded "$with" 01 "$work/wrong" --case lenet-c1 --call-seconds 1
        plain "$work/said" | grep -qF -- "$words" || { echo "${with:-namespaces}" >>"$work/said"; false; }
        tell "$words${with:+, without namespaces}"
    done
done <<'END'
raise(SIGFPE);|killed by SIGFPE
abort();|killed by SIGABRT
raise(SIGKILL);|for using too much time or memory
raise(SIGSTOP);|without computing anything
fopen("/tmp/x", "w");|created a file; a submission may create none
tmpfile();|created a file; a submission may create none
END
exit "$failed"
