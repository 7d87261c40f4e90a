#!/bin/sh
# check.sh BUILD - checks contents and grading of the bundles for platforms.  They are made from
# this tree, committed in a separate folder, and use this build, so that nothing is compiled again.
# docs/instructor/export.md describes a test on a bare machine.  Lab 07 is the one that takes the
# least time to grade.
# shellcheck disable=SC2015  # conditions, not choices
set -u
. autograder/tests/lib.sh
command -v git >/dev/null && command -v jq >/dev/null && python3 -c 'import jsonschema' 2>/dev/null || {
    skip 'sudo apt-get install git jq python3-jsonschema'
}
schemas=$(pwd)/autograder/tests/export
trap 'rm -rf "$work" "$build/results/submission"' EXIT

mkdir "$work/tree"
tar --exclude="./$(basename "$build")" --exclude=./.git -cf - . | tar -xf - -C "$work/tree"
cd "$work/tree" || exit 1
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x
git init -q . && git add -A && git commit -qm x || { echo 'not ok bundle/commit'; exit 1; }

bundle() { sh common/setup/bundle.sh "$work" "$@" >>"$work/said" 2>&1; }
: >"$work/said"
bundle gradescope 07 && bundle autolab 07 && bundle classroom '' && grep -q '^      LAB: ""$' "$work/bundle/classroom.yml" && bundle classroom 07
tell made

refused()
{
    text=$1
    shift
    sh common/setup/bundle.sh "$work" "$@" >"$work/said" 2>&1
    [ $? = 2 ] && [ "$(wc -l <"$work/said")" = 1 ] && grep -q "$text" "$work/said"
}
refused 'which platform' '' 07 && refused "no platform 'moodle'" moodle 07 && refused "no lab '99'" autolab 99 && refused "not '../2'" autolab ../2 &&
    (rm -rf .git && refused 'not a git checkout' autolab 07)
tell bad-input

# ready FOLDER: makes its files older than this build, so that it is used.
ready()
{
    find "$1/workbook" -type f -exec touch -d '2000-01-01' {} +
    ln -s "$build" "$1/workbook/build"
}

# ---- Gradescope: /autograder with source, submission and results, and a copy of run_autograder ---
root=$work/autograder
mkdir -p "$root/source" "$root/submission" "$root/results"
python3 - "$work/bundle/gradescope.zip" "$root/source" >"$work/said" 2>&1 <<'END'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as bundle:
    for name in ("setup.sh", "run_autograder"):
        assert bundle.getinfo(name).external_attr >> 16 & 0o111, name + " cannot be executed"
    names = bundle.namelist()
    assert "workbook/solutions/07-strength-reduced/conv.cu" in names and "workbook/Makefile" in names
    assert not [n for n in names if n.startswith("workbook/build/")]
    bundle.extractall(sys.argv[2])
END
tell gradescope-zip
install -m 755 "$root/source/run_autograder" "$root/run_autograder"
ready "$root/source"

# graded SCORE: runs as Gradescope does; the score is in its result, which matches the schema.
graded()
{
    (cd "$root" && timeout 3000 ./run_autograder) >"$work/said" 2>&1 || return 1
    echo "json $schemas/gradescope.schema.json $root/results/results.json" | python3 "$schemas/validate.py" >>"$work/said" 2>&1
    tail -n 1 "$work/said" | grep -qx valid && jq -e ".score == $1" "$root/results/results.json" >>"$work/said"
}
cp solutions/07-strength-reduced/* "$root/submission/" # the source alone, as students hand it in
graded 100
tell gradescope-solution
rm "$root/submission"/*
graded 0 && jq -e '.tests | map(.status == "failed") | all' "$root/results/results.json" >>"$work/said"
tell gradescope-nothing-handed-in
# A grader that fails leaves no result, not even an old one.
echo 99 >"$root/source/lab.txt"
[ -e "$root/results/results.json" ] && ! graded 0 && grep -q "no lab '99'" "$work/said" && [ ! -e "$root/results/results.json" ]
tell gradescope-no-mark-of-a-failure

# ---- Autolab: a folder with the handin, autograde.tar and Makefile -------------------------------
root=$work/autolab
mkdir "$root" && tar -C "$root" -xf "$work/bundle/autolab.tar" && mv "$root/autograde-Makefile" "$root/Makefile" &&
    tar -C autograder/tests/skeletons -cf "$root/handin.tar" 07-strength-reduced
tar -C "$root" -xf "$root/autograde.tar" && ready "$root" && tar -C "$root" -cf "$root/autograde.tar" workbook autograde.sh lab.txt &&
    rm -rf "$root/workbook" "$root/autograde.sh" "$root/lab.txt"
(cd "$root" && timeout 3000 make) >"$work/said" 2>"$work/errors" && tail -n 1 "$work/said" | jq -e '.scores == {"07-strength-reduced": 0}' >>"$work/errors" &&
    tail -n 2 "$work/said" | head -n 1 | jq -e '.stages == ["07-strength-reduced"]' >>"$work/errors"
tell autolab-skeleton

# ---- GitHub Classroom: the steps of the workflow, in a student's repository ----------------------
# What `run:` says, for the shell; results of labs/ go where a learner's do, so this workbook has a
# build folder of links.
sed -n 's/^        run: //p' "$work/bundle/classroom.yml" >"$work/steps"
mkdir "$work/build" && for part in "$build"/*; do ln -s "$part" "$work/build/"; done
rm "$work/build/results" 2>/dev/null
cp autograder/tests/skeletons/07-strength-reduced/* labs/07-strength-reduced/
find . -path ./.git -prune -o -type f -exec touch -d '2000-01-01' {} +
(export GITHUB_OUTPUT="$work/output" BUILD="$work/build" LAB=07 ENGINE=sim && timeout 3000 sh -e "$work/steps") >"$work/said" 2>&1 &&
    [ "$(wc -l <"$work/output")" = 1 ] && sed -n 's/^result=//p' "$work/output" | base64 -d >"$work/result.json" &&
    jq -e '.status == "fail" and .max_score == 100 and (.tests | map(.score) | add) == 0' "$work/result.json" >>"$work/said" &&
    echo "json $schemas/classroom.schema.json $work/result.json" | python3 "$schemas/validate.py" | grep -qx valid
tell classroom-skeleton
grep -q '^      LAB: "07"$' "$work/bundle/classroom.yml" && ! grep -q '@LAB@' "$work/bundle/classroom.yml"
tell classroom-lab
exit $failed
