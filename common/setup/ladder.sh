#!/bin/sh
# ladder.sh BUILD LAB - for `make ladder`: history of the grades of a lab, or of all, as text, and
# as figures by gnuplot.
set -u
build=$1 lab=$2
out=$build/ladder
here=$(dirname "$0")
"$build/bin/lab" ladder --root . --build "$build" ${lab:+--lab "$lab"} --out "$out" \
    >"$build/ladder.txt" || exit
cat "$build/ladder.txt"
name=labs
[ -z "$lab" ] || name=$(sed -n '1s/^ *\([^ ]*\) on .*/\1/p' "$build/ladder.txt")
echo
if ! command -v gnuplot >/dev/null; then
    echo "  $out/$name.tsv; for the figure: sudo apt-get install gnuplot-nox"
    exit
fi
if [ -z "$lab" ]; then
    gnuplot -c "$here/ladder_labs.gp" "$out/$name" || exit
else
    tab=$(printf '\t')
    IFS=$tab read -r title unit names <"$out/$name.tsv"
    gnuplot -c "$here/ladder.gp" "$out/$name" "${title#\# }" "$unit" "$names" || exit
fi
echo "  $out/$name.svg, .png, .tsv"
