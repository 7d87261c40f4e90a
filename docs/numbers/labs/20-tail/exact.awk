# exact.awk - how much latency the best of all measured widths would save, by lab 20's rule: `make widths` would find no more,
# whatever its algorithm.
#
#   awk -f exact.awk -v part=0.5 NETWORK MEASURED    layers stay at least half as wide, parameters within 5 %
#
# This works for networks such as ResNet-56, in which the layer after a free one is never free.
# Each free layer and the one after it are a pair, whose time and parameters depend on that one
# width.  The array least[p] is the shortest time of all pairs so far that have p parameters, in
# units of UNIT.  Prints the change of the latency, in per cent.
BEGIN { FS = "\t"; UNIT = 200; TAU = 0.05 }
FNR == 1 { file++ }
/^;/ { next }
file == 1 && head++ {
    layers++
    channels[layers] = number($2, "C"); width[layers] = number($2, "K"); free[layers] = $3
    taps[layers] = number($2, "R") * number($2, "S")
    key[layers] = $2
    sub(/^N=[0-9]+ /, "", key[layers]); sub(/K=[0-9]+/, "K=%", key[layers])
}
file == 2 { sub(/^N=[0-9]+ /, "", $2); us[$2, $3] = $12; if ($3 > widest) widest = $3 }
END {
    least[0] = 0
    for (i = 1; i <= layers; i++) {
        old += us[key[i], width[i]]
        parameters += channels[i] * width[i] * taps[i]
    }
    for (i = 1; i <= layers; i += 1 + free[i]) pair(i)
    for (p in least)
        if (p * UNIT >= (1 - TAU) * parameters && p * UNIT <= (1 + TAU) * parameters && (!best || least[p] < best)) best = least[p]
    printf "%.1f\n", 100 * (best / old - 1)
}
# A layer that stays, or a free one at each of its measured widths with the layer after it.
function pair(i,    m, p, at, time, more) {
    delete before
    for (p in least) before[p] = least[p]
    delete least
    for (m = free[i] ? 1 : width[i]; m <= (free[i] ? widest : width[i]); m++) {
        if (!((key[i], m) in us) || m < part * width[i]) continue
        time = us[key[i], m]
        more = channels[i] * m * taps[i]
        if (free[i]) {
            time += us[key[i + 1], width[i + 1]] * m / width[i]
            more += m * width[i + 1] * taps[i + 1]
        }
        for (p in before) {
            at = p + int(more / UNIT + 0.5)
            if (!(at in least) || before[p] + time < least[at]) least[at] = before[p] + time
        }
    }
}
function number(text, letter) { sub("^(.* )?" letter "=", "", text); return text + 0 }
