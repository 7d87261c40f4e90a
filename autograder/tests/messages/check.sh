#!/bin/sh
# check.sh BUILD - compares docs/student/messages.md with the sources: every message for students
# has a row, and every row has a message.  Every row is provoked, here by a grade or by a test of
# the simulator or of the diagnosis.
set -u
. autograder/tests/lib.sh
here=autograder/tests/messages
page=docs/student/messages.md

# tell_bad NAME WHY: ok if $work/bad is empty.
tell_bad()
{
    if [ -s "$work/bad" ]; then
        echo "not ok messages/$1: $2"
        sed 's/^/    /' "$work/bad"
        failed=1
    else
        echo "ok messages/$1"
    fi
}

# said FILE CALLS: the first string of each call, concatenated as in C.
said()
{
    tr '\n' ' ' <"$1" | sed 's/" *\(PRI[a-z0-9]*\) *"/%&/g; s/"  *"//g' |
        grep -oE "\b$2\([^\"]*\"([^\"\\\\]|\\\\.)*\"" | sed 's/^[^"]*"//; s/"$//; s/^\\n//'
}

{
    for file in autograder/session/session_outcome.c autograder/session/session_limit.c; do
        said "$file" outcome_say
    done
    said autograder/tensors/workload.c snprintf
    said common/cuda/sim/sim_device_launch.c snprintf | grep -v 'possible cause: %s$'
    said autograder/build/build_explain.c snprintf | grep '[a-z] [a-z]* '
    said autograder/lab/predict.c trouble_add
    said autograder/lab/answer.c fail
    # Without the message before any grade: there is nothing to grade.
    said common/base/intake.c error_set | grep -v ' is missing$'
    said autograder/judging/grade_lab.c text_set | grep 'to grade$'
    for file in common/simulator/*/*.[ch]; do
        said "$file" '(fault_at|finding_add|race_add)'
    done | sed 's/^Invalid %s %s of/Invalid __local__ %s of/' # or of parameters
    sed -n 's/^ *\[FAULT_[A-Z_]*\] = "\(.*\)",$/\1/p' common/operations/operation/verdict.c | grep -v '^none$'
} | sort -u >"$work/all"
# Without pure formats; the grader's own errors; the student's text in CUDA's assert().
grep -vE '^(%[.0-9]*[sd]:? ?|.%.60s. %s|%.*assertion.*|.*sandbox does not start.*|out of host memory.*|undefined reference to .*|CONVLAB_ENTRY .*)*$' \
    "$work/all" | grep '[a-z]' >"$work/messages"
[ "$(wc -l <"$work/messages")" -gt 100 ] ||
    { echo "not ok messages: the sources' messages were not found"; exit 1; }

# shellcheck disable=SC2016 # Markdown's ticks
sed -n 's/^| `\([^`]*\)` |.*/\1/p' $page >"$work/rows"

while IFS= read -r message; do
    found=
    while IFS= read -r row; do
        case $message in *"$row"*) found=yes; break ;; esac
    done <"$work/rows"
    [ "$found" ] || printf '%s\n' "$message"
done <"$work/messages" >"$work/bad"
tell_bad every-message-has-a-row "$page has no row for"

# Rows of other programs' messages: about correct cases, and about speed; and of the diagnosis.
cat common/operations/operation/*.c common/operations/conv_diagnosis/*.c autograder/record/*.[ch] \
    autograder/judging/*.c autograder/build/*.c autograder/lab/*.c \
    autograder/session/*.c autograder/trial/*.c | tr '\n' ' ' | sed 's/"  *"//g' >"$work/text"
cat "$work/all" >>"$work/text"
while IFS= read -r row; do
    grep -qF -- "$row" "$work/text" || printf '%s\n' "$row"
done <"$work/rows" >"$work/bad"
tell_bad every-row-has-a-message "nothing says"

# ---- provoked by grades --------------------------------------------------------------------------

# A course of two labs that consist of mistakes: from a source in this folder, with a case for each
# `case N: // SAYS words`.
root=$work/root
mkdir -p "$root"
for part in common docs datasets; do ln -s "$PWD/$part" "$root/$part"; done
# With a skeleton of its own for the lab in parts.
mkdir -p "$root/autograder/tests/skeletons/03-wrong"
for part in autograder/* autograder/tests/*; do
    [ -e "$root/$part" ] || ln -s "$PWD/$part" "$root/$part"
done
: >"$work/provoked"

# lab NN SOURCE OPERATION
lab()
{
    for folder in "$root/labs" "$root/solutions" "$work/submitted"; do
        mkdir -p "$folder/$1-wrong"
        cp "$here/$2" "$folder/$1-wrong/"
    done
    : >"$root/labs/$1-wrong/README.md"
    cat >"$root/labs/$1-wrong/lab.ini" <<END
[lab]
title = What can go wrong
part = Messages
order = 1
takes = seconds
source = $2
operation = $3
precision = fp32
baseline = $2
papers = none
[points]
correct = 50
speed = 10
predict = 40
[speed]
slack = 1
[hidden]
count = 0
max_macs = 1000
[hint 1]
text = None.
[hint 2]
text = None.
[hint 3]
text = None.
END
    sed -n 's/^ *case \([0-9]*\): \/\/ SAYS .*/\1/p' "$here/$2" | while read -r number; do
        printf '[case c%d]\nshape = N=1 C=1 H=1 W=1 K=%d R=1 S=1 pad=valid stride=1\nabout = %d\n' \
            "$number" "$number" "$number"
        [ "$number" != 1 ] || echo 'timed = yes'
    done >>"$root/labs/$1-wrong/lab.ini"
    cat >>"$root/labs/$1-wrong/lab.ini" <<END
[predict p0]
case = c1
formula = P * Q
question = One?
tolerance = 0
points = 40
END
}
lab 01 host.c conv_forward_host
lab 02 device.cu conv_forward
lab 03 parts.cu conv_forward
sed '/y\[k\] = /d' "$here/parts.cu" >"$root/autograder/tests/skeletons/03-wrong/parts.cu"
sed -i '/^\[predict p0\]/i\
[stage A]\
title = the first\
todos = 1\
[stage B]\
title = the second\
todos = 2\
[case c1]\
shape = N=1 C=1 H=1 W=1 K=3 R=1 S=1 pad=valid stride=1\
stage = B\
timed = yes\
about = either kernel
s/^formula = .*/metric = blocks/
s/^baseline = .*/baseline = slow.cu/' "$root/labs/03-wrong/lab.ini"
sed '/conv_kernel<<</p' "$here/parts.cu" >"$root/labs/03-wrong/slow.cu" # launches it twice

# grade NN [OPTION...]: grades $work/submitted; output in $work/said.
tools=$build as=
grade()
{
    lab=$1
    shift
    # shellcheck disable=SC2086 # a command and its options, or nothing
    timeout 3000 $as "$build/bin/grade" --root "$root" --build "$tools" --engine sim --lab "$lab" \
        --results "$work/results" \
        --submission "$work/submitted" --call-seconds 4 "$@" >"$work/said" 2>&1
}

# says NAME WORDS: whether they are in $work/said, ignoring line breaks.
says()
{
    tr '\n' ' ' <"$work/said" | sed 's/  */ /g' >"$work/line"
    : >"$work/bad"
    if [ "$2" ] && grep -qF -- "$2" "$work/line"; then
        cat "$work/line" >>"$work/provoked"
    else
        { cat "$work/said" && echo "(that is all)"; } >"$work/bad"
    fi
    tell_bad "$1" "does not say '$2'"
}

# Every case of a source gives its words: those between its row and the next.
cases()
{
    grade "$1" --verbose
    mv "$work/said" "$work/graded"
    awk '$1 == "case" { number = $2 + 0 } sub(".*// SAYS ", "") { print number, $0 }' "$here/$2" \
        >"$work/expected"
    while read -r number words; do
        awk -v first="c$number" \
            '$1 ~ /^c[0-9]+$/ { on = $1 == first } /^  (engine|prediction) / { on = 0 } on' \
            "$work/graded" >"$work/said"
        says "${2%.*}-$number" "$words"
    done <"$work/expected"
}
cases 01 host.c
cases 02 device.cu

# Correct code that never frees memory: the grade calls one process three times.
sed 's|^    switch (p->K) {|    float *lost;\n    cudaMalloc(\&lost, 4);\n    switch (0) {|' "$here/device.cu" \
    >"$work/submitted/02-wrong/device.cu"
grade 02 --verbose
says leaks 'Each call leaves memory allocated'

# A correct case of a part that is not written, and of one that is.
printf '[predict]\np0 = 1\n' >"$work/submitted/03-wrong/predict.ini"
grade 03 --verbose
says part-not-timed 'until then a kernel of another part is timed'
says part-not-written \
    'Counts when part B is written: until then the launch is that of another part.'
sed -i 's/^    \/\/ END TODO(2)/    launches++;\n&/' "$work/submitted/03-wrong/parts.cu"
grade 03 --verbose
says part-written 'The true value is measured on your own kernel'

# An intrinsic above the compute capability for which the lab compiles.
sed '/^static char/i __global__ void newer(unsigned *p) { *p = __reduce_max_sync(~0u, *p); }' \
    "$here/device.cu" >"$work/submitted/02-wrong/device.cu"
grade 02
says newer-capability \
    '__reduce_max_sync needs compute capability 8.0, and this lab compiles for 7.5'

# source_says NAME WORDS CODE [BEFORE]: the message about an entry point with that code, and BEFORE
# above it.  The reference solution is correct: if it does not build either, the installation is at
# fault.
file=$work/submitted/01-wrong/host.c
source_make()
{
    cat <<END
#include <convlab/conv.h>
$2
void conv_forward_host(const ConvProblem *p, const float *x, const float *w, float *y)
{
    for (int k = 0; k < p->K; k++) y[k] = w[k] * x[0];
    $1
}
END
}
source_make '' '' >"$root/solutions/01-wrong/host.c"
source_says()
{
    source_make "$3" "${4:-}" >"$file"
    grade 01
    says "$1" "$2"
}
source_says speed-waits 'points count only when every case is correct' 'y[0] = 0;'
source_says no-c 'does not compile' 'for (;;'
source_says undefined 'which is not defined' 'nothing_of_mine();' 'void nothing_of_mine(void);'
source_says library "and NVIDIA's libraries are not linked" 'cublasCreate_v2(0);' \
    'int cublasCreate_v2(void *);'
source_says cuda-call 'which these labs do not support' 'cudaIpcOpenEventHandle(0);' \
    'int cudaIpcOpenEventHandle(void *);'
source_says graders-name 'which is a function of the grader' '' 'void operation_call(void) {}'
source_says no-link 'does not link' '' 'char here; __asm__(".data\n.long here\n.text");'
source_says too-large-an-object 'and was stopped: no solution needs that much' 'y[0] += large[p->K];' \
    'char large[300 << 20] = {1};'
source_says no-memory 'no host memory was left' '' '#include <stdlib.h>
static void *volatile kept;
__attribute__((constructor)) static void hoard(void)
{
    for (size_t bytes = 1 << 30; bytes > 4096; bytes /= 2)
        while ((kept = malloc(bytes))) {}
}'

# file_says NAME WORDS COMMAND...: the message after the command has made the source, $file.
file_says()
{
    name=$1 words=$2
    shift 2
    rm -rf "$file"
    "$@"
    grade 01
    says "$name" "$words"
}
file_says no-entry 'does not define' cp "$root/common/include/convlab/conv.h" "$file"
file_says missing 'to grade' true
file_says a-link 'is a symbolic link' ln -s "$PWD/$here/host.c" "$file"
file_says a-pipe 'is not a regular file' mkfifo "$file"
file_says a-nul 'contains a NUL byte' sh -c "printf 'int a;\\0' >'$file'"
file_says large 'the limit for this file' truncate -s 9M "$file"
# Root reads everything, but not without these two capabilities.
[ "$(id -u)" = 0 ] && as='setpriv --bounding-set=-dac_override,-dac_read_search'
file_says unreadable 'cannot be read: check its permissions' sh \
    -c "echo 'int a;' >'$file'; chmod 0 '$file'"
as=

# A compiler that dies from one source.  (Also from the reference solution's: not the submission's
# fault.)
tools=$work/tools cc=$(sed -n 's/^CC=//p' "$build/toolchain.env")
mkdir -p "$tools/dying/bin"
ln -s "$build/bin" "$build/lib" "$build/obj" "$tools"
cat >"$tools/dying/bin/cc" <<END
#!/bin/sh
for word; do ! grep -qs 'dies of this' -- "\$word" || kill -SEGV \$\$; done
exec '$cc' "\$@"
END
chmod +x "$tools/dying/bin/cc"
sed "s|^CC=.*|CC=$tools/dying/bin/cc|" "$build/toolchain.env" >"$tools/toolchain.env"
source_says dying-compiler 'and the compiler gave no reason' '/* dies of this */'
tools=$build

# Unreadable answers, each with the words of its message.
source_make '' '' >"$file"
while IFS='|' read -r answer words; do
    # shellcheck disable=SC2059 # its \n are lines
    printf "[predict]\n$answer\n" >"$work/submitted/01-wrong/predict.ini"
    grade 01 --case c1
    says "answer: $words" "$words"
done <<'END'
q0 = 1|this lab has no prediction
p0 = 1\np0 = 2|has an answer above already
p0 = many|is not a number
p0 = 1,46|has a comma: commas may only separate thousands
p0 = 4 KB|is abbreviated: write the number in full
p0 = (1 + 2|has a parenthesis that is not closed
p0 = ((((((((((((((((((((((1))))))))))))))))))))))|has too many parentheses
p0 = 1 / 0|is not a finite number
p0|is not an answer; write: name = number
[answers]|predict.ini has only the section [predict]
END

# Lab 06's solution without unrolled loops: slow, with the reason.
mkdir -p "$work/06-unrolled"
sed 's/#pragma unroll$/#pragma unroll 1/' solutions/06-unrolled/conv.cu >"$work/06-unrolled/conv.cu"
printf '[predict]\nproducts = 1\n' >"$work/06-unrolled/predict.ini"
COLUMNS=500 timeout 3000 "$build/bin/grade" --build "$build" --lab 6 --case table-1 --engine sim \
    --results "$work/results" --submission "$work" >"$work/said" 2>&1
says own-launch 'The true value is measured on your own kernel'
says slower 'times the cycles of the reference'
says phase-where-it-is-slower "Most of the additional instructions are in phase 'compute': "
says where-it-is-slower 'sectors of local memory at conv.cu:'
says hint-for-what-is-slow 'make hint LAB=06 explains it'

# ---- and by other tests --------------------------------------------------------------------------

# The simulator's messages are found by these words in kernels of test_simt_faults.c and of make
# simulate's check.
{
    sed -n 's|.*// FAULT [a-z]*: ||p' common/simulator/tests/faults/*.cu
    grep -oE "(says|grep -q) '[^']*'" autograder/tests/simulate/check.sh
} >"$work/found"
# Names of wrong outputs: the corpus expects each of them from a mutant or an attack; three are
# planted by the diagnosis's own test.
{
    grep -rhoE '^fault *= *[a-z-]+ *$' autograder/tests/mutants autograder/tests/attacks \
        --include='*.patch' --include=expect.ini | sed 's/^fault *= *//; s/ *$//' | sort -u
    for fault in last-block:LAST_BLOCK race-global:RACE_GLOBAL runs-differ:DIFFER; do
        grep -qw "FAULT_${fault#*:}" common/operations/conv_diagnosis/test_diagnose.c && echo "${fault%:*}"
    done
} >"$work/planted"
{
    grep -o 'strstr(item.speed.text, "an instructor has to review this")' autograder/judging/test_speed.c
    grep -o 'strstr(run.outcome.message, "this machine is too busy to grade")' \
        autograder/session/test_session.c
    for words in 'is transposed: its rows are its' 'The wrong outputs are integers' \
        'The wrong outputs are all integers' 'in the same tile of' \
        'in every tile of the reduction'; do
        grep -hoF "$words" common/operations/conv_diagnosis/test_diagnose.c
    done
    for words in 'arrivals that mbarrier.init announced' \
        'More threads arrive than mbarrier.init'; do
        grep -hoF "$words" common/operations/operation/test_operation.c
    done
    grep -o 'a loop around the launch never ends' autograder/session/test_session_device.c
} >>"$work/provoked"

# A row with *untested* has no test, because it needs a GPU.
awk -F'`' '/^## / { list = /simulated GPU/ ? "found" : /Wrong outputs/ ? "planted" : "provoked" }
    /^\| `/ { print list, (/\*untested\*/ ? "untested" : "tested"), $2 }' $page >"$work/listed"
while read -r list tested row; do
    option=-qF
    [ "$list" = planted ] && option=-qxF
    if grep $option -- "$row" "$work/$list"; then now=tested; else now=untested; fi
    [ $now = "$tested" ] || echo "$row: the page says $tested, it is $now"
done <"$work/listed" >"$work/bad"
[ "$(wc -l <"$work/listed")" = "$(wc -l <"$work/rows")" ] || echo "rows were lost" >>"$work/bad"
tell_bad every-row-is-provoked 'no test provokes'

exit $failed
