#!/bin/sh
# sparse_draw.sh TABLE OUT - makes OUT/sparse.md (crossovers, gains), OUT/boundary.md and
# OUT/sparse.svg from h200/sparse.sh's table.
set -eu
table=${1:?usage: sparse_draw.sh TABLE OUT}
out=${2:?usage: sparse_draw.sh TABLE OUT}

sh common/apps/compare/sparse_table.sh "$table" >"$out/sparse.dat"

awk -F'\t' '
    { a[$1, $2, "ten"] = $3; a[$1, $2, "thirteen"] = $4; a[$1, $2, "cudnn"] = $5; m[$1, "ten"] = $9; m[$1, "thirteen"] = $10; m[$1, "cudnn"] = $11 }
    !($1 in seen) { seen[$1] = ++n; name[n] = $1 }
    function crossover(layer, other,    z) {
        for (z = 0; z <= 95; z += 5) if (a[layer, z, "thirteen"] < a[layer, z, other]) return z ? z " %" : "always"
        return "never"
    }
    END {
        print "| layer | lab 10, µs | cuDNN fp32, µs | lab 13 at 0, 50, 70, 90, 95 % zeros, µs | faster than lab 10 from | than cuDNN from | cuDNN / 13 at 90 % | at 95 % | workspace 10, 13, cuDNN, MB |"
        print "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        for (i = 1; i <= n; i++) {
            l = name[i]
            printf "| %s | %.1f | %.1f | %.1f, %.1f, %.1f, %.1f, %.1f | %s | %s | %.2f | %.2f | %s, %s, %s |\n", l, a[l, 90, "ten"], a[l, 90, "cudnn"], a[l, 0, "thirteen"],
                a[l, 50, "thirteen"], a[l, 70, "thirteen"], a[l, 90, "thirteen"], a[l, 95, "thirteen"], crossover(l, "ten"), crossover(l, "cudnn"),
                a[l, 90, "cudnn"] / a[l, 90, "thirteen"], a[l, 95, "cudnn"] / a[l, 95, "thirteen"], m[l, "ten"], m[l, "thirteen"], m[l, "cudnn"]
        }
    }' "$out/sparse.dat" >"$out/sparse.md"

awk -F'\t' '
    $2 == 90 { line[++n] = sprintf("| %s | %.2f | %.2f | %.2f | %.2f |", $1, $5 / $4, $8 / $7, $5 / $3, $8 / $6) }
    END {
        print "| layer, 90 % zeros | cuDNN / 13, kernels | cuDNN / 13, everything around | cuDNN / 10, kernels | cuDNN / 10, everything around |"
        print "| --- | --- | --- | --- | --- |"
        for (i = 1; i <= n; i++) print line[i]
    }' "$out/sparse.dat" >"$out/boundary.md"

# Theta = sparsity / (H*W) against the speedup, VGG-like layers.
awk -F'\t' '
    BEGIN { side["lenet-conv2"] = 11; side["alexnet-conv4"] = 13; side["inception-4a"] = 14; side["inception-4e"] = 14; side["inception-5a"] = 7
            side["inception-5b"] = 7; side["vgg-conv4_2"] = 28; side["vgg-conv5_1"] = 14; side["vgg-conv5_1-n32"] = 14 }
    $2 > 0 && $1 in side { print $2 / 100 / side[$1] ^ 2 "\t" $5 / $4 "\t" $3 / $4 "\t" $1 }' \
        "$out/sparse.dat" >"$out/theta.dat"

if command -v gnuplot >/dev/null; then
    gnuplot -e "dir='$out'" common/apps/compare/sparse.gp
else
    echo "compare: no gnuplot, so no figure; install the package gnuplot-nox" >&2
fi
