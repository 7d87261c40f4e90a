#!/bin/sh
# check.sh BUILD - edge cases of the grade and lab programs: bad names, bad files, Ctrl-C, a full
# disk. Options are in variables on purpose, and a list of processes has one word each.
# shellcheck disable=SC2086,SC2013
set -u
export COLUMNS=80
. autograder/tests/lib.sh
BUILD=$1 # as given to make
last=$(find labs -mindepth 1 -maxdepth 1 -name '[0-9]*' -printf '%f\n' | sort | tail -n 1)
grade=$build/bin/grade
lab=$build/bin/lab

# run EXPECTED-STATUS PROGRAM ...: fails unless it ends with that status.
run()
{
    expected=$1
    shift
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = "$expected" ] || { echo "exit status $status, not $expected" >>"$work/err"; return 1; }
}

one_line()
{
    [ "$(wc -l <"$work/err")" = 1 ] && grep -q -- "$1" "$work/err"
}

run 2 "$grade" --build "$build" --lab 99 && one_line "there is no lab '99'; there are: 00-first-kernel, 01-sequential,"
tell unknown-lab
# The same on a terminal: in lines that fit.
run 2 env TERM=xterm script -qec "'$lab' hint --build '$build' --lab 99" /dev/null && tr -d '\r' <"$work/out" >"$work/shown" &&
    ! grep -n '.\{81\}' "$work/shown" >>"$work/err" && [ "$(wc -l <"$work/shown")" -gt 2 ] && tr '\n' ' ' <"$work/shown" | grep -q "^lab: there is no lab '99'; there are: 00-first-kernel, .* $last "
tell unknown-lab-on-a-terminal
run 2 "$grade" --build "$build" --lab 1 --case no-such && one_line "there is no case 'no-such'; there are: hidden, lenet-c1"
tell unknown-case
run 2 "$grade" --build "$build" --engine abacus && one_line "there is no engine 'abacus'; there are: auto, sim, gpu"
tell unknown-engine
run 2 "$grade" --build "$build" --gpu abacus && one_line "abacus.*h200"
tell unknown-gpu
run 2 "$grade" --build "$build" --gpu ../../../../etc/passwd && one_line "h200"
tell gpu-name-is-no-path
run 2 "$grade" --build "$build" --seed twelve && one_line "takes a number"
tell bad-seed
run 2 "$grade" --build "$build" --submission "$work/none" && one_line "No such file or directory"
tell no-submission-directory
run 2 "$lab" dance && one_line "there is no command 'dance'"
tell unknown-command
run 2 "$lab" hint && one_line "which lab"
tell hint-without-lab

run 0 make help && ! sed -n 's/^#: //p' Makefile mk/*.mk | grep -q '.\{81\}' && grep -q '^  make grade ' "$work/out" && grep -q '^  make solution ' "$work/out" && [ ! -s "$work/err" ] &&
    run 0 make help COPY=1 && grep -q '^  make grade ' "$work/out" && ! grep -qE '^  make (solution|bundle) |uploads' "$work/out" && [ ! -s "$work/err" ]
tell help
run 0 "$lab" run --build "$build" --lab 05 --case one-by-one --submission labs/05-register-tiled/steps/fig-6.cu --engine sim --alone &&
    grep -q "correct: all" "$work/out"
tell run-one-source
run 0 "$lab" profile --build "$build" --lab 04 --case uneven --submission solutions --engine sim &&
    grep -q "Hot lines" "$work/out" && grep -q "Roofline" "$work/out" &&
    grep -q "$(printf 'conv_kernel\tconv.cu\t')" "$build/profile/04-tiled/profile.tsv"
tell profile-of-a-solution
# NVIDIA's data sheet of a GTX 480: 480 cores at 1,401 MHz, 2 FLOP each.
run 0 "$lab" profile --build "$build" --lab 04 --case uneven --submission solutions --engine sim --gpu gtx480 &&
    [ "$(sed -n 2p "$build/profile/04-tiled/roofline.tsv" | cut -f 3)" = 1345.0 ]
tell roof-is-the-data-sheets
mv "$build/profile/04-tiled" "$work/earlier" &&
    run 0 "$lab" profile --build "$build" --lab 04 --case uneven --submission solutions --engine sim --gpu gtx480 \
        --against "$work/earlier" --kernel conv_kernel --launch 1 --trace "$work/trace.json" &&
    grep -q '1.00 times as long' "$work/out" && grep -q 'warps wait for  *yours  *of all  *before' "$work/out" &&
    grep -q '^  launch 1 of 1$' "$work/out" && grep -q '^    FP32 ' "$work/out" &&
    grep -q '^  By definition, the whole call (1 launch' "$work/out" &&
    python3 -m json.tool "$work/trace.json" /dev/null && grep -q '<svg' "$build/profile/04-tiled/timeline.html"
tell profile-of-a-selected-launch-beside-an-earlier-one
run 0 "$lab" profile --build "$build" --lab 04 --case uneven --submission solutions --engine sim --kernel other &&
    grep -q 'no launch of kernel other' "$work/out"
tell profile-of-a-kernel-that-is-not-launched
run 2 "$lab" profile --build "$build" --lab 04 --launch first && one_line "LAUNCH is the number of a launch"
tell profile-of-no-number
run 0 "$lab" run --build "$build" --lab 04 --case uneven --submission solutions --engine sim --alone --counters "$work/counters" &&
    cycles=$(awk '$1 == "cycles" { print $2 }' "$work/counters" | sed 's/...$/,&/') &&
    run 0 "$lab" profile --build "$build" --lab 04 --case uneven --submission solutions --engine sim --against baseline --ptx &&
    grep -q "^  Compared with the baseline: $cycles cycles" "$work/out" && grep -q '^ *yours  *baseline$' "$work/out" &&
    grep -q '% PTX line [0-9]*: bar.sync 0;$' "$work/out" && ! grep -n '.\{81\}' "$work/out" >>"$work/err"
tell profile-beside-the-baseline
# Half of the filters per block: more of everything, most of it where tiles are loaded; with small
# maps, in the work before the loads of twice the number of blocks.
mkdir -p "$work/half/04-tiled"
sed 's/enum { FILTERS = 8 }/enum { FILTERS = 4 }/' solutions/04-tiled/conv.cu >"$work/half/04-tiled/conv.cu"
run 0 "$lab" profile --build "$build" --lab 04 --case lenet-c1 --submission "$work/half" --engine sim --against reference &&
    grep -q '^  Most of the difference is outside of the phases, in the code' \
        "$work/out" &&
    run 0 "$lab" profile --build "$build" --lab 04 --case vgg-conv1_1 --submission "$work/half" \
        --engine sim --against reference &&
    grep -q '^  Most of the difference is in TODO([0-9]): [0-9.]* times the cycles' "$work/out" &&
    [ "$(grep -c '^ *TODO(5)  *[0-9,]*  *[0-9,]*  *[0-9,]*  *[0-9,]*$' "$work/out")" = 1 ] && ! grep -n '.\{81\}' "$work/out" >>"$work/err"
tell profile-beside-the-reference-by-phase
run 2 "$lab" profile --build "$build" --lab 04 --against nobody && one_line "which has a stalls.tsv; 'nobody' has none"
tell profile-beside-nobody
run 2 "$lab" profile --build "$build" --lab 01 --engine sim && one_line "runs on the CPU, where the profiler is perf"
tell profile-of-a-host-lab

run 0 "$lab" run --build "$build" --lab 04 --case uneven --submission solutions --engine sim &&
    grep -q '^  [0-9,]* cycles ([0-9.]* us) on the simulated h200, 5,190 of them for the launch$' "$work/out" &&
    ! grep -n '.\{81\}' "$work/out" >>"$work/err" &&
    grep -q '^  the baseline, 02-naive: [0-9,]* cycles ([0-9.]* us); yours is [0-9.]* times as fast$' "$work/out" &&
    grep -q '^    grid  *4x2x2  *18x2x2  ' "$work/out"
tell run-shows-the-baseline-beside
run 0 "$lab" run --build "$build" --lab 04 --case uneven --submission solutions --engine sim --alone &&
    grep -q '^    grid  *4x2x2  blocks' "$work/out" && ! grep -q baseline "$work/out"
tell run-alone
run 0 "$lab" run --build "$build" --lab 01 --case lenet-c3 --submission solutions &&
    grep -q '^  the baseline, baseline.c: [0-9.]* us; yours is [0-9.]* times as fast$' "$work/out"
tell run-on-the-host-shows-the-baseline-beside
# A machine that cannot run the baseline: its grid has more than 65,535 blocks in one dimension on a
# GTX 480.
run 0 "$lab" run --build "$build" --lab 04 --submission solutions --engine sim --gpu gtx480 \
    --shape 'N=260 C=1 H=3 W=3 K=256 R=3 S=3 pad=valid stride=1' && grep -q 'correct: all' "$work/out" &&
    grep -q '^  the baseline did not run to its end$' "$work/out" && one_line 'the baseline: cudaErrorInvalidConfiguration'
tell run-says-that-the-baseline-cannot-run

# A map given by the user: one value in four.  The skeleton adds nothing, so its verdict shows the
# expected value, which doubles with the input, to nine digits.
mkdir -p "$work/maps"
printf '%s\n' point.txt twice.txt >"$work/maps/file_list"
printf '%s\n' "1 2 2" "1 2 2" >"$work/maps/conv_shape"
echo "0 0 3 0" >"$work/maps/point.txt"
echo "0 0 6 0" >"$work/maps/twice.txt"
maps="--build $build --lab 13 --engine sim --alone --seed 1 --maps $work/maps"
export COLUMNS=100 # the number must be on the sentence's line
for map in point twice; do
    run 1 "$lab" run $maps/$map.txt --submission autograder/tests/skeletons --shape "K=1 R=1 S=1 pad=0 stride=1" || break
    grep -q 'N=1 C=1 H=2 W=2 K=1 R=1 S=1 pad=valid stride=1 zeros=75' "$work/out" || break
    sed -n 's/.* 1 of 4 outputs are wrong, first .* = (0,0,1,0): got 0, expected //p' "$work/out" >>"$work/expected"
done
export COLUMNS=80
awk '{ value[NR] = $1 } END { off = value[2] / value[1] - 2; exit !(NR == 2 && off * off < 1e-12) }' "$work/expected"
tell run-of-a-map
run 2 "$lab" run $maps/point.txt --submission solutions && one_line "missing: K R S pad stride.*SHAPE says the rest"
tell map-without-a-shape
run 2 "$lab" run $maps/line.txt --submission solutions --shape "K=1 R=1 S=1 pad=0 stride=1" &&
    one_line "file_list does not name 'line.txt'"
tell map-that-is-not-there

# Weights given by the user.  The skeleton's outputs are all 0, which is correct if all weights are
# 0.
weights="--build $build --lab 16 --engine sim --alone --seed 1 --submission autograder/tests/skeletons --weights"
echo "0 0" >"$work/zero.txt"
printf '0\n5e-1\n' >"$work/half.txt"
run 0 "$lab" run $weights "$work/zero.txt" --shape 'fc_forward N=1 C=1 K=2' && grep -q 'correct: all 2' "$work/out" &&
    run 1 "$lab" run $weights "$work/half.txt" --shape 'fc_forward N=1 C=1 K=2' &&
    grep -q '^  WRONG: ' "$work/out" && grep -q ' 1 of 2 outputs are wrong, first (n,k) = (0,1)' "$work/out"
tell run-of-weights
# After a wrong output only its launch is shown next to the message.
mkdir -p "$work/down/02-naive"
sed 's|(p->Q + TILE - 1) / TILE|p->Q / TILE|' solutions/02-naive/conv.cu >"$work/down/02-naive/conv.cu"
run 1 "$lab" run --build "$build" --lab 02 --case uneven --submission "$work/down" --engine sim &&
    grep -q '^  1 launch; grid 18x2x1, block 16x16x1, 0 bytes of shared memory per block$' "$work/out" &&
    ! grep -q 'cycles\|occupancy' "$work/out"
tell run-of-a-wrong-output-shows-its-launch
# If plain C is slow, the grade reports the factor and a first step.
mkdir -p "$work/slow/01-sequential"
cp labs/01-sequential/baseline.c "$work/slow/01-sequential/conv.c"
run 0 "$grade" --build "$build" --lab 01 --submission "$work/slow" --results "$work/results" &&
    grep -q '^      [4-9][.0-9]* times the cycles of the reference.$' "$work/out" &&
    [ "$(grep -c '^      make hint LAB=01 explains it' "$work/out")" = 1 ] &&
    ! grep -q 'innermost loop' "$work/out"
tell slow-c-is-told
# make run gives the same message as make grade, except for numbers that depend on the inputs.
run 1 "$lab" run --build "$build" --lab 01 --case uneven --submission autograder/tests/skeletons &&
    sed -n '/No output/,/^  After make grade LAB=01, make hint/p' "$work/out" | sed '$d' >"$work/run-says" &&
    run 0 "$grade" --build "$build" --lab 01 --case uneven --submission autograder/tests/skeletons --results "$work/results" &&
    sed -n '/No output/,/^  make hint LAB=01/p' "$work/out" | sed '$d' | cmp - "$work/run-says" && [ -s "$work/run-says" ]
tell run-says-what-grade-says
mkdir -p "$work/over/01-sequential" "$work/wait/02-naive"
sed 's|^    // END TODO(1)|    y[(long)p->N * p->K * p->P * p->Q] += 1;\n&|' solutions/01-sequential/conv.c >"$work/over/01-sequential/conv.c"
run 1 "$lab" run --build "$build" --lab 01 --case uneven --submission "$work/over" && grep -q '^  WRONG: guard-band' "$work/out" &&
    ! grep -q 'Threads' "$work/out"
tell an-overrun-by-adding-is-seen
sed 's|<<<grid, block, 0, stream>>>(\(.*\));|<<<grid, block>>>(\1);\n    cudaDeviceSynchronize();|' solutions/02-naive/conv.cu >"$work/wait/02-naive/conv.cu"
run 0 "$lab" run --build "$build" --lab 02 --case uneven --submission "$work/wait" --engine sim --alone &&
    grep -q 'A launch names no stream' "$work/out" && grep -q 'Your code waits for the device' "$work/out" &&
    run 0 "$grade" --build "$build" --lab 02 --case uneven --submission "$work/wait" --engine sim --results "$work/results" &&
    grep -q 'not on the given stream' "$work/out" && grep -q 'A launch names no stream' "$work/out" && grep -q 'Your code waits for the device' "$work/out" &&
    run 0 "$lab" run --build "$build" --lab 02 --case uneven --submission solutions --engine sim --alone && ! grep -q 'stream' "$work/out"
tell what-nobody-asks-for-is-said
run 2 "$lab" run --build "$build" --lab 02 --case uneven --shape 'N=1' && one_line 'CASE selects one of the lab.s cases, SHAPE defines one of your own'
tell case-and-shape
run 2 "$lab" run $weights "$work/half.txt" --shape 'fc_forward N=1 C=3 K=2' && one_line 'half.txt has 2 numbers; w has 6'
tell weights-of-another-size
run 2 "$lab" run $weights "$work/half.txt" --case s2 && one_line "pool_forward has no weights to read from a file"
tell weights-of-an-operation-without

mkdir -p "$work/root/labs/01-bad" "$work/empty"
printf '[lab]\ntitle = T\nwings = 2\n' >"$work/root/labs/01-bad/lab.ini"
run 2 "$grade" --root "$work/root" --build "$build" && one_line 'labs/01-bad/lab.ini:'
tell malformed-lab-ini
printf '[lab\n' >"$work/root/labs/01-bad/lab.ini"
run 2 "$lab" --root "$work/root" list && one_line 'labs/01-bad/lab.ini:1: '
tell malformed-section

results="--results $work/results"
run 0 "$grade" --build "$build" --lab 1 --submission "$work/empty" $results &&
    grep -q 'there is no .*/empty/01-sequential/conv.c' "$work/out" && grep -q '^total  0/100 points$' "$work/out"
tell empty-submission

printf 'int x = ;\n' >"$work/empty/conv.c"
run 0 "$grade" --build "$build" --lab 1 --submission "$work/empty" $results &&
    head -n 1 "$work/out" | grep -q "^$work/empty/conv.c:1:" && grep -q '^total  0/100 points$' "$work/out"
tell compiler-speaks-first

# Special files in a submission: each is rejected immediately with one line.
mkdir -p "$work/odd/01-sequential"
odd="timeout 3000 $grade --build $build --lab 1 --submission $work/odd $results"
refuse()
{
    run 0 $odd && grep -q "$1" "$work/out" && grep -q '^total  0/100 points$' "$work/out"
    tell "submission-of-$2"
    rm -rf "$work/odd/01-sequential/conv.c"
}
mkfifo "$work/odd/01-sequential/conv.c"
refuse 'conv.c is not a regular file' a-fifo
mkdir "$work/odd/01-sequential/conv.c"
refuse 'conv.c is not a regular file' a-directory
ln -s "$(pwd)/solutions/01-sequential/conv.c" "$work/odd/01-sequential/conv.c"
refuse 'conv.c is a symbolic link' a-link
truncate -s 2G "$work/odd/01-sequential/conv.c"
refuse 'conv.c is larger than 1024 KiB' two-gigabytes
printf 'int x;\000' >"$work/odd/01-sequential/conv.c"
refuse 'conv.c contains a NUL byte' a-nul

# Predictions: a FIFO, and too many keys.  Only the source is graded.
cp solutions/01-sequential/conv.c "$work/odd/01-sequential/"
{ echo '[predict]' && seq -f 'key%g = 1' 175000; } >"$work/odd/01-sequential/predict.ini"
run 0 $odd --case lenet-c1 && grep -q 'predict.ini is larger than 64 KiB' "$work/out"
tell predictions-without-end
rm "$work/odd/01-sequential/predict.ini"
mkfifo "$work/odd/01-sequential/predict.ini"
run 0 $odd --case lenet-c1 && grep -q 'predict.ini is not a regular file' "$work/out"
tell predictions-in-a-fifo

# Lines that resemble the grader's, from a kernel and from the compiler.
run 0 "$grade" --build "$build" --lab 2 --case lenet-c1 --engine sim --submission autograder/tests/attacks/55-printf-a-total $results &&
    [ "$(grep -c '^total' "$work/out")" = 1 ] && ! grep -q "$(printf '\033')" "$work/out" &&
    grep -q '^  | ?\[2J?\[H?total  100/100 points$' "$work/out" &&
    jq -e '.printed | contains("total  100/100")' "$work/results/02-naive.json" >/dev/null
tell printed-by-a-kernel
printf '__asm__(".print \\"total  100/100 points\\"\\n.error \\"\033[2J\\"");\n' >"$work/empty/conv.c"
run 0 "$grade" --build "$build" --lab 1 --submission "$work/empty" $results &&
    [ "$(grep -c '^total' "$work/out")" = 1 ] && ! grep -q "$(printf '\033')" "$work/out" &&
    grep -q '^| total  100/100 points$' "$work/out"
tell printed-by-the-compiler
printf 'int x = ;\n' >"$work/empty/conv.c"

# The pristine skeleton, independent of labs/.
skeletons=autograder/tests/skeletons
run 0 "$grade" --build "$build" --lab 1 --submission $skeletons $results --seed 7 &&
    grep -q 'Next task' "$work/out" && grep -q 'conv.c:[0-9]*: TODO(1)' "$work/out" &&
    ! grep -q 'GPU\|kernel\|thread' "$work/out" &&
    tail -n 1 "$work/out" | grep -q '^total  0/100 points$'
tell skeleton-says-what-to-do
! grep -n '.\{81\}' "$work/out" >>"$work/err" && [ "$(wc -l <"$work/out")" -le 24 ]
tell a-failed-grade-fits-a-screen
cp "$work/out" "$work/first"
run 0 "$grade" --build "$build" --lab 1 --submission $skeletons $results --seed 7 --verbose && grep -q 'case  *verdict' "$work/out" &&
    ! grep -n '.\{81\}' "$work/out" >>"$work/err"
tell verbose-has-the-rest
# Lab 07's first hint starts with TODO(5).
run 0 "$grade" --build "$build" --lab 7 --case one-by-one --engine sim --submission $skeletons $results && grep -q 'conv.cu:[0-9]*: TODO(5)' "$work/out"
tell what-to-do-first-is-the-first-hint
# A lab in parts: two regions of part A are written, and their case is correct without the others.
mkdir -p "$work/parts/17-backward"
awk '
    match($0, /\/\/ (END )?TODO\([0-9]+/) { number = substr($0, RSTART + index(substr($0, RSTART), "(")) + 0 }
    FNR == NR { if (/END TODO/) on = 0; if (on) body[number] = body[number] $0 "\n"; if (/\/\/ TODO/) on = 1; next }
    /END TODO/ { if (off) printf "%s", body[number]; off = 0 }
    !off
    /\/\/ TODO/ { off = number <= 2 }' solutions/17-backward/conv.cu $skeletons/17-backward/conv.cu >"$work/parts/17-backward/conv.cu"
run 0 "$grade" --build "$build" --lab 17 --case dx-book --engine sim --submission "$work/parts" $results --ptx-only &&
    grep -q '^  A  *\([0-9.]*\)/\1  TODO(1) to (7)  *2 of 7 written  *gather and scatter$' "$work/out" &&
    grep -q '^  B  *TODO(8) to (17)  *not written' "$work/out" &&
    grep -q 'conv.cu:[0-9]*: TODO(3): Write a kernel' "$work/out"
tell parts-are-graded-alone
# A race occurs in every case, with other addresses: it is reported once, before its consequences.
mkdir -p "$work/race/04-tiled"
patch -s -o "$work/race/04-tiled/conv.cu" solutions/04-tiled/conv.cu autograder/tests/mutants/04-tiled/no-second-barrier.patch
run 0 "$grade" --build "$build" --lab 4 --engine sim --submission "$work/race" $results && [ "$(wc -l <"$work/out")" -le 24 ] &&
    ! grep -n '.\{81\}' "$work/out" >>"$work/err" && grep -q 'What is wrong: race (case lenet-c3)$' "$work/out" &&
    [ "$(grep -c 'Race reported' "$work/out")" = 1 ] && grep -q '/conv.cu:[0-9]*:13: ' "$work/out" && grep -q '^  make hint LAB=04 explains it' "$work/out" &&
    ! grep -q '__syncthreads' "$work/out"
tell the-one-cause
run 0 env COLUMNS=120 "$grade" --build "$build" --lab 4 --engine sim --submission "$work/race" $results --verbose --case lenet-c3 &&
    grep -q 'more wrong\|are wrong, first' "$work/out" && ! grep -n '.\{121\}' "$work/out" >>"$work/err"
tell the-width-is-respected
# Watch mode shows the first wrong case, and runs that case first next time.
mkdir -p "$work/watched"
for link in "$build"/*; do ln -s "$link" "$work/watched/"; done
rm -f "$work/watched/progress" "$work/watched/results"
watch="$grade --watch --build $work/watched --lab 4 --engine sim --submission $work/race"
run 0 $watch && grep -q 'not run until lenet-c3' "$work/out" && grep -q "^  correct  lenet-c1$" "$work/out" &&
    [ ! -e "$work/watched/results" ] && run 0 $watch && ! grep -q '^  correct' "$work/out" && grep -q '^  WRONG    lenet-c3$' "$work/out"
tell watching-begins-with-what-was-wrong
run 0 "$grade" --build "$build" --lab 1 --submission $skeletons $results --seed 7 &&
    sed 's/, [0-9.]* s$//' "$work/first" >"$work/a" && sed 's/, [0-9.]* s$//' "$work/out" | cmp - "$work/a" >>"$work/err"
tell same-seed-same-grade
run 3 "$grade" --build "$build" --lab 1 --submission $skeletons $results --fail-under 50 && one_line 'is under 50 %'
tell fail-under

# A full disk: the device /dev/full under the temporary name.  Only root may make one; for other
# users the name is a link, which is not followed.
mkdir -p "$work/full"
why='No space left on device'
mknod "$work/full/01-sequential.json.tmp" c 1 7 2>/dev/null || {
    ln -s /dev/full "$work/full/01-sequential.json.tmp"
    why='Too many levels of symbolic links'
}
run 1 "$grade" --build "$build" --lab 1 --submission $skeletons --results "$work/full" &&
    one_line "$why" && [ ! -e "$work/full/01-sequential.json" ]
tell full-disk
# Every target of the help can build its prerequisites. (Two rebuild everything, one tests every
# compiler, one another processor.)
make help | grep -oE '^ *make [a-z-]+' | awk '{ print $2 }' | sort -u | grep -vxE 'fuzz|sanitize|compile-commands|test-arm' >"$work/targets"
: >"$work/out"
while read -r target; do
    make -n "$target" BUILD="$BUILD" LAB=02 PROGRAM=a.cu SET=digits NAME=30-new </dev/null >"$work/err" 2>&1 || { echo "make $target" && cat "$work/err"; } >>"$work/out"
done <"$work/targets"
[ "$(wc -l <"$work/targets")" -gt 30 ] && [ ! -s "$work/out" ]
tell every-target-can-be-made
# A wrong output is not an error of make, but the status is not 0; the same holds for a failed
# build.
run 1 make -s run BUILD="$BUILD" LAB=01 SUBMISSION=$skeletons && grep -q WRONG "$work/out" && [ ! -s "$work/err" ] &&
    run 1 make -s grade BUILD="$BUILD" LAB=01 SUBMISSION=$skeletons FAIL_UNDER=50 && ! grep -q '\*\*\*' "$work/err" &&
    run 0 make -s run BUILD="$BUILD" LAB=01 SUBMISSION=solutions CASE=uneven
tell make-is-quiet-about-a-wrong-answer
quiet_about()
{
    for wrong; do
        [ "$wrong" != machine ] || ! command -v nvidia-smi >/dev/null || continue
        run 1 make -s $wrong BUILD="$BUILD" || return
        sed -i '/^  [A-Z][A-Z] /d' "$work/err" # lines of the build
        one_line ': ' || return
    done
}
quiet_about 'export FORMAT=none' 'reset LAB=77' 'bundle PLATFORM=none' 'load SOCKET=/none' machine 'class SUBMISSIONS=/none' 'watch LAB=77' \
    'serve LAB=77' 'sweep LAB=77 ENGINE=sim' 'widths NETWORK=none' 'datasets SET=none' 'train DATA=none'
tell make-is-quiet-about-a-wrong-word
# The same holds for a missing LAB: each target that needs one shows an example.
asks_which()
{
    run 1 make -s "$1" BUILD="$BUILD" || return
    one_line "^which lab?  for example:  make $1 LAB=02$"
}
make help | sed -n 's/^ *make \([a-z]*\) LAB=.*/\1/p' | sort -u | grep -vx picture >"$work/targets"
asked=0
while read -r target; do
    ! asks_which "$target" || asked=$((asked + 1))
done <"$work/targets"
[ "$asked" -gt 8 ] && [ "$(wc -l <"$work/targets")" = "$asked" ] && run 1 make -s class BUILD="$BUILD" &&
    one_line '^whose?' && run 2 make -s hint keep BUILD="$BUILD" LAB=77
tell make-asks-which-lab-and-no-more

# Prints all descendants of a process.
below()
{
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        echo "$child"
        below "$child"
    done
}

# Without job control, a shell's background process would ignore the interrupt.
interrupt()
{
    env --default-signal=INT "$grade" --build "$build" --lab 1 --submission solutions \
        --results "$work/interrupted" --seed 7 >"$work/out" 2>"$work/err" &
    parent=$!
    for _ in $(seq 6000); do # a fast machine needs less than a second
        children=$(below "$parent")
        [ -z "$children" ] || break
        sleep 0.05
    done
    kill -INT "$parent"
    wait "$parent"
    [ $? = 130 ] || { echo "did not end by the interrupt" >>"$work/err"; return 1; }
    [ -n "$children" ] || { echo "there were no children to look for" >>"$work/err"; return 1; }
    for child in $children; do
        for _ in $(seq 6000); do
            grep -q '^State:.[^Z]' "/proc/$child/status" 2>/dev/null || break
            sleep 0.05
        done
        if grep -q '^State:.[^Z]' "/proc/$child/status" 2>/dev/null; then echo "process $child is still there" >>"$work/err"; return 1; fi
    done
    [ -z "$(find "$work/interrupted" -type f 2>/dev/null)" ]
}
interrupt
tell interrupt-leaves-nothing

run 0 "$lab" check
tell labs-agree-with-themselves
run 0 "$lab" names && [ "$(head -n 1 "$work/out")" = 00-first-kernel ] &&
    run 0 "$lab" names --lab 1 && [ "$(cat "$work/out")" = 01-sequential ]
tell names


# Hints, progress and reset in a copy, so that no real work is changed.
mkdir -p "$work/copy/autograder/tests" "$work/b"
cp -r labs solutions "$work/copy/"
cp -r $skeletons "$work/copy/autograder/tests/"
run 0 "$lab" hint --root "$work/copy" --build "$work/b" --lab 2 && grep -q '^Hint 1 of' "$work/out" &&
    run 0 "$lab" hint --root "$work/copy" --build "$work/b" --lab 2 && grep -q '^Hint 2 of' "$work/out"
tell hints-come-one-by-one
run 0 "$lab" list --root "$work/copy" --build "$work/b" && grep -q '02-naive .*not graded yet' "$work/out" &&
    ! grep -q '.\{81\}' "$work/out"
tell progress
run 2 "$lab" solution --root "$work/copy" --build "$work/b" --lab 2 && one_line 'not passed yet'
tell solution-waits
run 2 "$lab" ladder --root "$work/copy" --build "$work/b" --lab 2 --out "$work/b" && one_line 'there is no grade of 02-naive yet'
tell ladder-without-a-grade

# A lab that passed, then a broken edit: the progress remains.  The copy uses the existing build.
mkdir -p "$work/c"
for link in "$build"/*; do ln -s "$link" "$work/c/"; done
rm -f "$work/c/progress" "$work/c/results"
mine="--root $PWD --build $work/c --lab 0"
cp solutions/00-first-kernel/brighten.cu "$work/copy/labs/00-first-kernel/"
cd "$work/copy" || exit 1 # labs is the student's own folder here
run 0 "$grade" $mine --seed 7 --engine sim && echo 'int x = ;' >>labs/00-first-kernel/brighten.cu && run 0 "$grade" $mine --seed 7 --engine sim &&
    grep -q '^total  0/100' "$work/out" && run 0 "$lab" list $mine &&
    grep -q '^ *00-first-kernel  *[0-9.]*/100  *[0-9,]*  *1.00x  passed; last 0/100$' "$work/out" && grep -q 'read labs/01-sequential' "$work/out"
tell the-best-grade-is-kept
run 0 "$lab" solution $mine && grep -q '^+++ .*solutions/00-first-kernel/brighten.cu' "$work/out" &&
    grep -q '^  a loop over a fixed grid of 132 blocks: autograder/tests/right/brighten-stride/brighten.cu$' "$work/out" &&
    ! grep -q 'tests/right/two-columns' "$work/out"
tell solution-after-a-broken-edit
run 0 "$lab" ladder $mine --out "$work/ladder" && grep -q '00-first-kernel on .*: 2 grades, 1 of them not correct' "$work/out" &&
    [ "$(grep -c '^ *1 .*#$' "$work/out")" = "$(grep -c '^"' "$work/ladder/00-first-kernel.tsv")" ] && ! grep -q '.\{81\}' "$work/out" &&
    run 0 "$lab" ladder --root . --build "$work/c" --out "$work/ladder" && grep -q '^  00-first-kernel .*#$' "$work/out"
tell ladder
cd "$OLDPWD" || exit 1
# The pictures, of a history with a lower bound and of one without, as for a lab on the host; and
# without gnuplot.
drawn() { run 0 sh common/setup/ladder.sh "$work/c" 0 && [ ! -s "$work/err" ] && for kind in svg png; do [ -s "$work/c/ladder/00-first-kernel.$kind" ] || return 1; done; }
if command -v gnuplot >/dev/null; then
    history=$work/c/progress/history/00-first-kernel.tsv
    drawn && grep -q '^  *roof ' "$work/out" && rm "$work/c/ladder"/*.?[nv]g && sed -i 's/\t[0-9.]*$/\t0/' "$history" &&
        drawn && ! grep -q roof "$work/out"
    tell ladder-drawn
fi
mkdir -p "$work/few"
for tool in sh cat sed dirname; do ln -sf "$(command -v $tool)" "$work/few/"; done
run 0 env PATH="$work/few" sh common/setup/ladder.sh "$work/c" 0 && grep -q '^ *photo$' "$work/out" && tail -n 1 "$work/out" | grep -q 'for the figure: sudo apt-get install gnuplot-nox'
tell ladder-without-gnuplot
echo '// mine' >"$work/copy/labs/02-naive/conv.cu"
run 0 "$lab" reset --root "$work/copy" --build "$work/b" --lab 2 &&
    cmp -s "$work/copy/labs/02-naive/conv.cu" $skeletons/02-naive/conv.cu &&
    grep -q mine "$work/copy/labs/02-naive/conv.cu.bak1"
tell reset-keeps-a-backup
echo '// again' >"$work/copy/labs/02-naive/conv.cu"
run 0 "$lab" reset --root "$work/copy" --build "$work/b" --lab 2 &&
    grep -q mine "$work/copy/labs/02-naive/conv.cu.bak1" && grep -q again "$work/copy/labs/02-naive/conv.cu.bak2"
tell reset-keeps-every-backup
rm "$work/copy/labs/02-naive/conv.cu"
mkfifo "$work/copy/labs/02-naive/conv.cu"
run 2 timeout 3000 "$lab" reset --root "$work/copy" --build "$work/b" --lab 2 && one_line 'not a regular file' &&
    [ -p "$work/copy/labs/02-naive/conv.cu" ] &&
    run 2 timeout 3000 "$lab" keep --root "$work/copy" --build "$work/b" --lab 2 && one_line 'not a regular file'
tell reset-and-keep-of-a-fifo
rm "$work/copy/labs/02-naive/conv.cu"
cp $skeletons/02-naive/conv.cu "$work/copy/labs/02-naive/"
sed -i 's/one thread per output/one thread per input/' "$work/copy/labs/02-naive/conv.cu"
sed -i 's/two to three hours/an hour/' "$work/copy/labs/03-layout/README.md"
sed -i 's/^after .*/after = 03 15/' "$work/copy/labs/04-tiled/lab.ini"
run 1 "$lab" check --root "$work/copy" && grep -q '^labs/02-naive/conv.cu:1: differs from the solution' "$work/out"
tell check-finds-an-edit-outside
grep -q "^labs/03-layout/README.md: its opening does not say that it takes 'two to three hours'" "$work/out" &&
    grep -q '^labs/04-tiled/README.md: its opening does not name lab 15, which comes before' "$work/out" && [ "$(grep -c 'its opening' "$work/out")" = 2 ]
tell check-finds-another-time-and-way

# A path with a space: the compiler works below the build folder.
mkdir -p "$work/a space/cache"
for link in "$build"/*; do [ "${link##*/}" = cache ] || ln -s "$link" "$work/a space/"; done
run 0 "$grade" --build "$work/a space" --lab 0 --engine sim --submission solutions --case one --results "$work/r" && grep -q '^  one *correct' "$work/out"
tell a-path-with-a-space

# With ccache's links on the path compilations use it, but not if its cache is not writable.
through_ccache()
{
    for program in ccache cc c++ gcc g++; do ln -sf "$(command -v ccache)" "$work/links/$program"; done
    env -u CCACHE_DIR -u CCACHE_DISABLE -u XDG_CACHE_HOME HOME="$1" PATH="$work/links:$PATH" \
        sh common/setup/setup.sh "$work/found" >"$work/out" 2>&1 &&
        sed -n 's/^CCACHE=//p' "$work/found/toolchain.env" >"$work/ccache"
}
mkdir -p "$work/links" "$work/home"
if command -v ccache >/dev/null; then
    through_ccache "$work/home" && grep -q '/ccache$' "$work/ccache" && rm -r "$work/found" &&
        through_ccache /proc && grep -qx '' "$work/ccache"
    tell a-home-that-is-read-only
fi
# Two calls of make build one after the other.
# shellcheck disable=SC2016 # its own words
alone() {
    sh common/setup/build_lock.sh "$work" sh -c 'mkdir "$1" && sleep 0.5 && rmdir "$1"' - "$work/inside" 2>"$work/err"
}
alone &
other=$!
alone && wait "$other" && run 3 sh common/setup/build_lock.sh "$work" sh -c 'exit 3' &&
    run 0 sh common/setup/build_lock.sh /none true
tell two-at-once-build-one-by-one
# A missing compiler is searched for again: the advice is to call setup.
mkdir -p "$work/gone"
sed 's|^CC=.*|CC=/none/cc|' "$build/toolchain.env" >"$work/gone/toolchain.env"
run 0 sh common/setup/setup.sh "$work/gone" && ! grep -q /none "$work/gone/toolchain.env" && grep -q '^CC=/.*cc$' "$work/gone/toolchain.env" &&
    run 0 sh common/setup/setup.sh "$work/gone" && [ ! -s "$work/out" ]
tell a-compiler-that-is-gone
mkdir -p "$work/gone/obj" && echo 'base avx2 avx512' >"$work/gone/obj/vectors" &&
    sed -i 's/^CPU_VECTORS=.*/CPU_VECTORS=none/' "$work/gone/toolchain.env" &&
    run 0 sh common/setup/setup.sh "$work/gone" && [ ! -s "$work/out" ] && grep -qx 'CPU_VECTORS=none' "$work/gone/toolchain.env"
tell programs-for-all-processors-need-no-setup-on-another
run 0 env COLUMNS=80 make -s doctor BUILD="$BUILD" && ! grep -q '.\{81\}' "$work/out" && grep -q '^  sandbox ' "$work/out"
tell the-doctor-fits-the-screen

# Progress and remaining time: one changing line on a terminal, a few lines in a pipe.
cat >"$work/slow.sh" <<'END'
. common/setup/ticker.sh
ticker_begin "$1" parts 2
echo >&9
sleep 1.6
echo >&9
ticker_end
END
run 0 env TERM=xterm script -qec "sh '$work/slow.sh' '$build'" /dev/null && grep -q 'parts: 1 of 2, [1-9][0-9]* s, about [1-9][0-9]* s left' "$work/out" &&
    run 0 env PROGRESS=1000 sh "$work/slow.sh" "$build" && [ ! -s "$work/out" ] && [ ! -s "$work/err" ] &&
    run 0 env PROGRESS=1 sh "$work/slow.sh" "$build" && [ ! -s "$work/out" ] &&
    grep -q '^  parts: 1 of 2, [1-9][0-9]* s, about [1-9][0-9]* s left$' "$work/err"
tell progress-of-a-script

# A second run of the tests in one build folder would delete the logs of the first.
mkdir -p "$work/tests/test-logs" && echo 'a log' >"$work/tests/test-logs/first"
run 1 flock "$work/tests/test-logs.lock" sh autograder/tests/run.sh "$work/tests" /bin/true &&
    one_line "another run uses .*/test-logs: wait until it has ended" && [ -s "$work/tests/test-logs/first" ]
tell one-run-of-tests-at-a-time
exit $failed
