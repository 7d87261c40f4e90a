#!/bin/sh
# check.sh BUILD - tests make picture: a lab's output equals the filtered picture, and a wrong one
# is detected.
set -u
. autograder/tests/lib.sh
python=
for python in python3 /usr/bin/python3 ''; do
    [ -z "$python" ] || "$python" -c 'import numpy, PIL' 2>/dev/null && break
done
[ -n "$python" ] || skip 'sudo apt-get install python3-numpy python3-pil'

# draw STATUS LAB SUBMISSION PICTURE FILTER: fails unless it ends with that status.
draw()
{
    BUILD=$build sh common/setup/picture.sh "$build" "$2" "$3" sim "$4" "$5" >"$work/said" 2>&1
    [ $? = "$1" ]
}

# 20 columns and 18 rows; the pixel of row 4 and column 7 is red, and all others are black.
{
    printf 'P6\n20 18\n255\n'
    "$python" -c 'import sys; p = bytearray(20 * 18 * 3); p[3 * (4 * 20 + 7)] = 255; sys.stdout.buffer.write(p)'
} >"$work/point.ppm"
cat >"$work/red.py" <<'E2'
"""The red pixels of the second panel of a sheet, whose panels are 20 wide and 8 apart."""
import sys
from PIL import Image
sheet = Image.open(sys.argv[1])
print(sheet.size, [(x - 28, y) for y in range(18) for x in range(28, 48) if sheet.getpixel((x, y)) == (255, 0, 0)])
E2
draw 0 02 solutions "$work/point.ppm" identity && [ "$("$python" "$work/red.py" "$build/picture/02/identity.png")" = '(48, 18) [(7, 4)]' ]
tell identity
# A cross-correlation: the tap in the lower right corner of 7 x 7 reads the pixel three rows below
# and three columns to the right.
draw 0 02 solutions "$work/point.ppm" shift && [ "$("$python" "$work/red.py" "$build/picture/02/shift.png")" = '(48, 18) [(4, 1)]' ]
tell shift

# Lab 00: the red pixel is (255 + 60, 60, 60), clamped to 255, and black becomes (60, 60, 60).  One
# missing block leaves the last 1080 - 1024 values, blue ones of the last three rows, unwritten.
cat >"$work/grey.py" <<'E2'
"""The colours of the second panel, and how many pixels have each."""
import sys
from PIL import Image
print(sorted(Image.open(sys.argv[1]).crop((28, 0, 48, 18)).getcolors()))
E2
draw 0 00 solutions "$work/point.ppm" '' && [ "$("$python" "$work/grey.py" "$build/picture/00/brighter.png")" = '[(1, (255, 60, 60)), (359, (60, 60, 60))]' ]
tell brighter
mkdir -p "$work/few/00-first-kernel"
sed 's|(p->pixels + THREADS - 1) / THREADS|p->pixels / THREADS|' solutions/00-first-kernel/brighten.cu >"$work/few/00-first-kernel/brighten.cu"
draw 1 00 "$work/few" "$work/point.ppm" '' && grep -q 'and in red its 56 wrong pixels' "$work/said"
tell a-block-too-few

# Tiles without their halo.
mkdir -p "$work/mine/04-tiled"
sed 's/i < tile.height; i/i < TILE; i/; s/j < tile.width; j/j < TILE; j/' solutions/04-tiled/conv.cu >"$work/mine/04-tiled/conv.cu"
! cmp -s solutions/04-tiled/conv.cu "$work/mine/04-tiled/conv.cu" && draw 1 04 "$work/mine" '' gauss && grep -q 'and in red its [0-9]* wrong pixels' "$work/said" &&
    grep -q 'lack the halo' "$work/said"
tell without-a-halo

# refuses WORDS LAB PICTURE FILTER: one line that has these words
refuses() { draw 2 "$2" solutions "$3" "$4" && [ "$(wc -l <"$work/said")" = 1 ] && grep -q "$1" "$work/said"; }
refuses "lab 02 has no filter 'blur'; it has: identity, box" 02 '' blur && refuses "lab 00 has no filter 'box'; it has: brighter, contrast" 00 '' box
tell no-such-filter
refuses 'there is no such file' 02 "$work/none.png" box
tell no-such-file
head -c 400 "$work/point.ppm" >"$work/torn.ppm"
refuses 'no picture that can be read' 02 "$work/torn.ppm" box
tell torn
refuses 'only labs 00 to 04 accept' 05 '' box && refuses 'which lab?' '' '' box
tell other-labs
exit $failed
