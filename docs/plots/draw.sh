#!/bin/sh
# draw.sh BUILD - the figures and tables of docs/cheng.md, docs/compare.md and the handouts of labs 10 and 11 from the numbers
# in docs/data/cheng and docs/data/compare.
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

# The comparison, and the ladder from lab 02 to 11.
data=docs/data/compare
sh common/compare/draw.sh "$data/h200.tsv" "$out"
sh common/compare/sparse_draw.sh "$data/sparse-h200.tsv" "$out"
{
    echo '| | H200, µs | simulated h200, µs | H200, a large layer, ms |'
    echo '| --- | --- | --- | --- |'
    awk -F'\t' '
        BEGIN { what["step-1"] = "tiles of 16×16 in shared memory, one sum a thread"; what["step-2"] = "64×64, 4×4 sums a thread in registers"
                what["step-3"] = "the tiles read as `float4`"; what["step-4"] = "128×128, 8×8 sums a thread"
                what["step-5"] = "the next tiles loaded ahead, two buffers"; what["10-implicit-gemm"] = "lab 10: tiles by size, pieces, rows read ahead, stores of `float4`" }
        FNR == 1 { next }
        FILENAME ~ /h200/ { us[$1] = $2; large[$1] = $3; next }
        $1 in what || $1 == "09-im2col" { printf "| %s | %.1f | %.1f | %.2f |\n", $1 in what ? what[$1] : "lab 09: X_unroll written, then read", us[$1], $2 / 1980,
            large[$1] / 1000 }' "$data/gemm-h200.tsv" "$data/gemm-sim.tsv"
} >"$out/gemm.md"
awk -F'\t' '
    { us[$1, $2] = $3; tf[$1, $2] = $4 }
    $1 ~ /^vgg.*n32/ && !($1 in seen) { seen[$1] = ++n; name[n] = $1 }
    END {
        print "| layer | lab 10, fp32 | lab 11 | cuDNN, TF32 | lab 11, TFLOP/s | cuDNN, TFLOP/s | lab 11 of cuDNN |"
        print "| --- | --- | --- | --- | --- | --- | --- |"
        for (i = 1; i <= n; i++) {
            l = name[i]; eleven = "11-tensor-cores"; c = "cuDNN TF32"
            printf "| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.2f |\n", l, us[l, "10-implicit-gemm"], us[l, eleven], us[l, c], tf[l, eleven], tf[l, c], us[l, c] / us[l, eleven]
        }
    }' "$out/best.tsv" >"$out/tensor.md"
if command -v gnuplot >/dev/null; then
    gnuplot -e "measured='$data/gemm-h200.tsv'; simulated='$data/gemm-sim.tsv'; out='docs/figures/gemm-ladder.svg'" docs/plots/gemm.gp
    cp "$out/compare.svg" "$out/sparse.svg" docs/figures
fi
for page in docs/compare.md labs/10-implicit-gemm/README.md labs/11-tensor-cores/README.md; do sh common/setup/splice.sh "$page" "$out"; done
echo "docs/cheng.md, docs/compare.md, two handouts and docs/figures are up to date"
