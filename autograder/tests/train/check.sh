#!/bin/sh
# check.sh BUILD - make train on the simulator.  The first 100 steps are those of fp64.  The same
# seed gives the same bits, also if training is stopped and resumed.  A wrong argument is one line.
set -u
. autograder/tests/lib.sh

# A build folder of its own for what training leaves, with the libraries of the real one.
mkdir -p "$work/build/obj/common/apps"
ln -s "$build/toolchain.env" "$build/lib" "$work/build/"
ln -s "$build/obj/common/apps/train" "$work/build/obj/common/apps/train"
made=$work/build/train/digits-8x8
train() { SUBMISSION=solutions sh common/apps/train/train.sh "$work/build" digits-8x8 "$1" "$2" sim >"$work/out" 2>"$work/err"; }

# Two epochs of 89 steps, the first 100 compared with two runs in fp64.
CHECK=100 train 2 5 && grep -q 'the first 100 steps are those of fp64' "$work/out" &&
    [ ! -s "$work/err" ]
tell the-first-100-steps-are-those-of-fp64
[ "$(wc -l <"$made/curves.tsv")" = 3 ] &&
    [ "$(awk '{ for (i = 1; i <= NF; i++) n += $i } END { print n }' "$made/confusion.tsv")" = \
    360 ] &&
    awk -F'\t' 'NR == 3 { exit !($3 > 0.6) }' "$made/curves.tsv"
tell two-epochs-read-six-of-ten
cp "$made/weights.npy" "$work/weights.npy"

STOP=1 train 2 5 && grep -q 'RESUME=1 resumes' "$work/out" &&
    ! cmp -s "$made/weights.npy" "$work/weights.npy" &&
    RESUME=1 train 2 5 && cmp "$made/weights.npy" "$work/weights.npy"
tell stopped-and-resumed-it-makes-the-same-bits

refused() { [ "$(grep -c '^train: ' "$work/err")" = 1 ] && grep -q -- "$1" "$work/err"; }
! RESUME=1 train 2 6 && refused 'belongs to another training'
tell a-checkpoint-of-another-seed
! train two 5 && refused 'EPOCHS is a whole number'
tell epochs-that-are-no-number
! SUBMISSION=/nowhere sh common/apps/train/train.sh "$work/build" digits-8x8 1 1 sim \
    >"$work/out" 2>"$work/err" && refused 'there is no /nowhere'
tell no-such-step
! sh common/apps/train/train.sh "$work/build" digits-8x8 1 1 abacus >"$work/out" 2>"$work/err" &&
    refused "not 'abacus'"
tell no-such-engine
# Lab 19's network, as small as it gets, on three recordings: at first all classes are alike, ln 3;
# then the loss falls.  With no gradient in CONV1 and CONV2 it falls to 0.94.
FILTERS=2 UNITS=4 TRAIN=3 TEST=1 BATCH=3 RATE=0.02 SUBMISSION=solutions sh common/apps/train/train.sh "$work/build" recordings 12 1 sim >"$work/out" 2>"$work/err" &&
    awk -F'\t' 'NR == 1 { sha = / of weights.npy: [0-9a-f]+$/ } $1 == 1 { first = $2 } $1 == 12 { last = $2 } END { exit !(sha && first == 1.0986 && last < 0.91) }' \
        "$work/build/train/recordings/curves.tsv" &&
        [ -s "$work/build/train/recordings/weights.npy" ]
tell the-network-of-lab-19-learns-three-recordings
recordings() { SUBMISSION=solutions sh common/apps/train/train.sh "$work/build" recordings 1 1 sim >"$work/out" 2>"$work/err"; }
! BATCH=50 TRAIN=10 recordings && refused 'BATCH=50 is more than TRAIN=10'
tell a-batch-larger-than-the-set
! UNITS=0 recordings && refused 'UNITS is a whole number from 1 to 99999'
tell a-network-without-units
! RATE=fast recordings && refused "RATE is a number such as 0.006, not 'fast'"
tell a-rate-that-is-no-number
! SUBMISSION=/nowhere sh common/apps/train/train.sh "$work/build" recordings 1 1 sim \
    >"$work/out" 2>"$work/err" && refused 'there is no /nowhere/18'
tell no-such-step-for-recordings

# A step that is wrong is not trained with when it is checked: momentum after the step.
mkdir -p "$work/wrong/18-training"
patch --silent --output="$work/wrong/18-training/train.cu" solutions/18-training/train.cu \
    autograder/tests/mutants/18-training/momentum-after.patch &&
    ! CHECK=5 SUBMISSION=$work/wrong sh common/apps/train/train.sh "$work/build" digits-8x8 1 1 sim \
    >"$work/out" 2>"$work/err" &&
    refused 'step 2 is not what fp64 makes of it'
tell a-wrong-step-is-found
exit "$failed"
