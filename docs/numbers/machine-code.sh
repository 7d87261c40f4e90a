#!/bin/sh
# machine-code.sh OUT [BUILD] - what nvcc makes of labs 02 to 04 for an H200: OUT/labs-02-04.tsv.
#
# From the workbook's root, after `make setup`; needs nvcc, and cuobjdump and nvdisasm of the full
# toolkit on the path, but no
# GPU.  A row is a kernel's densest loop: its instructions, its multiplications (FFMA), its loads
# from
#       shared memory; or `division`: the instructions of t / radix and t % radix.
set -eu
out=${1:?usage: machine-code.sh OUT [BUILD]}
build=${2:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
for tool in cuobjdump nvdisasm; do
    command -v $tool >/dev/null ||
        { echo "machine-code.sh: $tool is not on the path; it comes with the full CUDA Toolkit" >&2; exit 1; }
done

# sass SOURCE: one instruction per line, its address first.
sass() {
    "$nvcc" -O3 -std=c++17 -arch=sm_90 -Icommon/include -cubin -o "$work/cubin" "$1"
    cuobjdump -sass "$work/cubin" | sed -n 's|^ *.\*\([0-9a-f]*\)\*/ *\(.*;\).*|\1 \2|p'
}

# loop NAME SOURCE: of the spans that a branch jumps back over, the one with the largest share of
# multiplications.
loop() {
    sass "$2" | awk -v name="$1" '
        function hex(text,    i, value) {
            value = 0
            for (i = 1; i <= length(text); i++) value = 16 * value + index("0123456789abcdef", substr(text, i, 1)) - 1
            return value
        }
        { at = hex($1); text[at] = $0; last = at
          if (match($0, /BRA 0x[0-9a-f]+/)) { to = hex(substr($0, RSTART + 6, RLENGTH - 6)); if (to < at) { from[++spans] = to; end[spans] = at } } }
        END {
            for (i = 1; i <= spans; i++) {
                all = products = loads = 0
                for (at = from[i]; at <= end[i]; at += 16) { all++; products += text[at] ~ /FFMA/; loads += text[at] ~ / LDS/ }
                if (products && (!best || products / all > best)) { best = products / all; row = all "\t" products "\t" loads }
            }
            print name "\t" row
        }'
}

# The instructions that a division adds to a kernel.
division() {
    printf '__global__ void k(int *y, int t, int radix) { y[0] = %s; y[1] = %s; }\n' "$1" "$2" \
        >"$work/division.cu"
    sass "$work/division.cu" | grep -cv 'NOP\|BRA 0x[0-9a-f]*;'
}

mkdir -p "$out"
{
    printf '; nvcc %s, sm_90\n' "$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
    printf 'what\tinstructions\tproducts\tshared_loads\n'
    loop 02-naive solutions/02-naive/conv.cu
    loop 04-tiled solutions/04-tiled/conv.cu
    cp solutions/04-tiled/conv.cu "$work/scalar.cu"
    patch -s "$work/scalar.cu" docs/numbers/labs/04-tiled/scalar.patch
    loop 04-tiled-scalar "$work/scalar.cu"
    printf 'division\t%d\t\t\n' "$(($(division 't / radix' 't % radix') - $(division t radix)))"
} >"$out/labs-02-04.tsv"
