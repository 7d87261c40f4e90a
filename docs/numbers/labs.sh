#!/bin/sh
# labs.sh BUILD OUT - the table of docs/student/labs.md, from the labs' lab.ini; make check compares it with
# their handouts.
. docs/numbers/lib.sh

"$build/bin/lab" plan >"$out/plan.md"

# A recorded climb (docs/data/ladder), as make ladder shows it.
mkdir -p "$out/b/progress/climb" "$out/d"
cp docs/data/ladder/04-tiled.tsv "$out/b/progress/climb/"
{
    echo '```'
    TZ=UTC COLUMNS=80 "$build/bin/lab" ladder --build "$out/b" --lab 04 --out "$out/d"
    echo '```'
} >"$out/climb.md"
if command -v gnuplot >/dev/null; then
    tab=$(printf '\t')
    IFS=$tab read -r title unit names <"$out/d/04-tiled.tsv"
    gnuplot -c common/setup/ladder.gp "$out/d/04-tiled" "${title#\# }" "$unit" "$names" &&
        cp "$out/d/04-tiled.svg" "$out/ladder.svg"
fi
