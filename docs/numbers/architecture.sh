#!/bin/sh
# architecture.sh BUILD OUT - the figure of docs/architecture.md, and its number of modules.
. docs/numbers/lib.sh

make -s modules BUILD="$build" >"$out/uses"
python3 docs/numbers/modules.py "$out/modules.svg" <"$out/uses"
say docs/architecture.md "the $(grep -vc '^[^ ]*\.c ' "$out/uses") modules"
