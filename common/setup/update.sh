#!/bin/sh
# update.sh FROM - merges the next release of the course into a student's copy; FROM is the
# release's folder or address.
#
# No work of the student is lost: uncommitted changes are committed first.  If both sides have
# changed a file of labs/, the student's remains, and the release's is next to it as NAME.new.  If
# both have changed another file, the release's is used, and the student's is next to it as
# NAME.mine.  If they have changed different places of one file, git merges these, and the file is
# named.
set -eu
from=${1:-}

fail()
{
    printf 'update: %s\n' "$1" >&2
    exit 2
}

as_student()
{
    if git config user.name >/dev/null && git config user.email >/dev/null; then
        git "$@"
    else
        git -c user.name=student -c user.email=student@localhost "$@"
    fi
}

command -v git >/dev/null || fail 'no git: sudo apt-get install git'
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] ||
    fail 'this copy is not a git repository: clone the release (git clone FROM), and put your labs/ '\
'into the clone'
own=$(git rev-parse --git-dir) # in a worktree .git is a file with the folder's path
[ -n "$from" ] || from=$(git remote get-url origin 2>/dev/null) ||
    fail 'from where?  make update FROM=dir'
[ ! -e "$own/MERGE_HEAD" ] ||
    fail 'a merge is in progress: finish it with  git commit  or  git merge --abort'
# The folder may be the instructor's: git must read it although another user owns it.
set --
[ ! -d "$from" ] || set -- --upload-pack='git -c safe.directory=* upload-pack'
git fetch -q "$@" -- "$from" HEAD 2>"$own/words" ||
    fail "$from has no release to download: $(sed -n 's/^fatal: //p' "$own/words" | head -n 1)"
rm -f "$own/words"
if git merge-base --is-ancestor FETCH_HEAD HEAD; then
    echo 'update: you already have this release.'
    exit 0
fi
git merge-base HEAD FETCH_HEAD >/dev/null || fail "$from is not a release of this workbook"
git add -A
git diff --cached --quiet || as_student commit -q -m 'My work before an update'

# Files that both sides have changed.
base=$(git merge-base HEAD FETCH_HEAD)
git diff --name-only "$base" HEAD | sort >"$own/ours"
git diff --name-only "$base" FETCH_HEAD | sort | comm -12 "$own/ours" - >"$own/shared"

as_student merge -q --no-edit -m 'Update of the workbook' FETCH_HEAD >/dev/null 2>&1 || {
    git ls-files -u | cut -f 2 | sort -u >"$own/both"
    [ -s "$own/both" ] || fail "git could not merge $from; your files are unchanged"
    comm -23 "$own/shared" "$own/both" >"$own/ours" && mv "$own/ours" "$own/shared"
    while read -r file; do
        git show "HEAD:$file" >"$own/mine" 2>/dev/null || rm -f "$own/mine"
        git show "FETCH_HEAD:$file" >"$own/theirs" 2>/dev/null || rm -f "$own/theirs"
        mkdir -p "$(dirname "$file")"
        case $file in
        labs/*) keep=mine other=theirs suffix=new whose="the release's" ;;
        *) keep=theirs other=mine suffix=mine whose=your ;;
        esac
        # A file that one side has removed is not saved.
        if [ -e "$own/$keep" ]; then cp "$own/$keep" "$file"; else rm -f "$file"; fi
        if [ -e "$own/$other" ]; then
            cp "$own/$other" "$file.$suffix"
            echo "update: you and the release both changed $file: $whose version is $file.$suffix"
        fi
        git add -A -- "$file"
    done <"$own/both"
    rm -f "$own/both" "$own/mine" "$own/theirs"
    as_student commit -q -m 'Update of the workbook'
}
while read -r file; do
    git diff --quiet FETCH_HEAD HEAD -- "$file" ||
        echo "update: git merged your changes of $file with the release's: read it once"
done <"$own/shared"
rm -f "$own/ours" "$own/shared"
echo "update: $(git log -1 --format=%s FETCH_HEAD)"
