#!/bin/sh
# check.sh BUILD - tests make see: the page of lab 04's solution is complete, correct and displayed
# by a browser.
#
# The expected contents follow from the lab: a block of 16 x 16 outputs of a 5 x 5 filter reads 20
# x 20 inputs.  The right neighbour also reads 4 columns of these, and the lower one 4 rows.
# shellcheck disable=SC2016  # jq's names have a dollar
set -u
. autograder/tests/lib.sh
command -v jq >/dev/null || skip 'sudo apt-get install jq'

# see LAB OPTION...: the page, at $work/page.html
see()
{
    lab=$1
    shift
    "$build/bin/lab" see --root . --build "$build" --submission solutions --lab "$lab" \
        --out "$work/page.html" "$@" >"$work/said" 2>&1
}
ask() { jq -e "$@" "$work/data.json" >>"$work/said" 2>&1; }

see 04 --case lenet-c1 --line 61 &&
    sed -n 's/^const data = \(.*\);$/\1/p' "$work/page.html" >"$work/data.json" &&
    ask '.lab == "04-tiled" and .file == "conv.cu" and .line == 61 and .threads == [16, 16, 1]'
tell page
ask '[.blocks[].block] == [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]'
tell neighbours
ask '.blocks[0].arrays[] | select(.name == "x") | .dim == [192, 1, 32, 32] and ([.reads[][1]] | add) == 400 and .writes == []' &&
    ask '.blocks[0].arrays[] | select(.name == "y") | ([.writes[][1]] | add) == 6 * 256 and .reads == []'
tell tile-and-halo
# Each access on the page belongs to an instruction that it names, and to an active lane.
ask '. as $d | [.blocks[].sights[]] | length > 100 and all(.[]; .mask > 0 and $d.instructions[.ins | tostring].op != null)'
tell accesses
see 05 --case table-1 && # local memory, too
    sed -n 's/^const data = \(.*\);$/\1/p' "$work/page.html" >"$work/local.json" &&
    jq -e '. as $d | [.blocks[].sights[]] | any(.[]; .kind == "local") and
        all(.[]; $d.instructions[.ins | tostring].op != null)' \
        "$work/local.json" >>"$work/said" 2>&1
tell local-memory
see 04 --case lenet-c1 --line 61
if command -v chromium >/dev/null; then
    timeout 3000 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" \
        --virtual-time-budget=3000 --dump-dom \
        "file://$work/page.html" >"$work/dom" 2>"$work/said" &&
        grep -q 'conv.cu:61: ld.global' "$work/dom" &&
        grep -q 'touches 400 of 1024 elements; 144 of them' "$work/dom" &&
        grep -q 'All 32 lanes read 4 bytes each. They touch 128 bytes in 4 sectors' "$work/dom" # two rows of 16
    tell browser
fi

# A source that would end the page's script is displayed as text.
mkdir -p "$work/mine/04-tiled" &&
    { echo '// </script><b id="out">'; cat solutions/04-tiled/conv.cu; } \
    >"$work/mine/04-tiled/conv.cu"
see 04 --case lenet-c1 --submission "$work/mine" && ! grep -q 'id="out"' "$work/page.html" &&
    grep -q 'u003c/script>' "$work/page.html"
tell script-in-the-source

# refuses WORDS OPTION...: one line that has these words, and a status
refuses()
{
    words=$1
    shift
    ! see "$@" && [ "$(wc -l <"$work/said")" = 1 ] && grep -q "$words" "$work/said"
}
# A line without accesses: the page is written, and opens at another line.
see 04 --case lenet-c1 --line 9999 && grep -q 'accesses memory at line 9999: the page opens at another$' "$work/said" &&
    see 04 --case lenet-c1 --line 61 && ! grep -q 'opens at another' "$work/said"
tell a-line-without-an-access
refuses 'no warps to show' 01
tell on-the-host
refuses 'omit ENGINE=gpu' 04 --engine gpu
tell on-a-card
refuses "'--line'\|--line" 04 --case lenet-c1 --line first
tell no-such-line
exit $failed
