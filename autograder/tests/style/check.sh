#!/bin/sh
# check.sh BUILD - compliance of all texts with docs/style/guide.md, and the checker itself: one
# planted text per rule is reported with its line, and allowed contexts are not.
# shellcheck disable=SC2016  # Markdown's backticks
set -eu
. autograder/tests/lib.sh
command -v python3 >/dev/null || skip 'no python3: sudo apt-get install python3'
style="python3 common/setup/style.py"

# expect NAME STATUS TEXT EXPECTED...: a file with TEXT ends the checker with STATUS, and its report
# has each EXPECTED line.
expect()
{
    name=$1 wanted=$2
    printf '%b' "$4" >"$work/$3"
    status=0
    $style "$work/$3" >"$work/out" 2>&1 || status=$?
    ok=$([ "$status" = "$wanted" ] && echo yes || echo no)
    file=$work/$3
    shift 4
    for line; do grep -qF "$file:$line" "$work/out" || ok=no; done
    [ "$ok" = yes ]
    tell "$name"
}
set +e
expect words 1 page.md 'Two\nwarps meet and\nmend it.\n' '2: word: "meet"' '3: word: "mend"'
expect allowed-contexts 0 page.md 'A matrix product meets the deadline. It stands for `mend`.\n'
expect vendors-terms 0 page.md 'The product page is here.\n'
expect fronted-sentences 1 page.md 'One is here.\nOf the loads the first remains.\n' '2: fronted'
expect questions 0 page.md 'How large is the tile? For example, it has 16 rows.\n'
expect long-sentences 1 page.md "$(printf 'word %.0s' $(seq 36)).\n" '1: long: 36 words'
expect headings 1 page.md '# What it is\n\n| of all | time, ms |\n| --- | --- |\n' '1: heading' '3: heading'
expect code-blocks 0 page.md '```\nmake mend\n```\n'
expect c-comments 1 file.c '/* One.\n *\n * It is mended. */\nint a; /* of the last launch */\n' '3: word' '4: clause'
expect c-messages 1 file.c 'f("Please mend the "\n  "first loop.");\nf("{ mend; this; is; code }");\n' '1: word'
expect shell-comments 1 file.sh '#!/bin/sh\n# It stands here.\necho "this will mend it now" # rooms\n' '2: word' '3: word: "mend"' '3: word: "rooms"'
expect make-comments 1 file.mk '# It stands here.\nall:\n' '1: word'
expect python-comments 1 file.py '"""It will mend the file."""\nx = 1  # it stands here\n' '1: word' '2: word'
expect ini-texts 1 file.ini '; It stands here.\nabout = the filter is mended here\n' '1: word' '2: word'
long="$(printf 'word %.0s' $(seq 20))"
expect usage-messages-are-lists 0 file.c "f(\"usage: x\\\\n\"\n  \"  --one FILE   $long\\\\n\"\n  \"  --two        $long\\\\n\");\n"
expect usage-messages 1 file.c "f(\"usage: x\\\\n\"\n  \"  --one FILE   $long\\\\n\"\n  \"               $long\\\\n\");\n" '2: long: 40 words'
expect help-is-a-list 0 file.mk "#:   make one [LAB=04]\n#:        [X=1]\n#:              $long\n#:   make two   $long\n"
expect help-texts 1 file.mk "#:   make one [LAB=04]\n#:        [X=1]\n#:              it stands here\n" '3: word: "stands"'
expect code-of-hints 1 lab.ini "[todo 1]\ncode = for each c: cost(products, c); $long\n    $long; it stands here\n" '3: word: "stands"'
expect keys-in-tables-of-cases 0 page.md '| case | kind |\n| --- | --- |\n| `relu` | relu |\n'
expect patch-heads 1 file.patch '# It stands here.\n--- a/x\n+++ b/x\n+// it stands here\n' '1: word'

# The budget: a rise fails; in CI a fall that was not recorded fails, too.
status=0
$style --quiet --budget docs/style/budget.tsv >"$work/out" 2>&1 || status=$?
[ "$status" = 0 ] || { [ "$status" = 3 ] && [ -z "${CI:-}" ]; }
tell no-count-rises
# A folder without a row has no findings.
[ -z "$(sed '1d; /^common\/simulator\//d; /^common\/debugger\t/d' docs/style/budget.tsv)" ]
tell only-simulator-and-debugger-have-findings
[ "$status" != 3 ] || echo '# counts have fallen: make style LOWER=1'

root=$(pwd)
in_tree()
{
    (cd "$work/tree" && python3 "$root/common/setup/style.py" --terms "$root/docs/style/terms.tsv" \
        --quiet --budget budget.tsv "$@")
}
fails_with()
{
    wanted=$1 status=0
    shift
    in_tree "$@" >"$work/out" 2>&1 || status=$?
    [ "$status" = "$wanted" ]
}
mkdir -p "$work/tree/docs"
git init -q "$work/tree"
echo 'It stands here. It stands there.' >"$work/tree/docs/page.md"
in_tree --lower
echo 'It is here. It stands there.' >"$work/tree/docs/page.md"
fails_with 3 && grep -q 'docs: 1 findings of word, the budget is 2' "$work/out"
tell a-fall-is-reported
in_tree --lower >"$work/out" && [ "$(sed -n 's/^docs\t//p' "$work/tree/budget.tsv" | cut -f 1)" = 1 ]
tell the-budget-is-lowered
echo 'It stands here. It stands there.' >"$work/tree/docs/page.md"
fails_with 1 && grep -qF 'docs/page.md:1: word: "stands"' "$work/out"
tell a-rise-fails
fails_with 1 --lower
tell the-budget-is-not-raised
exit "$failed"
