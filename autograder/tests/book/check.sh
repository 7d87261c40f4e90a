#!/bin/sh
# check.sh BUILD - checks the book: order of the chapters, targets of links, use of every glossary
# term, and absence of answers.  It also checks that errors in a small test book are found.
#
# This reads the book as `make book` does (book/pages.py), and so does Sphinx, which writes nothing
# here.
set -u
. autograder/tests/lib.sh
root=$PWD

python3 book/pages.py "$work/text" >"$work/said" 2>&1
tell pages
"$build/bin/handout" --root . --build "$build" search --out "$work/text" >"$work/said" 2>&1
tell 'no answer is shown'
[ "$(find "$work/text/labs" -name README.md | wc -l)" = "$(find labs -name lab.ini | wc -l)" ] &&
    grep -q 'END TODO(6)' "$work/text/labs/04-tiled/README.md" &&
    grep -q 'ld.global.ca.u64' "$work/text/book/gpu.md"
tell 'one chapter per lab, with code from the sources'

# An answer in a chapter must be found by the search.
sed -n '/TODO(5)/,/END TODO(5)/p' solutions/04-tiled/conv.cu >>"$work/text/book/gpu.md"
! "$build/bin/handout" --root . --build "$build" search --out "$work/text" >"$work/said" 2>&1 &&
    grep -q 'TODO(5) of 04-tiled' "$work/said"
tell 'an answer would be found'

# Sphinx checks more of Markdown: directives, headings that skip a level, anchors with other rules.

for python in python3 /usr/bin/python3 ''; do
    [ -z "$python" ] || "$python" -c 'import sphinx, myst_parser' 2>/dev/null && break
done
if [ "$python" ]; then
    "$python" -m sphinx -q -W --keep-going -c book -b dummy . "$work/read" >"$work/said" 2>&1
    tell 'Sphinx has no warning'
elif [ "${CI:-}" ]; then
    echo 'not ok book/Sphinx: sudo apt-get install python3-sphinx python3-myst-parser'
    failed=1
else
    echo 'skipped: book/Sphinx: sudo apt-get install python3-sphinx python3-myst-parser'
fi

# The theme as Debian builds it: a script of modules, and the dark style only with a button.
mkdir -p "$work/static/scripts" "$work/static/styles"
printf 'import Spy from "./spy.js";\nnew Spy();\n' >"$work/static/scripts/furo.js"
echo 'this.Spy = function () {};' >"$work/static/scripts/spy.js"
printf 'body[data-theme="dark"] {\n  --back: black; }\n' >"$work/static/styles/furo.css"
PYTHONPATH=book python3 -c 'import sys, theme; theme.mend(sys.argv[1])' "$work/static" >"$work/said" 2>&1 &&
    [ "$(cat "$work/static/scripts/furo.js")" = "$(printf 'this.Spy = function () {};\nnew Spy();')" ] &&
    grep -A 1 'prefers-color-scheme: dark' "$work/static/styles/furo.css" | grep -q 'not(.data-theme="light".)' &&
    [ "$(grep -c 'black' "$work/static/styles/furo.css")" = 2 ] && cp -r "$work/static" "$work/twice" &&
    PYTHONPATH=book python3 -c 'import sys, theme; theme.mend(sys.argv[1])' "$work/twice" &&
    diff -r "$work/static" "$work/twice" >"$work/differ"
tell 'what the theme lost is put back, once'

# A book of two chapters, a lab and a glossary.
# shellcheck disable=SC2016 # the backquotes are Markdown's
start_book()
{
    rm -rf "$work/b"
    mkdir -p "$work/b/book" "$work/b/docs/student" "$work/b/docs/instructor" "$work/b/labs/02-x" \
        "$work/b/autograder/tests/skeletons/02-x"
    cd "$work/b" || exit 1
    cp "$root/book/pages.py" book
    printf '# Book\n\n```{toctree}\n:glob:\n\nmine\n../labs/*/README\n../docs/student/glossary\n```\n' \
        >book/index.md
    printf '# Mine\n\n[A lab](../labs/02-x/README.md#the-task). A warp, a lane.\n\n```{literalinclude} code.cu\n:start-after: begin\n:end-before: end\n```\n' >book/mine.md
    printf 'begin\nint i;\nend\n' >book/code.cu
    printf '# Lab\n\n## The task\n\n[Words](../../docs/student/glossary.md), [secrets](../../docs/instructor/class.md)\n' >labs/02-x/README.md
    echo 'source = conv.cu' >labs/02-x/lab.ini
    printf '// TODO(1): This.\n// END TODO(1)\nsolved();\n' >autograder/tests/skeletons/02-x/conv.cu
    printf '# Words\n\n## Terms\n\n| word | means here |\n| --- | --- |\n| lane | one |\n| warp | 32 |\n' >docs/student/glossary.md
    echo '# Class' >docs/instructor/class.md
}

# finds NAME WORDS: one line reports the error with these words.
finds()
{
    ! python3 book/pages.py >"$work/said" 2>&1 && [ "$(wc -l <"$work/said")" = 1 ] &&
        grep -qF -- "$2" "$work/said"
    tell "found: $1"
}

start_book
# shellcheck disable=SC2016
python3 book/pages.py out >"$work/said" 2>&1 && grep -q 'TODO(1)' out/labs/02-x/README.md &&
    ! grep -q solved out/labs/02-x/README.md &&
    grep -qF 'secrets (`docs/instructor/class.md`)' out/labs/02-x/README.md &&
    grep -q 'int i;' out/book/mine.md
tell 'a small book is right'
python3 book/pages.py --help >"$work/said" 2>&1 && grep -q '^usage: pages.py' "$work/said" &&
    [ ! -e ./--help ]
tell 'its help writes no folder'
sed -i 's/^mine$/mine\nyours/' book/index.md
finds 'a chapter that is not there' 'book/index.md lists book/yours.md, which is not there'
start_book
sed -i 's/^mine$/mine\nmine/' book/index.md
finds 'a chapter twice' 'book/index.md lists book/mine.md twice'
start_book
echo '# New' >docs/new.md
finds 'a page that is nowhere' \
    'docs/new.md must be either a chapter in book/index.md or left out in book/pages.py'
start_book
sed -i '/labs/d' book/index.md
finds 'a lab without its chapter' 'labs/02-x has no chapter'
start_book
sed -i 's/class.md/none.md/' labs/02-x/README.md
finds 'a link to nothing' "labs/02-x/README.md: the link 'secrets' leads to docs/instructor/none.md, which is not there"
start_book
sed -i 's/## The task/## Your task/' labs/02-x/README.md
finds 'a heading that moved' "book/mine.md: the link 'A lab' leads to #the-task of labs/02-x/README.md, which has no such heading"
start_book
sed -i 's/begin/start/' book/code.cu
finds 'code that moved' 'book/mine.md includes code of book/code.cu, which has no such place'
start_book
sed -i 's/A warp, a lane/A warp/' book/mine.md
finds 'a word that nobody uses' "docs/student/glossary.md has 'lane', which no chapter uses"
start_book
sed -i 's/| warp |/| lane |/' docs/student/glossary.md
finds 'a word twice' "docs/student/glossary.md has 'lane' twice"
exit $failed
