#!/bin/sh
# handout.sh BUILD OUT "LABS" - creates a student's copy of the course in OUT, a git repository with
# one commit per release.
#
# LABS are names as in `make grade LAB=`; empty: every lab whose skeleton does not contain another
# lab's solution.  The copy is made in BUILD, searched for secrets (search.h), and only then copied
# into OUT: if a secret is found, OUT is unchanged.
set -euf
build=${1:?usage: handout.sh BUILD OUT LABS}
out=${2:?usage: handout.sh BUILD OUT LABS}
wanted=${3:-}
tool="$build/bin/handout --root . --build $build"
case $out in -*) out=./$out ;; esac

fail()
{
    printf 'handout: %s\n' "$1" >&2
    exit 2
}

command -v git >/dev/null || fail 'no git: sudo apt-get install git'
[ ! -L "$out" ] || fail "$out is a link: name the folder itself"
if [ -e "$out" ] && [ -n "$(ls -A "$out")" ] &&
    ! { [ -d "$out/.git" ] && [ -f "$out/RELEASE" ]; }; then
    fail "$out exists and is not a student's copy: choose another folder, OUT=dir"
fi
[ ! -e "$out" ] || [ -z "$(git -C "$out" status --porcelain 2>/dev/null)" ] ||
    fail "$out has uncommitted changes, which a release would overwrite: commit or remove them"

# ---- selection of labs ----
names=
if [ -z "$wanted" ]; then
    names=$($tool names)
else
    for lab in $wanted; do
        name=$($tool names --lab "$lab") || exit 2
        names="$names $name"
    done
fi

# ---- selection of files: sources of the programs, and pages for students ----
files()
{
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files
    else
        find -L . -path ./build -prune -o -type f -print | sed 's,^\./,,'
    fi
}

chapters=$(sed -n 's,^\.\./docs/,,p' book/index.md | tr '\n' '|')
is_shown="^(\\.gitignore|\\.vscode/|LICENSE|Makefile|mk/|book/|common/|datasets/|autograder/|labs/|docs/figures/|docs/(${chapters}instructor/result-record|instructor/export|instructor/class)\\.md\$)"
is_ours='^(autograder/(tests|handout)[./]|common/(apps/compare|simulator/(conformance|validation))/|common/setup/(new-lab/|new_lab|fuzz|bench|bundle|style|commit_message)|labs/[^/]*/(baseline\.cu$|.*\.bak))|(^|/)(test|bench|fuzz)_[^/]*$'

copy=$(mktemp -d "$build/handout.XXXXXX")
trap 'rm -rf "$copy"' EXIT
chmod "$(umask -S)" "$copy" # OUT gets its mode, and students must be able to read it
files | grep -E "$is_shown" | grep -Ev "$is_ours" | grep -v '^labs/' | tar -cf - -T - |
    tar -xf - -C "$copy"

# ---- the labs ----
# The lab.ini for the grader is sealed; this writes the part that students may read.
show_ini()
{
    echo '; This copy is for reading only: it has no expected answers, hints or hidden shapes. The'
    echo '; grader reads everything from .sealed, so a change here has no effect.'
    awk '/^[[:space:]]*[;#]/ { next }
         /^\[/ { section = $0 }
         /^\[/ || NF == 0 { gone = section ~ /^\[(hint|todo) / }
         /^[^[:space:]\[]/ { key = $1; gone = section ~ /^\[(hint|todo) / || (section ~ /^\[predict / && (key == "formula" || key == "metric")) ||
             (section ~ /^\[hidden/ && key == "with") }
         !gone' "$1" | cat -s
}

for name in $names; do
    printf '  SEAL    %s\n' "$name"
    files | grep "^labs/$name/" | grep -Ev "$is_ours" | tar -cf - -T - | tar -xf - -C "$copy"
    source=$(sed -n 's/^source *= *//p' "labs/$name/lab.ini")
    mkdir -p "$copy/autograder/tests/skeletons/$name"
    cp "autograder/tests/skeletons/$name/$source" "$copy/autograder/tests/skeletons/$name/"
    cp "autograder/tests/skeletons/$name/$source" "$copy/labs/$name/"
    sed -i 's/^\([^;=]*=\).*/\1/' "$copy/labs/$name/predict.ini"
    show_ini "labs/$name/lab.ini" >"$copy/labs/$name/lab.ini"
    $tool seal --lab "$name" --out "$copy"
done

# ---- the pages: links to files that are not in the copy become plain text ----
for name in $names; do grep "^| \[.*](labs/$name/README.md)" README.md || true; done >"$copy/.rows"
awk -v rows="$copy/.rows" '$0 == "LABS" { while ((getline line < rows) > 0) print line; next } { print }' \
    autograder/handout/student.md >"$copy/README.md"
find "$copy" -name '*.md' | while read -r page; do
    grep -oE '\]\([^)#: ]+' "$page" | sed 's/^](//' | sort -u | while read -r target; do
        [ -e "$(dirname "$page")/$target" ] || printf '%s\n' "$target"
    done >"$copy/.missing"
    awk -v missing="$copy/.missing" '
        BEGIN { while ((getline line < missing) > 0) target[line] = 1 }
        { out = ""
          while (match($0, /\[[^\]\[]*\]\([^) ]*\)/)) {
              link = substr($0, RSTART, RLENGTH); text = link; to = link
              sub(/^\[/, "", text); sub(/\]\(.*/, "", text); sub(/.*\]\(/, "", to); sub(/\)$/, "", to); sub(/#.*/, "", to)
              out = out substr($0, 1, RSTART - 1) (to in target ? text : link)
              $0 = substr($0, RSTART + RLENGTH) }
          print out $0 }' "$page" >"$copy/.page"
    mv "$copy/.page" "$page"
done
rm -f "$copy/.missing" "$copy/.rows"

$tool search --out "$copy" || fail "the copy shows what it must not (above); $out is unchanged"

# ---- into OUT ----
[ -d "$out/.git" ] || git init -q -b release "$out"
git -C "$out" rm -rqf --ignore-unmatch . >/dev/null
mkdir -p "$out"
cp -a "$copy/." "$out/"
git -C "$out" add -A -f .
printf '%s\n' "$names" | tr ' ' '\n' | sed '/^$/d' >"$out/RELEASE"
git -C "$out" add RELEASE
if git -C "$out" diff --cached --quiet 2>/dev/null; then
    echo "  $out already is this release."
else
    git -C "$out" -c user.name=Workbook -c user.email=workbook@localhost commit -q \
        -m "Labs of $(date -u +%F): $(tr '\n' ' ' <"$out/RELEASE")"
    echo "  $out: $(wc -l <"$out/RELEASE") labs, searched and without answers; students clone it, and make update there merges the next release"
fi

# Labs whose skeletons contain another lab's solution: keeps those that were released before, or are
# named.
if [ -z "$wanted" ]; then
    begins=$($tool gives)
    said='Held back until you name them with LAB=, because they contain answers of earlier labs:'
else
    begins=$($tool gives | while read -r line; do if grep -qx "${line%% *}" "$out/RELEASE"; then echo "$line"; fi; done)
    said='These contain answers of earlier labs:'
fi
[ -z "$begins" ] || printf '  %s\n%s\n' "$said" "$(printf '%s\n' "$begins" | sed 's/^/    /')"
