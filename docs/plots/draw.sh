#!/bin/sh
# draw.sh BUILD - the figures and tables of docs/cheng.md from the numbers in docs/data/cheng.
set -eu
build=${1:?usage: draw.sh BUILD}
data=docs/data/cheng
out=$build/plots
mkdir -p "$out"

{
    echo '| step | figure | the paper | | here | | compute | load images | load filters | store | other |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
    awk -F'\t' '
        FNR == 1 { next }
        FILENAME ~ /paper/ { cycles[$1] = $2; change[$1] = $3; figure[$1] = $5; next }
        function percent(x) { return sprintf("%.0f %%", 100 * x) }
        {
            before = $1 == "outer-product engine" ? unrolled : $1 ~ /instead/ ? extracted : last
            printf "| %s | %s | %s | %s | %d | %s |", $1, figure[$1], cycles[$1],
                change[$1] == "" ? "" : sprintf("%+.1f %%", 100 * change[$1]), $2, before ? sprintf("%+.1f %%", 100 * ($2 / before - 1)) : ""
            printf " %s | %s | %s | %s | %s |\n", percent($5), percent($3), percent($4), percent($6), percent($7)
            last = $2
            if ($1 == "unrolled") unrolled = $2
            if ($1 == "conditionals extracted") extracted = $2
        }' "$data/paper.tsv" "$data/steps.tsv"
} >"$out/steps.md"
# Instructions that do not stand in the figure, or not in ours, have an empty half.
for figure in 9 13; do
    {
        echo '| in the paper | executed by warps | cycles each | here | executed by warps | cycles each |'
        echo '| --- | --- | --- | --- | --- | --- |'
        awk -F'\t' '
            function paper(op) { return op in name ? sprintf("`%s` | %d | %s", name[op], runs[op], cycles[op]) : " | |" }
            FILENAME ~ /paper/ { if (FNR > 1) { name[$1] = $2; runs[$1] = $3; cycles[$1] = $4 } next }
            { printf "| %s | `%s` | %d | %s |\n", paper($1), $1, $2, $3 == "0.0" ? "folded" : $3 }
            END { if ("-" in name) printf "| %s | | | |\n", paper("-") }' "$data/paper-fig$figure.tsv" "$data/fig$figure.tsv"
    } >"$out/fig$figure.md"
done
{
    echo '| lab | H200, µs | simulated h200, µs | simulated gtx480, thousand cycles |'
    echo '| --- | --- | --- | --- |'
    awk -F'\t' 'FNR == 1 { next } FILENAME ~ /h200/ { us[$1] = $2; next }
        { printf "| %s | %s | %.1f | %s |\n", $1, us[$1], $3 / 1980, $2 == "-" ? "–" : sprintf("%d", $2 / 1000) }' \
        "$data/ladder-h200.tsv" "$data/ladder-sim.tsv"
} >"$out/ladder.md"

if command -v gnuplot >/dev/null; then
    gnuplot -e "data='$data/steps.tsv'; out='docs/figures/cheng-steps.svg'" docs/plots/steps.gp
    gnuplot -e "measured='$data/ladder-h200.tsv'; simulated='$data/ladder-sim.tsv'; out='docs/figures/cheng-ladder.svg'" docs/plots/ladder.gp
    gnuplot -e "measured='$data/unroll-h200.tsv'; out='docs/figures/06-unroll.svg'" docs/plots/unroll.gp
else
    echo "plots: no gnuplot, so docs/figures is left as it was; install the package gnuplot-nox" >&2
fi
sh common/setup/splice.sh docs/cheng.md "$out"
echo "docs/cheng.md and docs/figures/{cheng-steps,cheng-ladder,06-unroll}.svg are up to date"
