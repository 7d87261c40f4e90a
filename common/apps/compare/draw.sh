#!/bin/sh
# draw.sh TABLE OUT - makes OUT/layers.md, OUT/summary.md and OUT/compare.svg from compare's table.
set -eu
table=${1:?usage: draw.sh TABLE OUT}
out=${2:?usage: draw.sh TABLE OUT}

# The fastest side of each kind on every layer: layer, kind, us, TFLOP/s, share of the ceiling,
# share of the roofline, method.
awk -F'\t' '
    /^;/ || $1 == "layer" { next }
    {
        kind = $2 ~ /^cuDNN/ ? substr($2, 1, 10) : $2
        how = $3
        if ($2 ~ /^cuDNN/) how = $3 ", " ($2 ~ /NHWC/ ? "NHWC" : "NCHW")
        if ($2 ~ /^cuDNN fp32.*products/ || ($2 == "cuDNN fp32 NHWC" && $3 ~ /GEMM|direct/)) keep($1 "\t" "cuDNN products", $4, $5, $6, $7, how)
        keep($1 "\t" kind, $4, $5, $6, $7, how)
        # Labs 11 and 12 round their inputs, so they are not compared with fp32.
        if ($2 ~ /^[0-9]/ && $2 !~ /^1[12]/) keep($1 "\t" "best lab", $4, $5, $6, $7, $2)
        if ($2 ~ /^[0-9]/ && $2 !~ /fp16$/) keep($1 "\t" "best lab, TF32", $4, $5, $6, $7, $2)
        if ($2 ~ /^cuDNN (fp32|TF32)/) keep($1 "\t" "cuDNN, TF32 allowed", $4, $5, $6, $7, how)
        if (!($1 in seen)) { seen[$1] = ++layers; name[layers] = $1 }
    }
    function keep(key, us, tflops, ceiling, roofline, how) {
        if (key in best && best[key] <= us) return
        best[key] = us
        row[key] = us "\t" tflops "\t" ceiling "\t" roofline "\t" how
        kinds[substr(key, index(key, "\t") + 1)] = 1
    }
    END {
        for (i = 1; i <= layers; i++)
            for (kind in kinds)
                if ((name[i] "\t" kind) in row) print name[i] "\t" kind "\t" row[name[i] "\t" kind]
    }' "$table" >"$out/best.tsv"

awk -F'\t' '
    { us[$1, $2] = $3; tf[$1, $2] = $4; ceiling[$1, $2] = $5; roof[$1, $2] = $6; how[$1, $2] = $7 }
    !($1 in seen) { seen[$1] = ++layers; name[layers] = $1 }
    function cell(layer, kind) { return (layer, kind) in us ? sprintf(us[layer, kind] < 100 ? "%.1f" : "%.0f", us[layer, kind]) : "–" }
    function ratio(layer, a, b) { return (layer, a) in us && (layer, b) in us ? sprintf("%.2f", us[layer, a] / us[layer, b]) : "–" }
    function title(text, columns) {
        printf "%s%s\n\n%s\n", tables++ ? "\n" : "", text, columns
        gsub(/[^|]+/, " --- ", columns)
        print columns
    }
    END {
        ten = "10-implicit-gemm"; best = "best lab"; eleven = "11-tensor-cores"; twelve = "12-hopper"
        title("In fp32, µs:", "| layer | 02 | 04 | 09 | **10** | best lab | number of that lab | cuDNN fp32 | cuDNN algorithm | cuBLAS |")
        for (i = 1; i <= layers; i++) {
            l = name[i]
            printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", l, cell(l, "02-naive"), cell(l, "04-tiled"),
                cell(l, "09-im2col"), cell(l, ten), cell(l, best), substr(how[l, best], 1, 2),
                cell(l, "cuDNN fp32"), how[l, "cuDNN fp32"], cell(l, "cuBLAS fp32")
        }
        title("Lab 10 compared with the limits of the GPU and with cuDNN:", "| layer | TFLOP/s | of FMA | of roofline | cuDNN / 10 | no transform / 10 | cuDNN / best lab |")
        for (i = 1; i <= layers; i++) {
            l = name[i]
            printf "| %s | %.1f | %.0f %% | %.0f %% | %s | %s | %s |\n", l, tf[l, ten], 100 * ceiling[l, ten], 100 * roof[l, ten],
                ratio(l, "cuDNN fp32", ten), ratio(l, "cuDNN products", ten), ratio(l, "cuDNN fp32", best)
        }
        title("On tensor cores, µs:", "| layer | **11** | **12** | cuDNN TF32 | cuDNN TF32 / 11 | cuDNN TF32 / 12 | **12**, halves | cuDNN FP16 | cuDNN FP16 / 12 |")
        for (i = 1; i <= layers; i++) {
            l = name[i]
            printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", l, cell(l, eleven), cell(l, twelve), cell(l, "cuDNN TF32"),
                ratio(l, "cuDNN TF32", eleven), ratio(l, "cuDNN TF32", twelve),
                cell(l, "12-hopper-fp16"), cell(l, "cuDNN FP16"), ratio(l, "cuDNN FP16", "12-hopper-fp16")
        }
    }' "$out/best.tsv" >"$out/layers.md"

awk -F'\t' '
    { us[$1, $2] = $3 }
    !($1 in seen) { seen[$1] = ++layers; name[layers] = $1 }
    function line(text, mine, other, pattern,    i, n, sum, won, least, where, x) {
        least = 1e9
        for (i = 1; i <= layers; i++) {
            if (name[i] !~ pattern || !((name[i], mine) in us) || !((name[i], other) in us)) continue
            x = us[name[i], other] / us[name[i], mine]
            n++; sum += log(x); won += x >= 1
            if (x < least) { least = x; where = name[i] }
        }
        if (n) printf "| %s | %d | %.2f | %d | %.2f (%s) |\n", text, n, exp(sum / n), won, least, where
    }
    END {
        print "| compared programs | layers | speedup, geometric mean | layers with speedup above 1 | minimum speedup |"
        print "| --- | --- | --- | --- | --- |"
        line("lab 10 against cuDNN fp32, best of all its algorithms", "10-implicit-gemm", "cuDNN fp32", ".")
        line("lab 10 against cuDNN fp32 without FFT and Winograd", "10-implicit-gemm", "cuDNN products", ".")
        line("lab 10 against cuBLAS, which finds X_unroll in memory", "10-implicit-gemm", "cuBLAS fp32", ".")
        line("lab 14 against cuDNN fp32, best of all its algorithms, VGG, N=32", "14-winograd", "cuDNN fp32", "vgg.*n32")
        line("the best lab in fp32 against cuDNN fp32, best of all its algorithms", "best lab", "cuDNN fp32", ".")
        line("the best lab against cuDNN, TF32 allowed to both", "best lab, TF32", "cuDNN, TF32 allowed", ".")
        line("the best lab with halves against cuDNN FP16", "12-hopper-fp16", "cuDNN FP16", ".")
        line("lab 10 against lab 09", "10-implicit-gemm", "09-im2col", ".")
        line("lab 09 against lab 02, VGG, N=32", "09-im2col", "02-naive", "vgg.*n32")
        line("lab 09 against lab 02, VGG, N=1", "09-im2col", "02-naive", "vgg.*n1$")
        line("lab 11 against cuDNN with TF32, VGG, N=32", "11-tensor-cores", "cuDNN TF32", "vgg.*n32")
        line("lab 11 against cuDNN with TF32, all", "11-tensor-cores", "cuDNN TF32", ".")
        line("lab 12 against cuDNN with TF32, VGG, N=32", "12-hopper", "cuDNN TF32", "vgg.*n32")
        line("lab 12 against cuDNN with TF32, VGG, N=1", "12-hopper", "cuDNN TF32", "vgg.*n1$")
        line("lab 12 with halves against cuDNN FP16, VGG, N=32", "12-hopper-fp16", "cuDNN FP16", "vgg.*n32")
        line("lab 12 with halves against cuDNN FP16, VGG, N=1", "12-hopper-fp16", "cuDNN FP16", "vgg.*n1$")
    }' "$out/best.tsv" >"$out/summary.md"

if command -v gnuplot >/dev/null; then
    for kind in '04-tiled' '10-implicit-gemm' 'cuDNN fp32' '11-tensor-cores' '12-hopper' \
        'cuDNN TF32'; do
        awk -F'\t' -v kind="$kind" \
            '!($1 in seen) { seen[$1] = ++layers } $2 == kind { print seen[$1] "\t" $4 "\t" $1 }' \
            "$out/best.tsv" >"$out/$kind.dat"
    done
    gnuplot -e "dir='$out'" common/apps/compare/compare.gp
else
    echo "compare: no gnuplot, so no figure; install the package gnuplot-nox" >&2
fi
