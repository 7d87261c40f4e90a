#!/bin/sh
# handout.sh BUILD OUT "LABS" ["REMOVE"] - creates a student's copy of the course in OUT, a git
# repository with one commit per release.
#
# LABS are names as in `make grade LAB=`; empty: every lab whose skeleton does not contain another
# lab's solution.  The copy is made in BUILD, searched for secrets (search.h), and only then copied
# into OUT: if a secret is found, OUT is unchanged.  A lab of the last release that LABS does not
# name has to be in REMOVE.
#
# Pages mark text for readers of the full workbook: "<!-- only with PATH -->text<!-- end only -->".
# The copy contains the text if it contains PATH; `solutions` is never in it.
set -euf
build=${1:?usage: handout.sh BUILD OUT LABS}
out=${2:?usage: handout.sh BUILD OUT LABS}
wanted=${3:-}
removed=${4:-}
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

# `make update` deletes a removed lab in the students' copies, with the student's files.
missing=
names=$(printf '%s' "$names" | tr '\n' ' ')
released=$(cat "$out/RELEASE" 2>/dev/null) || released=
for name in $released; do
    case " $names " in *" $name "*) continue ;; esac
    given=no
    for lab in $removed; do case $name in "$lab" | "$lab"-*) given=yes ;; esac; done
    [ $given = yes ] || missing="$missing ${name%%-*}"
done
[ -z "$missing" ] || fail "$out has already released$missing, which this release would delete, in the students' copies too: name all labs in LAB=, or confirm with REMOVE=\"${missing# }\""

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
is_shown="^(\\.gitignore|\\.vscode/|\\.devcontainer/|LICENSE|Makefile|mk/|book/|common/|datasets/|autograder/|labs/|docs/figures/|docs/(${chapters}instructor/result-record|instructor/export|instructor/class)\\.md\$)"
is_ours='^(autograder/(tests|handout)[./]|common/(apps/compare|simulator/(conformance|validation))/|common/setup/(new-lab/|containers/grader|new_lab|variant/|fuzz|bench|bundle|style|commit_message)|labs/[^/]*/(baseline\.cu$|.*\.bak))|(^|/)(test|bench|fuzz)_[^/]*$'

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

# Objects of these programs (common/setup/objects.sh), so that a student's first build is short.
[ ! -f "$build/handout-objects.tar.gz" ] || cp "$build/handout-objects.tar.gz" "$copy/common/objects.tar.gz"

all=$(printf '%s' "$names" | wc -w)
sealed=0
for name in $names; do
    sealed=$((sealed + 1))
    printf '  SEAL    %s (%s of %s)\n' "$name" "$sealed" "$all"
    files | grep "^labs/$name/" | grep -Ev "$is_ours" | tar -cf - -T - | tar -xf - -C "$copy"
    source=$(sed -n 's/^source *= *//p' "labs/$name/lab.ini")
    mkdir -p "$copy/autograder/tests/skeletons/$name"
    cp "autograder/tests/skeletons/$name/$source" "$copy/autograder/tests/skeletons/$name/"
    cp "autograder/tests/skeletons/$name/$source" "$copy/labs/$name/"
    sed -i 's/^\([^;=]*=\).*/\1/' "$copy/labs/$name/predict.ini"
    show_ini "labs/$name/lab.ini" >"$copy/labs/$name/lab.ini"
    $tool seal --lab "$name" --out "$copy"
done

# ---- the pages: text for the full workbook goes; links to files that are not in the copy become
# plain text ----
for name in $names; do grep "^| \[.*](labs/$name/README.md)" README.md || true; done >"$copy/.rows"
awk -v rows="$copy/.rows" '$0 == "LABS" { while ((getline line < rows) > 0) print line; next } { print }' \
    autograder/handout/student.md >"$copy/README.md"
find "$copy" -name '*.md' | while read -r page; do
    grep -o '<!-- only with [^ ]* -->' "$page" | cut -d ' ' -f 4 | sort -u | while read -r path; do
        [ -e "$copy/$path" ] || printf '%s\n' "$path"
    done >"$copy/.missing"
    awk -v missing="$copy/.missing" '
        BEGIN { while ((getline line < missing) > 0) absent[line] = 1; RS = "\001" }
        { text = $0
          while ((begin = index(text, "<!-- only with ")) > 0) {
              rest = substr(text, begin + 15); path = substr(rest, 1, index(rest, " -->") - 1)
              rest = substr(rest, length(path) + 5); end = index(rest, "<!-- end only -->")
              if (!end) { print FILENAME ": no <!-- end only --> after <!-- only with " path " -->" >"/dev/stderr"; exit 1 }
              inner = substr(rest, 1, end - 1); after = substr(rest, end + 17); before = substr(text, 1, begin - 1)
              alone = before ~ /\n$/ && after ~ /^\n/
              if (path in absent) inner = ""
              if (alone) { sub(/^\n/, "", inner); sub(/^\n/, "", after) }
              if (inner == "" && before ~ /[^\n] $/) sub(/ $/, "", before)
              text = before inner after }
          printf "%s", text }' "$page" >"$copy/.page"
    mv "$copy/.page" "$page"
    grep -oE '\]\([^)#: ]+' "$page" | sed 's/^](//' | sort -u | while read -r target; do
        [ -e "$(dirname "$page")/$target" ] || printf '%s\n' "$target"
    done >"$copy/.missing"
    awk -v missing="$copy/.missing" '
        BEGIN { while ((getline line < missing) > 0) target[line] = 1; RS = "\001" }
        { out = ""
          while (match($0, /\[[^\]\[]*\]\([^) ]*\)/)) {
              link = substr($0, RSTART, RLENGTH); text = link; to = link
              sub(/^\[/, "", text); sub(/\]\([^)]*\)$/, "", text); sub(/.*\]\(/, "", to); sub(/\)$/, "", to); sub(/#.*/, "", to)
              out = out substr($0, 1, RSTART - 1) (to in target ? text : link)
              $0 = substr($0, RSTART + RLENGTH) }
          printf "%s%s", out, $0 }' "$page" >"$copy/.page"
    mv "$copy/.page" "$page"
done
rm -f "$copy/.missing" "$copy/.rows"

printf '  SEARCH  %s files of the copy, for what students must not see\n' "$(find "$copy" -type f | wc -l)"
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

# Labs whose skeletons contain another lab's solution, whole or some of its lines: those that are held
# back, and those of this release.
held=
shown=
while read -r line; do
    case " $names " in
    *" ${line%% *} "*) shown="$shown    $line
" ;;
    *) held="$held    $line
" ;;
    esac
done <<END
$($tool gives)
END
[ -n "$wanted" ] || [ -z "$held" ] ||
    printf '  %s\n%s' 'Held back until you name them with LAB=, because they contain answers of earlier labs:' "$held"
[ -z "$shown" ] || printf '  %s\n%s' 'These contain answers of earlier labs:' "$shown"
