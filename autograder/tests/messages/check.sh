#!/bin/sh
# check.sh BUILD - docs/messages.md against the sources: every message that a student can meet has its row, every row has a
# message, and tests provoke them.
set -u
page=docs/messages.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

tell()
{
    if [ -s "$work/bad" ]; then
        echo "not ok messages/$1: $2"
        sed 's/^/    /' "$work/bad"
        failed=1
    else
        echo "ok messages/$1"
    fi
}

# said FILE CALLS: the first string of each call, joined as C joins strings.
said()
{
    tr '\n' ' ' <"$1" | sed 's/" *\(PRI[a-z0-9]*\) *"/%&/g; s/"  *"//g' |
        grep -oE "\b$2\([^\"]*\"([^\"\\\\]|\\\\.)*\"" | sed 's/^[^"]*"//; s/"$//; s/^\\n//'
}

{
    for file in autograder/session/session_outcome.c autograder/session/session_limit.c; do said "$file" outcome_say; done
    said autograder/tensors/workload.c snprintf
    said autograder/build/build_explain.c snprintf | grep '[a-z] [a-z]* '
    said autograder/lab/predict.c trouble_add
    said autograder/lab/answer.c fail
    said common/base/intake.c error_set
    for file in common/simt/*.c common/simt/*/*.[ch]; do said "$file" '(fault_at|finding_add)'; done
    sed -n 's/^ *\[FAULT_[A-Z_]*\] = "\(.*\)",$/\1/p' common/operation/verdict.c | grep -v '^none$'
} | sort -u >"$work/all"
# Formats alone; the grader's own trouble; what CUDA's assert() says in the student's words.
grep -vE '^(%[.0-9]*[sd]:? ?|.%.60s. %s|%.*assertion.*|.*sandbox does not start.*|out of host memory.*|undefined reference to .*|CONVLAB_ENTRY .*)*$' \
    "$work/all" | grep '[a-z]' >"$work/messages"
[ "$(wc -l <"$work/messages")" -gt 100 ] || { echo "not ok messages: the sources' messages were not found"; exit 1; }

# shellcheck disable=SC2016 # Markdown's ticks
sed -n 's/^| `\([^`]*\)` |.*/\1/p' $page >"$work/rows"

while IFS= read -r message; do
    found=
    while IFS= read -r row; do
        case $message in *"$row"*) found=yes; break ;; esac
    done <"$work/rows"
    [ "$found" ] || printf '%s\n' "$message"
done <"$work/messages" >"$work/bad"
tell every-message-has-a-row "$page has no row for"

# Rows of other programs' words: what is said of right cases, and of speed.
cat autograder/record/*.c autograder/judging/*.c autograder/build/*.c autograder/lab/*.c autograder/session/*.c autograder/trial/*.c | tr '\n' ' ' | sed 's/"  *"//g' >"$work/text"
cat "$work/all" >>"$work/text"
while IFS= read -r row; do grep -qF -- "$row" "$work/text" || printf '%s\n' "$row"; done <"$work/rows" >"$work/bad"
tell every-row-has-a-message "nothing says"

# ---- provoked ----------------------------------------------------------------------------------------------------------

# provoke NAME WORDS CODE [BEFORE]: lab 01's solution with CODE at the beginning of its entry point, and BEFORE above it all,
# is graded with WORDS.
grade="${1:?usage: check.sh BUILD}/bin/grade --build $1 --lab 1 --case wide-filter --results $work/results --submission $work/01"
mkdir -p "$work/01"
provoke()
{
    { printf '%s\n' "${4:-}"; sed '/^void conv_forward_host/,/^{/s|^{|{ '"$3"'|' solutions/01-sequential/conv.c; } >"$work/01/conv.c"
    # shellcheck disable=SC2086 # a command and its options
    COLUMNS=500 timeout 60 $grade >"$work/out" 2>&1
    if grep -qF -- "$2" "$work/out"; then : >"$work/bad"; else cp "$work/out" "$work/bad"; fi
    tell "$1" "does not say '$2'"
}
provoke undefined 'which is defined nowhere' 'nothing_of_mine();' 'void nothing_of_mine(void);'
provoke library "nor NVIDIA's libraries are linked" 'cublasCreate_v2(0);' 'int cublasCreate_v2(void *);'
provoke cuda-call 'which these labs do not offer' 'cudaIpcOpenEventHandle(0);' 'int cudaIpcOpenEventHandle(void *);'
provoke graders-name 'which belongs to the grader' '' 'void operation_call(void) {}'
provoke crash 'killed by SIGSEGV' '*(volatile int *)8 = 1;'
provoke exit 'the program ended by exit' 'exit(3);' '#include <stdlib.h>'
provoke file 'wrote a file of more than 1 MiB' \
    'FILE *f = fopen("/tmp/x", "w"); for (int i = 0; i < 3000000; i++) fputc(1, f); fclose(f);' '#include <stdio.h>'

# Lab 06's solution, its loops no longer unrolled.
mkdir -p "$work/06-unrolled"
sed 's/#pragma unroll$/#pragma unroll 1/' solutions/06-unrolled/conv.cu >"$work/06-unrolled/conv.cu"
COLUMNS=500 timeout 300 "$1/bin/grade" --build "$1" --lab 6 --case table-1 --engine sim --results "$work/results" --submission "$work" >"$work/out" 2>&1
for words in 'times the cycles of the reference' 'sectors of local memory at conv.cu:' 'Hint: TODO(1): copy the three loops'; do
    grep -qF "$words" "$work/out" || cat "$work/out"
done >"$work/bad"
tell slow-and-why 'does not say all of it'

# ---- and the others are expected by some test ---------------------------------------------------------------------------

# What no test expects by these words: some by a signal's or a check's number, some need a machine that is busy or no root.
cat >"$work/unproven" <<'END'
and the compiler gave no reason
does not link
and was stopped: no lab needs that
and no such file here is
cannot be read: see its permissions
does a loop in host code not end
without computing anything and was stopped
may take %.0f million warp instructions together
for using too much time or memory
no host memory was left
closed its connection to the grader
made a nonsense message to the grader
cannot be repeated on fresh inputs
too busy
Invalid %s %s of %u bytes
Invalid parameter read
Invalid arguments
Invalid atomic operation
Invalid tensor map
Invalid texture or surface object
Undefined value
brx.idx: index
Invalid bulk copy: a box is stored at
does a loop in a kernel not end
A box of
A multicast to the blocks
The tensor map lies in
wgmma reads shared memory
a person has to look at this
Speed counts once every case is right.
runs-differ
END
{
    find autograder common -name 'test_*.c' -exec cat {} + | tr '\n' ' ' | sed 's/"  *"//g'
    find autograder/tests common/simt/faults -type f \( -name '*.ini' -o -name '*.sh' -o -name '*.cu' \) \
        ! -path autograder/tests/messages/check.sh -exec cat {} +
    sed '/^cat >.*unproven/,/^END/d' autograder/tests/messages/check.sh
} >"$work/tests"
while IFS= read -r row; do
    fault=FAULT_$(printf '%s' "$row" | tr 'a-z-' 'A-Z_')
    grep -qF -e "$row" -e "$fault" "$work/tests" || printf '%s\n' "$row"
done <"$work/rows" | sort >"$work/silent"
sort "$work/unproven" | comm -13 - "$work/silent" >"$work/bad"
tell every-other-row-is-expected-by-a-test 'no test provokes'

exit $failed
