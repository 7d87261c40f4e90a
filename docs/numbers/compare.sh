#!/bin/sh
# compare.sh BUILD OUT - the tables, figures and numbers of docs/student/compare.md, and lab 11's table of
# layers (README.md).
. docs/numbers/lib.sh
page=docs/student/compare.md
data=docs/data/compare

# ---- every layer ---------------------------------------------------------------------------------
sh common/apps/compare/draw.sh "$data/h200.tsv" "$out"

# us SIDE LAYER, tflops SIDE LAYER: of the fastest of that kind.
us() { awk -F'\t' -v side="$1" -v layer="$2" '$1 == layer && $2 == side { print $3 }' "$out/best.tsv"; }
tflops() { awk -F'\t' -v side="$1" -v layer="$2" '$1 == layer && $2 == side { print $4 }' "$out/best.tsv"; }
# times_range OTHER MINE PATTERN: the least and the most of OTHER's time over MINE's, on the layers
# that match.
times_range() {
    awk -F'\t' -v other="$1" -v mine="$2" -v pattern="$3" '
        { us[$1, $2] = $3; layer[$1] }
        END {
            least = 1e9
            for (l in layer) {
                if (l !~ pattern) continue
                x = us[l, other] / us[l, mine]
                if (x < least) least = x
                if (x > most) most = x
            }
            printf "%.1f to %.1f", least, most
        }' "$out/best.tsv"
}
summary() { awk -F' *[|] *' -v what="$1" -v column="$2" '$2 == what { print $column }' "$out/summary.md"; }

best='lab 10 against cuDNN fp32, best of all its algorithms'
same='lab 10 against cuDNN fp32 without FFT and Winograd'
ceiling() { sed -n "s/.*$1 \([0-9.]*\) T.*/\1/p" "$data/h200.tsv"; }
fma=$(ceiling 'fp32 FMA') tensor=$(ceiling 'mma.sync')
say $page "fp32 FMA $fma TFLOP/s, TF32 \`mma.sync\` $(calc %.0f "$tensor") TFLOP/s, reading $(ceiling read) TB/s"
say $page "$(summary "$best" 4) in the geometric mean, faster on $(summary "$best" 5) of $(summary "$best" 3) layers"
[ "$(times_range 'cuDNN fp32' 10-implicit-gemm '(n1$|^electrode)')" = '1.2 to 2.9' ] ||
    fail 'one image at a time'
say $page "faster than cuDNN on every layer, $(times_range 'cuDNN fp32' 10-implicit-gemm '(n1$|^electrode)') times"
deep=vgg-512-28-512-n32
say $page "up to $(calc %.0f "$(tflops 'cuDNN fp32' $deep)") \"TFLOP/s\""
say $page "whose FMA units reach at most $(calc %.0f "$fma")"
say $page "$(awk -F'\t' -v fma="$fma" '$2 == "cuDNN fp32" && $1 ~ /n32/ { n++; twice += $4 > 2 * fma } END { word[2] = "two"; word[9] = "nine"; print word[twice] " of the " word[n] " layers" }' "$out/best.tsv") no kernel that does all multiplications in fp32 can come within a factor of two of it"
say $page "Lab 10 does them all, at $(calc %.0f "$(tflops 10-implicit-gemm $deep)") TFLOP/s on $deep, $(calc %.0f "100 * $(tflops 10-implicit-gemm $deep) / $fma") % of the limit"
say $page "it is at $(summary "$same" 6 | cut -d' ' -f1) of cuDNN at least, and $(calc %.1f "$(summary "$same" 4)") times as fast in the mean"
say $page "cuBLAS does $(calc %.0f "$(tflops 'cuBLAS fp32' $deep)") TFLOP/s"
say $page "$(calc %.1f "2 * 120 * 400 * 1024 / ($fma * 1e6)") µs would do"
say $page "takes $(calc %.1f "$(us 10-implicit-gemm lenet-c5)")"
say $page "$(times_range 02-naive 09-im2col 'vgg.*n32') times as fast as lab 02 on the VGG layers with 32 images"
say $page "with one it is $(times_range 02-naive 09-im2col 'vgg-[0-9]*[^3]-.*n1$'), except on the first: $(calc %.1f "$(us 02-naive vgg-3-224-64-n1) / $(us 09-im2col vgg-3-224-64-n1)")"
say $page "$(calc %.1f '27 * 224 * 224 * 4 / 1e6') MB that are written and read again"
say $page "$(calc %.0f '100 * (1 - 27 / 32)') % empty"
say $page "Lab 10, which writes no X_unroll, is at $(calc %.1f "$(us 02-naive vgg-3-224-64-n1) / $(us 10-implicit-gemm vgg-3-224-64-n1)")"
# of_tf32 PATTERN: lab 11's share of cuDNN's speed with TF32 on those layers.
of_tf32() {
    awk -F'\t' -v pattern="$1" '
        $2 ~ /^11/ || $2 == "cuDNN TF32" { us[$1, $2] = $3; layer[$1] }
        END {
            for (l in layer) if (l ~ pattern) {
                x = us[l, "cuDNN TF32"] / us[l, "11-tensor-cores"]
                if (!least || x < least) least = x
                if (x > most) most = x
            }
            printf "%.2f to %.2f", least, most
        }' "$out/best.tsv"
}
say $page "at $(of_tf32 'vgg.*n32') of cuDNN's TF32 on the VGG layers with 32 images, and with one image at $(of_tf32 'vgg.*n1$')"
say $page "cuDNN reaches $(calc %.0f "$(tflops 'cuDNN TF32' $deep)") TFLOP/s"

# least LINE: of the summary.
least() { summary "$1" 6 | cut -d' ' -f1; }
tf32='lab 12 against cuDNN with TF32, VGG,' halves='lab 12 with halves against cuDNN FP16, VGG,'
say $page "In this run it is at $(least "$tf32 N=32") of cuDNN's TF32 at least, $(summary "$tf32 N=32" 4) in the geometric mean, with 32 images; with one at $(least "$tf32 N=1") and $(summary "$tf32 N=1" 4)"
say $page "lab 12 is at $(summary "$halves N=32" 4) of cuDNN's FP16 in the geometric mean on VGG with 32 images, and at $(summary "$halves N=32" 6 | sed 's/ (/ on /; s/)//') at least"
# tried WHAT LAYER: microseconds of a variant of lab 12.
tried() { awk -F'\t' -v what="$1" -v layer="$2" '$1 == what && $2 == layer { printf "%.0f", $3 }' "$data/tried-h200.tsv"; }
first=vgg-3-224-64-n32
say $page "Without its stores that kernel took $(tried 'pieces; nothing is stored' $first) µs of $(tried 'channels in pieces of 16 bytes' $first), without its copies $(tried 'pieces; nothing is copied in' $first)"
say $page "each row starts at a sector, and the layer takes $(tried 'channels in sectors of 32 bytes' $first)"
say $page "$(tried 'halves: sums through shared memory' $first) µs in place of $(tried 'halves: as it is' $first) on the first layer"

short=vgg-64-112-128-n32 long=$deep
say $page "which take $(calc %.1f "$(us 12-hopper-fp16 $short) / 12") µs each"
say $page "which has 72 chunks per output, nine would take $(calc %.1f "$(us 12-hopper-fp16 $long) / 3 / 72 * 9")"
counted() { sed -n "s/^$1[a-z_.]*$(printf '\t')//p" "$data/halves-h200.tsv" | tr -d ,; }
say $page "counted $(calc %.1f "$(counted l1tex) / 1e6") million wavefronts in the L1"
say $page "$(calc %.0f "100 * $(counted l1tex) / 132 / $(counted sm__cycles)") % of what it can do in that time"
say $page "$(calc %.1f '1568 * 9 * 4 * 2 * (64 + 256) * 32 / 128 / 1e6') million were \`wgmma\`'s reads, and $(calc %.1f '1568 * 8 * 128 * 4 / 1e6') million the stores"

# Lab 11's conversion: x is read as fp32 and written as fp16, channels filled up to eight, at the
# GPU's read bandwidth.
conversion=$(awk -F'\t' -v read="$(ceiling read)" '
    FILENAME ~ /layers/ { if ($1 !~ /vgg.*n32/) next; n = split($2, key, " "); for (i = 1; i <= n; i++) { split(key[i], part, "="); value[part[1]] = part[2] }
        bytes[$1] = value["N"] * value["H"] * value["W"] * (4 * value["C"] + 2 * 8 * int((value["C"] + 7) / 8)); next }
    $2 == "11-tensor-cores" && $1 in bytes { x = 100 * bytes[$1] / (read * 1e6) / $3; if (!least || x < least) least = x; if (x > most) most = x }
    END { printf "%.0f to %.0f %%", least, most }' common/apps/compare/layers.tsv "$out/best.tsv")
say $page "$conversion of lab 11's time"
say labs/11-tensor-cores/README.md "$conversion of the time"

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
say labs/11-tensor-cores/README.md \
    "On $deep lab 11 is $(calc %.1f "$(us 10-implicit-gemm $deep) / $(us 11-tensor-cores $deep)") times as fast as lab 10"
say labs/11-tensor-cores/README.md \
    "Lab 11 runs at $(times_range 10-implicit-gemm 11-tensor-cores '^[^v]') times lab 10's speed"
say labs/11-tensor-cores/README.md \
    "cuDNN reaches $(calc %.0f "$(tflops 'cuDNN TF32' $deep)") TFLOP/s with TF32, but the maximum measured with \`mma.sync\` is $(calc %.0f "$tensor")"

# ---- the best lab --------------------------------------------------------------------------------
beside='the best lab in fp32 against cuDNN fp32, best of all its algorithms'
say $page "With these, the best lab in fp32 is $(summary "$beside" 4) times as fast as cuDNN's best in the geometric mean, and at $(summary "$beside" 6 | sed 's/ (/, on /; s/)//') at least"

# Layers that nothing was fitted to.
mkdir -p "$out/unfitted"
sh common/apps/compare/draw.sh "$data/unfitted-h200.tsv" "$out/unfitted" 2>/dev/null
awk -F'\t' '
    { us[$1, $2] = $3; how[$1, $2] = $7 }
    !($1 in seen) { seen[$1] = ++n; name[n] = $1 }
    function cell(layer, kind,    x) { x = us[layer, kind]; return x == "" ? "–" : sprintf(x < 100 ? "%.1f" : "%.0f", x) }
    function ratio(layer, lab, library) { return us[layer, lab] == "" ? "–" : sprintf("%.2f", us[layer, library] / us[layer, lab]) }
    function row(l, lab, library) {
        return cell(l, lab) " | " substr(how[l, lab], 1, 2) " | " cell(l, library) " | " ratio(l, lab, library)
    }
    END {
        print "| layer | best lab, fp32, µs | its number | cuDNN fp32, µs | ratio | best lab, TF32 allowed, µs | its number | cuDNN, TF32 allowed, µs | ratio | lab 12, FP16, µs | cuDNN FP16, µs | ratio |"
        print "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        for (i = 1; i <= n; i++) {
            l = name[i]
            printf "| %s | %s | %s | %s | %s | %s |\n", l, row(l, "best lab", "cuDNN fp32"), row(l, "best lab, TF32", "cuDNN, TF32 allowed"),
                cell(l, "12-hopper-fp16"), cell(l, "cuDNN FP16"), ratio(l, "12-hopper-fp16", "cuDNN FP16")
        }
    }' "$out/unfitted/best.tsv" >"$out/beside.md"
# sentence TEXT: geometric mean, wins and least of a row of the summary of these layers.
sentence() {
    awk -F' *[|] *' -v what="$1" '$2 == what {
        sub(/ \(/, " on ", $6); sub(/\)/, "", $6)
        printf "%s in the geometric mean, above 1 on %d of %d, and %s at least", $4, $5, $3, $6
    }' "$out/unfitted/summary.md"
}
say $page "fp32: $(sentence "$beside")"
say $page "TF32 allowed: $(sentence 'the best lab against cuDNN, TF32 allowed to both')"
say $page "FP16: $(sentence 'the best lab with halves against cuDNN FP16')"

# ---- whole networks ------------------------------------------------------------------------------
awk -F'\t' '
    /^;/ || $1 == "network" { next }
    FNR == NR {
        at = $1 "\t" $2
        labs[at] += $10; torch[at] += $11; on[at, $9]++
        next
    }
    !header++ {
        print "| network | images | labs, µs | PyTorch, µs | PyTorch with channels_last, µs | best PyTorch / labs | convolutions alone, labs and PyTorch, µs | convolutions by lab |"
        print "| --- | --- | --- | --- | --- | --- | --- | --- |"
    }
    {
        at = $1 "\t" $2; least = $6 < $9 ? $6 : $9; by = ""
        for (lab = 10; lab <= 21; lab++)
            if (on[at, lab]) by = by (by == "" ? "" : ", ") "lab " lab ": " on[at, lab]
        printf "| %s | %d | %.0f | %.0f | %.0f | %.2f | %.0f, %.0f | %s |\n", $1, $2, $3, $6, $9, least / $3, labs[at], torch[at], by
    }' "$data/networks-layers-h200.tsv" "$data/networks-times-h200.tsv" >"$out/networks.md"

# ---- 8-bit integers ------------------------------------------------------------------------------
awk -F'\t' '
    /^;/ || $1 == "layer" { next }
    !header++ {
        print "| layer | lab 22, µs | cuBLASLt, GEMM alone, µs | cuDNN FP16, µs | lab 22, 10¹² operations/s | cuBLASLt / lab 22 | cuDNN FP16 / lab 22 |"
        print "| --- | --- | --- | --- | --- | --- | --- |"
    }
    { printf "| %s | %.1f | %.1f | %.1f | %d | %.2f | %.2f |\n", $1, $2, $3, $4, $5, $3 / $2, $4 / $2 }' \
    "$data/int8-times-h200.tsv" >"$out/int8.md"

# ---- depthwise convolution -----------------------------------------------------------------------
awk -F'\t' -v read="$(ceiling read)" '
    /^;/ || $1 == "layer" || $1 ~ /separable/ { next }
    !($1 in seen) { seen[$1] = ++n; name[n] = $1 }
    { us[$1, $2] = $3; bytes[$1] = $6 }
    function rate(layer, program) { return bytes[layer] / us[layer, program] / 1e6 }
    END {
        print "| layer | bytes, MB | lab 21, µs | lab 21, TB/s | of the measured reading rate | a copy of the same bytes, TB/s | PyTorch, µs | PyTorch / lab 21 |"
        print "| --- | --- | --- | --- | --- | --- | --- | --- |"
        for (i = 1; i <= n; i++) {
            l = name[i]
            printf "| %s | %.1f | %.1f | %.2f | %.0f %% | %.2f | %.1f | %.2f |\n", l, bytes[l] / 1e6, us[l, "lab-21"], rate(l, "lab-21"), 100 * rate(l, "lab-21") / read, rate(l, "copy"), us[l, "torch"], us[l, "torch"] / us[l, "lab-21"]
        }
    }' "$data/depthwise-times-h200.tsv" >"$out/depthwise.md"

# ---- constants of this GPU -----------------------------------------------------------------------
# constants LAB: those of its solution that make tune measures, "tiles ..., NAME value ...";
# measured LAB: what it measured.
constants() {
    awk -F'\t' -v lab="$1" '
        NR == FNR && $1 == lab { if ($2 ~ /^tile /) n = split($2, values, ","); else { split($2, word, " "); names[++m] = word[1] } }
        NR == FNR || /#define/ { next }
        {
            while (match($0, /TILE\([^)]*\)/)) {
                k = split(substr($0, RSTART + 5, RLENGTH - 6), value, ",")
                for (i = k - n + 1; i <= k; i++) tiles = tiles (i == k - n + 1 ? (tiles ? ", " : "") : " and ") value[i] + 0
                $0 = substr($0, RSTART + RLENGTH)
            }
            for (i = 1; i <= m; i++) if (match($0, " " names[i] " = [0-9.e]+")) { split(substr($0, RSTART, RLENGTH), word, " "); found[i] = word[3] + 0 }
        }
        END { printf "%s", tiles; for (i = 1; i <= m; i++) printf "; %s %s", names[i], found[i] }' \
            "$data/tune-h200.tsv" solutions/"$1"-*/conv.cu
}
measured_constants() {
    awk -F'\t' -v lab="$1" '
        $1 != lab { next }
        $2 ~ /^tile / { sub(/^tile [0-9]+ /, "", $2); n = split($2, value, ","); tiles = tiles (tiles ? ", " : "") value[1] + 0; for (i = 2; i <= n; i++) tiles = tiles " and " value[i] + 0; next }
        { split($2, word, " "); rest = rest "; " word[1] " " word[2] + 0 }
        END { printf "%s%s", tiles, rest }' "$data/tune-h200.tsv"
}
{
    echo '| lab | constants of the solution | measured constants |'
    echo '| --- | --- | --- |'
    for lab in 10 12 14 15; do printf '| %s | %s | %s |\n' "$lab" "$(constants $lab)" "$(measured_constants $lab)"; done
} >"$out/constants.md"
awk -F'\t' '
    /^;/ || $1 == "layer" { next }
    { us[$1, $2] = $4 }
    $2 ~ /-tuned$/ { tuned[$1, $2] = $4; lab[substr($2, 1, 2)] }
    $2 !~ /-tuned$/ && $2 !~ /fp16$/ { name[substr($2, 1, 2)] = $2 }
    END {
        print "| lab | layers | own constants ÷ measured constants, geometric mean of times | minimum | maximum |"
        print "| --- | --- | --- | --- | --- |"
        for (l = 10; l <= 15; l++) if (l in lab) {
            n = sum = most = 0; least = 9
            for (key in tuned) {
                split(key, part, SUBSEP)
                if (part[2] != l "-tuned" || !((part[1], name[l]) in us)) continue
                x = us[part[1], name[l]] / tuned[key]; n++; sum += log(x)
                if (x < least) least = x
                if (x > most) most = x
            }
            printf "| %d | %d | %.2f | %.2f | %.2f |\n", l, n, exp(sum / n), least, most
        }
    }' "$data/tuned-h200.tsv" >"$out/tuned.md"

# ---- zeros ---------------------------------------------------------------------------------------
sh common/apps/compare/sparse_draw.sh "$data/sparse-h200.tsv" "$out"
# Usage: of LAYER ZEROS EXPRESSION.  The expression may use ten, thirteen and cudnn, in microseconds.
of() { awk -F'\t' -v layer="$1" -v zeros="$2" -v format="${4:-%.1f}" '$1 == layer && $2 == zeros { ten = $3; thirteen = $4; cudnn = $5; printf format, '"$3"' }' "$out/sparse.dat"; }
at_90=$(awk -F'\t' '$2 == 90 && $1 !~ /-(s2|s3|n32)$/ { x = $5 / $4; if (!least || x < least) least = x; if (x > most) most = x } END { printf "%.2f to %.2f", least, most }' "$out/sparse.dat")
dense=$(awk -F'\t' '$2 == 90 && $1 !~ /-(s2|s3|n32)$/ { x = $5 / $3; if (!least || x < least) least = x; if (x > most) most = x } END { printf "%.1f to %.1f", least, most }' "$out/sparse.dat")
say $page "$at_90 times as fast as cuDNN at 90 % zeros, one image at a time"
say $page "is itself $dense times as fast as cuDNN there"
say $page "At 70 %, the zeros of VGG's deep layers, lab 13 is $(of vgg-conv4_2 70 cudnn/thirteen) and $(of vgg-conv5_1 70 cudnn/thirteen) times as fast"
say $page "with stride 2 it is $(of vgg-conv5_1-s2 70 cudnn/thirteen) times as fast at 70 % zeros and $(of vgg-conv5_1-s2 90 cudnn/thirteen) at 90, with stride 3 $(of vgg-conv5_1-s3 70 cudnn/thirteen) and $(of vgg-conv5_1-s3 90 cudnn/thirteen)"
say $page "takes $(of vgg-conv5_1 90 cudnn %.0f), $(of vgg-conv5_1-s2 90 cudnn %.0f) and $(of vgg-conv5_1-s3 90 cudnn %.0f) µs with strides 1, 2 and 3; lab 10 takes $(of vgg-conv5_1 90 ten %.0f), $(of vgg-conv5_1-s2 90 ten %.0f) and $(of vgg-conv5_1-s3 90 ten %.0f)"
from() { awk -F'\t' -v layer="$1" '$1 == layer && $4 < $3 { print $2; exit }' "$out/sparse.dat"; }
say $page "from $(from vgg-conv5_1-n32) % on conv5_1 with 32 images, $(from vgg-conv4_2) on conv4_2, $(from vgg-conv5_1) on conv5_1, $(from alexnet-conv4) on AlexNet's conv4"
never=$(awk -F'\t' '{ seen[$1] } $4 < $3 { pays[$1] } END { for (l in seen) if (!(l in pays)) n++; word[7] = "seven"; print word[n] }' "$out/sparse.dat")
say $page "On the other $never it never does"
say $page "there lab 13 is at $(of vgg-conv5_1 70 ten/thirteen) to $(of vgg-conv4_2 70 ten/thirteen %.2f) of lab 10"
say $page "$(awk -F'\t' '$1 == "vgg-conv5_1-n32" && $2 == 90 { printf "%.0f", $11 }' "$out/sparse.dat") MB for Winograd on conv5_1 with 32 images"
say $page "even at 95 %: $(of vgg-conv5_1-n32 95 cudnn %.0f) against $(of vgg-conv5_1-n32 95 thirteen %.0f) µs"
# columns OVER UNDER: the least and the most of one column over another, at 90 percent zeros.
columns() { awk -F'\t' -v over="$1" -v under="$2" '$2 == 90 { x = $over / $under; if (!least || x < least) least = x; if (x > most) most = x } END { printf "%.1f to %.0f", least, most }' "$out/sparse.dat"; }
say $page "$(columns 8 6) times with that clock"
say $page "$(awk -F'\t' '{ x = ($8 - $5) / 1e3; if (!least || x < least) least = x; if (x > most) most = x } END { printf "%.1f to %.1f ms", least, most }' "$out/sparse.dat")"

# ---- the paper's Table I, its VGG-19, its memory -------------------------------------------------
awk -F'\t' '
    BEGIN { print "| row | map size | new kernel, time in Table I | cuDNN, time in Table I | filters | new kernel, time per filter | cuDNN, time per filter |"; print "| --- | --- | --- | --- | --- | --- | --- |" }
    NR > 1 { printf "| %s | %s | %s | %s | %d | %.4f | %.4f |\n", $1, $2, $4, $5, $6, $4 / $6, $5 / $6 }' "$data/table-1-paper.tsv" >"$out/calls.md"
# a_filter COLUMN PATTERN: the least and the most of a column over the filters.
a_filter() { awk -F'\t' -v column="$1" -v pattern="$2" 'NR > 1 && $1 ~ pattern { x = $column / $6; if (!least || x < least) least = x; if (x > most) most = x }
    END { printf "%.4f to %.4f", least, most }' "$data/table-1-paper.tsv"; }
say $page "$(a_filter 5 'a[.][127]$') per filter if filters are 1×1 and $(a_filter 5 '([.]3|Conv4)$') if they are 3×3"
say $page "the new kernel takes $(a_filter 4 'Incep|AlexNetI')"
say $page "$(a_filter 5 'Inception|AlexNetI' | awk '{ printf "%.0f to %.0f", 1000 * $1, 1000 * $3 }') µs are a call of cuDNN, and $(a_filter 4 'Incep|AlexNetI' | awk '{ printf "%.0f", 1000 * $1 }') µs are a launch"

# measured SET: the measurements of h200/sparse.sh for a set of layers, one line per layer
# (sparse_table.sh); fails if there are none.
measured() { [ -f "$data/$1-h200.tsv" ] && sh common/apps/compare/sparse_table.sh "$data/$1-h200.tsv"; }
unmeasured() { printf 'This was not measured on a GPU yet: `sh docs/numbers/h200/sparse.sh %s docs/data/compare nvcc` on an H200 makes `docs/data/compare/%s-h200.tsv`.\n' "$1" "$1"; }

if measured table-1 >"$out/measured"; then
    awk -F'\t' '
        FILENAME ~ /layers/ { n = split($2, key, " "); text = ""
            for (i = 1; i <= n; i++) { split(key[i], part, "="); v[part[1]] = part[2] }
            shape[$1] = v["C"] ", " v["H"] "×" v["W"] ", " v["K"] ", " v["R"] "×" v["S"]; next }
        FILENAME ~ /paper/ { if (FNR > 1) paper[$1] = $5 / $4; next }
        FNR == 1 { print "| row | C, H×W, K, filter | zeros | lab 10, µs | lab 13 | cuDNN | 10 / 13 | cuDNN / 13 | the paper |"; print "| --- | --- | --- | --- | --- | --- | --- | --- | --- |" }
        { printf "| %s | %s | %d %% | %.1f | %.1f | %.1f | %.2f | %.2f | %.2f |\n", $1, shape[$1], $2, $3, $4, $5, $3 / $4, $5 / $4, paper[$1] }' \
        common/apps/compare/table-1-layers.tsv "$data/table-1-paper.tsv" "$out/measured" \
        >"$out/table-1.md"
    # row OVER: the least and the most of lab 10's (3) or cuDNN's (5) time over lab 13's.
    row() { awk -F'\t' -v over="$1" '{ x = $over / $4; if (!least || x < least) least = x; if (x > most) most = x } END { printf "%.2f to %.2f", least, most }' "$out/measured"; }
    say $page "passes cuDNN on every row, as the paper says, but by $(row 5) times"
    say $page "lab 10, which takes $(row 3) of its time"
    reached=$(awk -F'\t' 'FILENAME ~ /paper/ { paper[$1] = $5 / $4; next } $5 / $4 >= paper[$1] { print FNR }' "$data/table-1-paper.tsv" "$out/measured")
    [ "$reached" = "$(awk 'END { print NR }' "$out/measured")" ] ||
        fail "the page says that only Table I's last row reaches the paper's number"
else
    unmeasured table-1 >"$out/table-1.md"
fi

if measured vgg19 >"$out/measured"; then
    awk -F'\t' '
        {
            split($1, part, "-s"); l = part[1]; s = part[2]
            if (s == 1) { name[++n] = l; zeros[l] = $2 " %" }
            ten[l, s] = $3; thirteen[l, s] = $4; cudnn[l, s] = $5
            ten["all 16", s] += $3; thirteen["all 16", s] += $4; cudnn["all 16", s] += $5
        }
        function row(l) {
            printf "| %s | %s | %.0f | %.0f | %.0f |", l, zeros[l], ten[l, 1], thirteen[l, 1], cudnn[l, 1]
            for (s = 1; s <= 3; s++) printf " %.2f, %.2f |", ten[l, s] / thirteen[l, s], cudnn[l, s] / thirteen[l, s]
            printf "\n"
        }
        END {
            print "| layer | zeros | lab 10, µs | lab 13 | cuDNN | 10 / 13, cuDNN / 13 | with stride 2 | with stride 3 |"
            print "| --- | --- | --- | --- | --- | --- | --- | --- |"
            for (i = 1; i <= n; i++) row(name[i])
            row("all 16")
        }' "$out/measured" >"$out/vgg19.md"
    # network STRIDE OVER UNDER: of all 16 layers together; columns 3 lab 10, 4 lab 13, 5 cuDNN.
    network() { awk -F'\t' -v stride="-s$1\$" -v over="$2" -v under="$3" '$1 ~ stride { a += $over; b += $under } END { printf "%.2f", a / b }' "$out/measured"; }
    say $page "up to $(awk -F'\t' '$1 ~ /-s1$/ && $5 / $4 > most { most = $5 / $4 } END { printf "%.1f", most }' "$out/measured") times as fast as cuDNN on a layer; with stride 2 it is $(network 2 5 4) times as fast over the whole network, with stride 3 $(network 3 5 4)"
    say $page "with stride 1 it is $(network 1 5 4) times as fast there"
    say $page "$(awk -F'\t' '$1 ~ /-s1$/ { all += $4; if (++n <= 8) { first += $4; if ($2 > most) most = $2 } } END { printf "at most %d %% zeros, and take %.0f %% of lab 13'"'"'s time", most, 100 * first / all }' "$out/measured")"
    say $page "Lab 10, which skips nothing, is $(network 1 5 3) times as fast as cuDNN over the network"
    say $page "passes it on $(awk -F'\t' '$1 ~ /-s1$/ && $4 < $3 { n++; x = 100 * ($3 / $4 - 1); if (x > most) most = x } END { printf "%d of the 16 layers, by at most %.0f", n, most }' "$out/measured") %"
    [ -z "$(awk -F'\t' '$1 ~ /-s[23]$/ && $4 < $3' "$out/measured")" ] ||
        fail 'the page says that lab 13 never passes lab 10 with a stride'
else
    unmeasured vgg19 >"$out/vgg19.md"
fi

"$build/tests/datasets/tool_maps" memory 1 >"$out/memory.tsv"
awk -F'\t' '
    function mb(x) { return sprintf("%.1f", x / 1e6) }
    function row(name, zeros, x, unrolled, printed, packed, turned) {
        printf "| %s | %s | %s | %s | %s | %s | %s | %+.0f %% |\n", name, zeros, mb(x), mb(unrolled), mb(printed), mb(packed), mb(turned), 100 * ((x + packed) / (x + unrolled) - 1)
    }
    BEGIN { print "| layer | zeros | x, MB | im2col: X_unroll | F_data, K_data, ptr as printed | packed | lab 13: transposed w | packed relative to im2col, including x |"
            print "| --- | --- | --- | --- | --- | --- | --- | --- |" }
    NR > 1 { row($1, $2 " %", $3, $4, $5, $6, $7) }' "$out/memory.tsv" >"$out/memory.md"
packed() { awk -F'\t' -v layer="$1" '$1 == layer { printf "%.0f", 100 * (1 - ($3 + $6) / ($3 + $4)) }' "$out/memory.tsv"; }
say $page "$(packed conv4_1) % on conv4_1 to $(packed conv5_4) % on conv5_4"
say $page "$(awk -F'\t' '$1 == "conv5_1" { printf "%.1f times", $5 / $4 }' "$out/memory.tsv") what im2col takes"
