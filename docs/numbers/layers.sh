# shellcheck shell=sh
# shellcheck disable=SC2154  # lib.sh sets out, whoever sources this sets measured
# layers.sh - what labs and cuDNN took layer by layer: `measured` is a table of make compare.
#
# Leaves in $out: times.dat (layer, side, µs, how) and order (the layers as they come).

# Every layer's times, in µs; of cuDNN the fastest of all its fp32 algorithms.
awk -F'\t' '
    /^;/ || $1 == "layer" { next }
    {
        side = $2 ~ /^cuDNN/ ? "cuDNN" : $2
        if (!(($1, side) in us) || $4 < us[$1, side]) { us[$1, side] = $4; how[$1, side] = $3 }
        if (!($1 in seen)) { seen[$1] = 1; print $1 > "/dev/stderr" }
    }
    END { for (key in us) { split(key, part, SUBSEP); print part[1] "\t" part[2] "\t" us[key] "\t" how[key] } }' "$measured" 2>"$out/order" >"$out/times.dat"

# range A B PATTERN: the least and the most of A's time over B's, on the layers that match.
range() {
    awk -F'\t' -v a="$1" -v b="$2" -v pattern="$3" -v places="${4:-1}" '
        $1 ~ pattern { us[$1, $2] = $3; layer[$1] }
        END {
            least = 1e9
            for (l in layer) { x = us[l, a] / us[l, b]; if (x < least) least = x; if (x > most) most = x }
            printf "%.*f to %.*f", places, least, places, most
        }' "$out/times.dat"
}
of() { awk -F'\t' -v layer="$1" -v side="$2" '$1 == layer && $2 == side { print $3 }' "$out/times.dat"; }
