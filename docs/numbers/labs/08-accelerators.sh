#!/bin/sh
# 08-accelerators.sh BUILD OUT - the numbers of labs/08-accelerators/README.md.
. docs/numbers/lib.sh

page=labs/08-accelerators/README.md
solution=solutions/08-accelerators/conv.cu

# chosen COMPUTE: the solution with another choice in TODO(1).
chosen() {
    sed "s/compute = OUTER/compute = $1/" "$solution" >"$out/$1.cu"
    printf '%s\n' "$out/$1.cu"
}

{
    echo '| compute | table-1, cycles | wide, cycles | table-1, warp instructions issued |'
    echo '| --- | --- | --- | --- |'
    for compute in PLAIN INNER OUTER; do
        for case in table-1 wide; do
            simulate "$compute-$case" 08 "$(chosen $compute)" --case "$case"
        done
        issued=$(($(number $compute-table-1 warp_instructions) - $(number $compute-table-1 free_instructions)))
        printf '| %s | %s | %s | %s |\n' "$compute" \
            "$(thousands "$(number $compute-table-1 cycles)")" \
            "$(thousands "$(number $compute-wide cycles)")" "$(thousands $issued)"
    done
} >"$out/products.md"
[ "$(number INNER-table-1 accelerator_cycles)" = $((240 * 7 * 384)) ] ||
    fail "the inner products do not hold a warp for 384 cycles a chunk"

# The index converter, and lab 07's strength reduction in its place.
{
    echo '| index computation | table-1, cycles | wide, cycles | eleven, cycles |'
    echo '| --- | --- | --- | --- |'
    counters=$(variant counters "$solution" docs/numbers/labs/08-accelerators/counters.patch)
    for case in table-1 wide eleven; do
        simulate "converter-$case" 08 solutions --case "$case"
        simulate "counters-$case" 08 "$counters" --case "$case"
    done
    for how in converter counters; do
        case $how in converter) words='index converter' ;; *) words='strength reduction (lab 07)' ;; esac
        printf '| %s | %s | %s | %s |\n' "$words" "$(thousands "$(number $how-table-1 cycles)")" \
            "$(thousands "$(number $how-wide cycles)")" \
            "$(thousands "$(number $how-eleven cycles)")"
    done
} >"$out/converter.md"

most=0
for case in table-1 wide eleven; do
    apart=$(saved "$(number converter-$case cycles)" "$(number counters-$case cycles)")
    [ "${apart#-}" -le "$most" ] || most=${apart#-}
done
[ "$most" -le 8 ] || fail "$page says that both take nearly the same time, but they differ by $most %"
say "$page" "nearly the same time (they differ by $most % at most)"
say docs/student/cheng.md "the two are never more than $most % apart"

# A simulated GPU without accelerators.
for compute in PLAIN INNER; do
    simulate "$compute-gtx480" 08 "$(chosen $compute)" --case table-1 --gpu gtx480
done
say "$page" "$(ratio "$(number INNER-gtx480 cycles)" "$(number PLAIN-gtx480 cycles)") times as long as compiled code there"

after_table 08 >"$out/after.md"
