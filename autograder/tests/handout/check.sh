#!/bin/sh
# check.sh BUILD - tests a student's copy: it shows no answer, a lab solved in it gets the same
# mark as here, and the next release merges with the student's changes.
# shellcheck disable=SC2013,SC2015,SC2181,SC2317  # numbers are words; conditions, not choices;
# functions that all_found calls
set -u
. autograder/tests/lib.sh
root=$(pwd)

# release OUT LABS
release()
{
    sh autograder/handout/handout.sh "$build" "$work/$1" "$2" >"$work/out" 2>&1
}

command -v git >/dev/null || { echo 'skipped: no git here: sudo apt-get install git'; exit 0; }

# ---- lab 04: its baseline is lab 02's solution ----
release release 04 && [ -f "$work/release/labs/04-tiled/.sealed" ]
tell made
release small 01 && release small 01 && grep -q 'already is this release' "$work/out" &&
    [ "$(git -C "$work/small" rev-list --count HEAD)" = 1 ]
tell same-again-changes-nothing
cp -a "$work/small" "$work/same" && release small 02
[ $? = 2 ] && diff -r "$work/small" "$work/same" >"$work/differ" &&
    grep -q 'has already released 01, which this release would delete.*REMOVE="01"' "$work/out"
tell a-lab-is-not-removed-by-omission
cp -a "$work/small" "$work/fewer" && sh autograder/handout/handout.sh "$build" "$work/fewer" 02 01 >"$work/out" 2>&1 &&
    [ "$(cat "$work/fewer/RELEASE")" = 02-naive ] && [ ! -e "$work/fewer/labs/01-sequential" ]
tell a-named-lab-is-removed
mkdir "$work/other" && : >"$work/other/file"
sh autograder/handout/handout.sh "$build" "$work/other" 04 >"$work/out" 2>&1
[ $? = 2 ] && [ "$(wc -l <"$work/out")" = 1 ] && grep -q "is not a student's copy" "$work/out" &&
    [ "$(ls "$work/other")" = file ]
tell another-folder-is-left-alone

# Labs whose skeletons contain an earlier lab's solution are held back; listed here, because nvcc
# never sees the text.
"$build/bin/handout" names >"$work/out" && grep -qx 05-register-tiled "$work/out" &&
    ! grep -q 06-unrolled "$work/out"
tell a-skeleton-that-answers-another-lab-is-held-back
grep -qx 10-implicit-gemm "$work/out"
tell a-first-kernel-s-line-holds-nothing-back

# ---- planted secrets are found ---- A whole region, a true value, a hint, a hidden shape's keys;
# plain, in a comment, with line breaks.
region()
{
    awk -v n="$2" '$0 ~ "END TODO\\(" n "\\)" { inside = 0 } inside { print } $0 ~ "// TODO\\(" n "\\)" { inside = 1 }' "$1"
}

# shows PATH WHAT: adds standard input to PATH; the copy must be rejected for that reason.
shows()
{
    rm -rf "$work/planted"
    mkdir -p "$work/planted/$(dirname "$1")"
    [ ! -f "$work/release/$1" ] || cp "$work/release/$1" "$work/planted/$1"
    cat >>"$work/planted/$1"
    "$build/bin/handout" search --out "$work/planted" >"$work/out" 2>&1
    [ $? = 1 ] && grep -qF -- "$1 shows $2" "$work/out"
}

# plant PATH WHAT: writes standard input to a separate file, which the search below must find.
plant()
{
    mkdir -p "$work/planted/$(dirname "$1")"
    cat >"$work/planted/$1"
    echo "$1 shows $2" >>"$work/expected"
}

# all_found COMMAND...: each planted text is found.  Labs with equal texts are found in each
# other's, too.
all_found()
{
    rm -rf "$work/planted" "$work/expected"
    "$@"
    "$build/bin/handout" search --out "$work/planted" | sort >"$work/found"
    sort "$work/expected" | comm -23 - "$work/found" >"$work/out" && [ -s "$work/found" ] &&
        [ ! -s "$work/out" ]
}

# Every region of every solution that is long enough to be searched for.
regions()
{
    for source in solutions/*/conv.c*; do
        lab=$(basename "$(dirname "$source")")
        for n in $(sed -n 's,.*// TODO(\([0-9]*\)):.*,\1,p' "$source"); do
            region "$source" "$n" >"$work/region"
            [ "$(grep -v '^ *//' "$work/region" | sed 's,//.*,,' | tr -d ' \t\n/*#>+|' | wc -c)" \
                -ge 20 ] || continue
            plant "docs/$lab-$n.md" "TODO($n) of $lab" <"$work/region"
        done
    done
}
all_found regions
tell every-region-is-found
region solutions/09-im2col/conv.cu 1 | sed 's,^,// ,' |
    shows labs/04-tiled/README.md 'TODO(1) of 09-im2col'
tell a-region-in-a-comment
# Three lines of a region, in another order and with other text in between; two lines are none.
some_lines()
{
    region solutions/04-tiled/conv.cu 5 | grep -E "$1" | sort -r | sed 's/^ */some text, then: /'
}
some_lines 'weights4 = |float pixel|weight.z' | shows docs/student/errata.md '3 of 13 lines of TODO(5) of 04-tiled'
tell three-lines-of-a-region
! some_lines 'float pixel|weight.z' | shows docs/student/errata.md 'TODO(5) of 04-tiled' && [ ! -s "$work/out" ]
tell two-lines-of-a-region-are-no-find
region solutions/04-tiled/conv.cu 2 | tr -s ' ' '\n' |
    shows common/base/error.h 'TODO(2) of 04-tiled'
tell a-region-broken-over-lines
echo 'bytes = 1456128' | shows labs/04-tiled/predict.ini 'the value of prediction bytes of 04-tiled'
tell a-prediction-that-is-filled-in
echo 'It is 1,456,128 bytes.' | shows docs/student/errata.md 'the value of prediction bytes of 04-tiled'
tell a-truth-in-a-page

# lines PATTERN WHAT: plants the lines of each lab.ini that start with it.
lines()
{
    for lab in labs/*/; do
        lab=$(basename "$lab")
        awk -v pattern="$1" '
            /^[^ ]/ { if (line) print line; line = "" }
            /^\[/ { name = $2; sub(/\]/, "", name) }
            $0 ~ pattern { line = name "\t" $0; next }
            line { line = line $0 }
            END { if (line) print line }' "labs/$lab/lab.ini" >"$work/lines"
        while IFS="$(printf '\t')" read -r name line; do
            echo "$line" | plant "labs/$lab/$2-$name.ini" "$3 $name of $lab"
        done <"$work/lines"
    done
}
all_found lines '^(formula|metric) *=' truth 'the truth of prediction'
tell every-truth-is-found
all_found lines '^text *=' hint hint
tell every-hint-is-found
echo 'layout=chwn N=64 C=6 K=16' |
    shows labs/04-tiled/README.md 'keys of hidden shapes of 08-accelerators'
tell hidden-keys
# Values drawn from a seed are in no file.
for seed in 1 2 3; do "$build/bin/lab" hidden --lab 04 --seed "$seed"; done >"$work/hidden" &&
    [ -s "$work/hidden" ] && ! grep -rqFf "$work/hidden" --exclude-dir=.git "$work/release"
tell no-hidden-shape
# If the instructor's tree contains a secret, the release is unchanged.
cp -a "$work/small" "$work/kept"
(
    mkdir "$work/full" && cd "$work/full" || exit 1
    for part in "$root"/* "$root"/.gitignore; do ln -s "$part" .; done
    rm common && cp -a "$root/common" common
    region solutions/02-naive/conv.cu 1 >>common/base/error.h
    sh autograder/handout/handout.sh "$build" "$work/small" 01 >"$work/out" 2>&1
    [ $? = 2 ] && grep -q 'common/base/error.h shows TODO(1) of 02-naive' "$work/out"
) && diff -r "$work/kept" "$work/small" >>"$work/out"
tell a-release-that-shows-something-is-not-made

# ---- compiled objects in a copy (common/setup/objects.sh) ----
objects()
{
    (cd "$work/objects" && sh "$root/common/setup/objects.sh" unpack build ../objects.tar.gz "${1:-$cuda}") >"$work/out" 2>&1
}
again()
{
    rm -rf "$work/objects/build/obj" && cp "$build/toolchain.env" "$work/objects/build/"
}
cuda=$(sed -n 's/^CUDA_INCLUDE=//p' "$build/toolchain.env")
names='common/base/error common/cuda/runtime/runtime_host'
for name in $names; do echo "$build/obj/$name.o"; done >"$work/list"
for file in objects.tar.gz twice.tar.gz; do
    xargs sh common/setup/objects.sh pack "$build" "$work/$file" <"$work/list"
done
cmp "$work/objects.tar.gz" "$work/twice.tar.gz" >"$work/out"
tell compiled-objects-give-the-same-archive-twice
mkdir -p "$work/objects/build" && cp -r common "$work/objects/" && again && objects &&
    (cd "$work/objects/build/obj" && ls common/base/error.o common/cuda/runtime/runtime_host.o) >>"$work/out" &&
    [ "$(find "$work/objects/build/obj/common/base/error.o" -newer "$work/objects/common/base/error.c")" ] &&
    grep -q '^build/obj/common/base/error.o: common/base/error.c' "$work/objects/build/obj/common/base/error.d" &&
    rm "$work/objects/build/obj/common/base/error.o" && objects && [ ! -e "$work/objects/build/obj/common/base/error.o" ]
tell a-first-build-uses-them-once
again && mkdir "$work/cuda" && echo '#define CUDART_VERSION 12000' >"$work/cuda/cuda_runtime_api.h" && objects "$work/cuda" &&
    [ -e "$work/objects/build/obj/common/base/error.o" ] && [ ! -e "$work/objects/build/obj/common/cuda/runtime" ]
tell another-toolkit-compiles-what-includes-its-headers
again && printf '#!/bin/sh\necho other-machine\n' >"$work/cc" && chmod +x "$work/cc" &&
    sed -i "s|^CC=.*|CC=$work/cc|" "$work/objects/build/toolchain.env" && objects && [ ! -e "$work/objects/build/obj/common" ]
tell another-machine-compiles-everything
again && echo >>"$work/objects/common/base/error.h" && objects && [ ! -e "$work/objects/build/obj/common" ]
tell changed-sources-are-compiled
rm -rf "$work/objects"

# ---- solving a lab in the copy ----
copy=$work/student
git clone -q "$work/release" "$copy"
for n in 1 2 3 4 5 6 7 8 9; do
    region solutions/04-tiled/conv.cu $n >"$work/region"
    awk -v n=$n -v from="$work/region" '
        $0 ~ "END TODO\\(" n "\\)" { while ((getline line < from) > 0) print line; inside = 0 }
        !inside { print }
        $0 ~ "// TODO\\(" n "\\)" { inside = 1 }' "$copy/labs/04-tiled/conv.cu" >"$work/filled"
    mv "$work/filled" "$copy/labs/04-tiled/conv.cu"
done
# One prediction has no answer: its record must not reveal the true value.
mkdir -p "$work/solved/04-tiled"
cp solutions/04-tiled/conv.cu "$work/solved/04-tiled/"
sed 's/^store-sectors .*/store-sectors =/' solutions/04-tiled/predict.ini |
    tee "$work/solved/04-tiled/predict.ini" >"$copy/labs/04-tiled/predict.ini"
# The copy uses this tree's programs and compiled objects.
mkdir -p "$copy/build"
for part in bin lib obj cache toolchain.env; do ln -s "$build/$part" "$copy/build/$part"; done

# grade_in ROOT SUBMISSION NAME: grades a timed case there, and prints its record without paths and
# times.
grade_in()
{
    "$build/bin/grade" --root "$1" --build "$1/build" --submission "$2" --lab 04 --case lenet-c1 \
        --engine sim --seed 5 --results "$work/$3" >"$work/out" 2>&1 &&
        jq 'del(.source, .graded_at, .seconds, .spent, .baseline_digest, .reference_digest)' \
        "$work/$3/04-tiled.json" >"$work/$3.json"
}
ln -s "$build" "$work/build"
mkdir "$work/here" && for part in "$root"/*; do [ "$(basename "$part")" = build ] || ln -s "$part" "$work/here/"; done && ln -s "$build" "$work/here/build"
command -v jq >/dev/null || { echo 'skipped: no jq here: sudo apt-get install jq'; exit "$failed"; }
grade_in "$copy" "$copy/labs" there && grade_in "$work/here" "$work/solved" ours &&
    jq -e '.cases[0].speed | .points >= .possible and .possible > 0' "$work/there.json" \
    >/dev/null && diff "$work/ours.json" "$work/there.json" >"$work/out"
tell solved-in-the-copy-has-the-mark-and-record-that-it-has-here
cp "$work/there.json" "$work/out"
jq -e '[.predictions[] | select(.answer == null)] | length == 1 and all(.metric == "" and .truth == null)' "$work/there.json" >/dev/null
tell a-record-gives-no-truth-away

# ---- make in a copy ----
make -s -C "$copy" >"$work/out" 2>&1 && grep -q 'make grade' "$work/out" &&
    grep -q '04-tiled' "$work/out" && ! grep -qE 'make (solution|test|bundle)' "$work/out"
tell make-alone-lists-what-a-copy-has
make -s -C "$copy" test >"$work/out" 2>&1
[ $? = 2 ] && [ "$(wc -l <"$work/out")" = 1 ] &&
    grep -q "test: this is a student's copy" "$work/out"
tell make-test-says-what-it-is
"$build/bin/lab" solution --root "$copy" --build "$copy/build" --lab 04 >"$work/out" 2>&1
[ $? != 0 ] && grep -q "this is a student's copy" "$work/out"
tell no-solution

# ---- updates ----
rm -rf "$copy/build"
next="$work/release"
commit_next()
{
    git -C "$next" -c user.name=Workbook -c user.email=workbook@localhost commit -qam "$1"
}
update()
{
    (cd "$copy" && sh common/setup/update.sh "$1" >"$work/out" 2>&1)
}
cp "$copy/labs/04-tiled/conv.cu" "$work/mine"
echo 'my notes' >"$copy/labs/04-tiled/notes.txt"
echo 'A sentence more.' >>"$next/labs/04-tiled/README.md" && commit_next 'A page'
update "$next" && cmp "$work/mine" "$copy/labs/04-tiled/conv.cu" &&
    grep -q 'A sentence more' "$copy/labs/04-tiled/README.md" &&
    grep -q 'my notes' "$copy/labs/04-tiled/notes.txt"
tell an-update-merges-over-an-edited-lab
update "$next" && grep -q 'already have this release' "$work/out"
tell an-update-twice
# The instructor's folder on a shared disk: others may read it, and git accepts another owner.  Only
# root can change the owner here.
[ "$(stat -c %a "$work/release")" = "$(cd "$work" && mkdir usual && stat -c %a usual)" ] &&
    cp -a "$next" "$work/theirs" && { [ "$(id -u)" != 0 ] || chown -R nobody "$work/theirs"; } &&
    update "$work/theirs" && grep -q 'already have this release' "$work/out" &&
    mkdir "$work/empty" && ! update "$work/empty" && [ "$(wc -l <"$work/out")" = 1 ] &&
    grep -q "$work/empty has no release to download: .*git repository" "$work/out"
tell an-update-from-somebody-elses-folder
# The skeleton changes near the student's work, and so does a program that the student has changed.
sed -i 's,^.*END TODO(1).*,// a new line of the skeleton\n&,' "$next/labs/04-tiled/conv.cu"
echo '# ours' >>"$next/Makefile" && echo '# the student'\''s' >>"$copy/Makefile" &&
    commit_next 'A skeleton'
update "$next" && cmp "$work/mine" "$copy/labs/04-tiled/conv.cu" &&
    cmp "$next/labs/04-tiled/conv.cu" "$copy/labs/04-tiled/conv.cu.new" &&
    grep -q "both changed labs/04-tiled/conv.cu: the release's version is labs/04-tiled/conv.cu.new" \
    "$work/out" && grep -q 'both changed Makefile: your version is Makefile.mine' "$work/out" &&
    cmp "$next/Makefile" "$copy/Makefile" && grep -q "the student's" "$copy/Makefile.mine" &&
    ! git -C "$copy" status --porcelain | grep -v "^??"
tell an-update-keeps-both-where-both-changed
sed -i '1s/^/<!-- mine -->\n/' "$copy/README.md" && echo 'More.' >>"$next/README.md" &&
    commit_next 'More' && update "$next" &&
    grep -q 'git merged your changes of README.md' "$work/out" &&
    grep -q mine "$copy/README.md" && grep -q '^More.$' "$copy/README.md"
tell an-update-names-what-git-merged
git init -q "$work/stranger" &&
    git -C "$work/stranger" -c user.name=a -c user.email=a@b commit -q --allow-empty -m x
update "$work/stranger"
[ $? = 2 ] && grep -q 'is not a release of this workbook' "$work/out" &&
    cmp "$work/mine" "$copy/labs/04-tiled/conv.cu"
tell a-stranger-is-no-release
(cd "$copy" && make update FROM="$work/nowhere" >"$work/out" 2>&1)
[ $? != 0 ] && [ "$(grep -vc '^  SETUP ' "$work/out")" = 1 ] &&
    grep -q "^update: $work/nowhere has no release to download: " "$work/out"
tell make-update-fails-in-one-line
rm -rf "$copy/.git"
update "$next"
[ $? = 2 ] && [ "$(wc -l <"$work/out")" = 1 ] && grep -q 'is not a git repository' "$work/out"
tell no-repository
exit "$failed"
