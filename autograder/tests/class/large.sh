#!/bin/sh
# large.sh BUILD [COUNT [SEED]] - a class of COUNT students (200) in lab 02: graded in one run, and in
# another folder in runs that are killed at random moments and resumed.  Both gradebooks must be equal
# byte for byte.  Prints the times.  It takes an hour with 200 students, so `make test` does not run it;
# check.sh of this folder kills a class of a few students.
#
# The students hand in the solution, the mutants and the skeleton, round-robin, with a comment of
# their own.
set -eu
build=$(realpath "${1:?usage: large.sh BUILD [COUNT [SEED]]}")
count=${2:-200} seed=${3:-7}
lab=02-naive
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/first/handed-in" "$work/other folder" "$work/kinds"

cp solutions/$lab/conv.cu "$work/kinds/solution.cu"
cp autograder/tests/skeletons/$lab/conv.cu "$work/kinds/skeleton.cu"
for fault in autograder/tests/mutants/"$lab"/*.patch; do
    patch -s -o "$work/kinds/$(basename "$fault" .patch).cu" solutions/$lab/conv.cu "$fault"
done
set -- "$work"/kinds/*.cu
student=0
while [ "$student" -lt "$count" ]; do
    for kind; do
        [ "$student" -lt "$count" ] || break
        student=$((student + 1))
        folder=$work/first/handed-in/student-$student/$lab
        mkdir -p "$folder"
        { cat "$kind" && echo "/* student $student */"; } >"$folder/conv.cu"
        cp solutions/$lab/predict.ini "$folder"
    done
done
cp -r "$work/first/handed-in" "$work/other folder"

# class FOLDER: grades, or resumes.
class() {
    "$build/bin/class" --build "$build" --submissions "$1/handed-in" --lab 02 --engine sim --seed 7 --jobs 2 \
        --results "$1/results" >"$work/log" 2>&1
}
begin=$(date +%s)
class "$work/first" || { tail "$work/log"; exit 1; }
echo "$count submissions in one run: $(($(date +%s) - begin)) s with 2 jobs"

# The moments follow from SEED: every run is killed after 1 to 40 s, until one ends by itself.
kills=0 begin=$(date +%s)
while seed=$(((seed * 1103515245 + 12345) % 2147483648)) && ! (
    timeout -s KILL $((1 + seed / 65536 % 40)) "$build/bin/class" --build "$build" --submissions "$work/other folder/handed-in" \
        --lab 02 --engine sim --seed 7 --jobs 2 --results "$work/other folder/results"
) >"$work/log" 2>&1; do
    kills=$((kills + 1))
    [ "$kills" -lt "$count" ] || { tail "$work/log"; exit 1; }
done
echo "killed $kills times and resumed: $(($(date +%s) - begin)) s"
if cmp "$work/first/results/gradebook.sqlite" "$work/other folder/results/gradebook.sqlite"; then
    echo "both gradebooks are equal byte for byte"
else
    for folder in first 'other folder'; do
        "$build/bin/class" --dump --results "$work/$folder/results" >"$work/$folder/dump"
    done
    diff "$work/first/dump" "$work/other folder/dump" | head -20
    exit 1
fi
