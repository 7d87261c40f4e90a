#!/bin/sh
# check.sh BUILD - messages of all commits after $base, and common/setup/commit_message.sh itself.
set -eu
. autograder/tests/lib.sh
set +e
base=543e0e3f86737180fcc80c2ec1f83307b08d8770 # the first commit whose message follows docs/style/guide.md
base_date=1795890163 # its committer date, for clones that do not contain it
check=$(pwd)/common/setup/commit_message.sh

# The new commits of $1.  A shallow clone or a rewritten history may lack $base; then its date decides.
new_commits()
{
    if git -C "$1" merge-base --is-ancestor $base HEAD 2>/dev/null; then
        git -C "$1" rev-list $base..HEAD
    else
        git -C "$1" log --since=$((base_date + 1)) --format=%H
    fi
}

# check_commits TREE: reports every bad message of the new commits in $work/out.
check_commits()
{
    : >"$work/out"
    new_commits "$1" >"$work/commits"
    while read -r commit; do
        git -C "$1" log -1 --format=%B "$commit" >"$work/message"
        sh "$check" "$work/message" 2>"$work/wrong" || sed "s/^/$(printf '%.9s' "$commit") /" "$work/wrong" >>"$work/out"
    done <"$work/commits"
    [ ! -s "$work/out" ]
}

# expect NAME STATUS MESSAGE [REPORT]
expect()
{
    printf '%b' "$3" >"$work/message"
    status=0
    sh "$check" "$work/message" >"$work/out" 2>&1 || status=$?
    [ "$status" = "$2" ] && { [ "$2" = 0 ] || grep -qF -- "$4" "$work/out"; }
    tell "$1"
}
expect good 0 'Model reconvergence of nested branches\n\nNested branches did not reconverge.\n'
expect git-comments 0 'Add a file\n\nThe file was missing.\n# Please enter the message\n'
expect long-subject 1 "$(printf 'Add %.0s' $(seq 20))\n\nBody.\n" 'has 80 characters'
expect characters-not-bytes 0 "$(printf 'Add µµµµ %.0s' $(seq 8))\n\nBody.\n"
expect sentence 1 'The lanes diverge\n\nBody.\n' 'not with a verb'
expect past-tense 1 'Added a file\n\nBody.\n' 'not with a verb'
expect third-person 1 'Adds a file\n\nBody.\n' 'not with a verb'
expect lower-case 1 'add a file\n\nBody.\n' 'capital letter'
expect full-stop 1 'Add a file.\n\nBody.\n' 'full stop'
expect no-blank-line 1 'Add a file\nBody.\n' 'not blank'
expect no-body 1 'Add a file\n' 'no body'
expect trailer-is-no-body 1 'Add a file\n\nSigned-off-by: Somebody\n' 'no body'

git rev-parse --git-dir >"$work/said" 2>&1 || skip 'not a git clone'
check_commits .
tell new-commits

# A shallow clone with one bad commit on top.
git clone -q --depth 2 "file://$(pwd)" "$work/clone" 2>"$work/err" &&
    git -C "$work/clone" -c user.name=x -c user.email=x@example.org commit -q --allow-empty -m 'there is one more' &&
    { ! check_commits "$work/clone"; } && grep -q 'there is one more' "$work/out" &&
    [ "$(wc -l <"$work/commits")" -le 3 ]
tell shallow-clones
exit "$failed"
