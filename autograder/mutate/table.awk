# table.awk LISTED ALL FOUND MUTANTS - mutate.sh's verdicts as a table, kind by kind, and what nothing found.  LISTED holds
# TODO region, line before, line after (* for whatever comes of that line), reason; ALL and MUTANTS are tables of `lab mutants`; FOUND has name and verdict.
# Exits 1 if a mutant that nothing found is not listed, or a listed one was found or is none.
function name(todo, before, after) { return todo "\t" before "\t" after }
function show(text, line, kind, todo, before, after) {
    printf "  %s: line %s, %s, TODO(%s)\n    %s\n    %s\n", text, line, kind, todo, before, after
    wrong = 1
}
FNR == 1 { file++ }
# An empty LISTED has no first line, and so no number.
FNR == 1 && file == 1 && $1 == "name" { file = 2 }
file == 1 && $1 == "until" { next } # a part (mutate.sh)
file == 1 && FNR > 1 { reason[name($1, $2, $3)] = $4 }
file == 2 && FNR > 1 { is[name($4, $5, $6)] = is[name($4, $5, "*")] = 1 }
file == 3 { found[$1] = $2 }
file == 4 && FNR > 1 {
    split(found[$1], word, " ")
    listed = name($4, $5, $6) in reason
    verdict = word[1] == "nothing" && (listed || name($4, $5, "*") in reason) ? "listed" : word[1]
    count[$3, verdict]++
    count["all", verdict]++
    made[$3]++
    made["all"]++
    if (!($3 in made) || made[$3] == 1) kinds[++different] = $3
    if (verdict == "nothing") show("nothing finds", $2, $3, $4, $5, $6)
    if (verdict == "") show("no verdict on", $2, $3, $4, $5, $6)
    if (listed && (verdict == "public" || verdict == "hidden"))
        show("found, and listed as if nothing found it", $2, $3, $4, $5, $6)
}
function row(kind) {
    printf "  %-10s %6d %10d %12d %8d %8d %8d %9d\n", kind, made[kind], count[kind, "none"], count[kind, "same"],
        count[kind, "public"], count[kind, "hidden"], count[kind, "listed"], count[kind, "nothing"]
}
END {
    for (key in reason)
        if (!(key in is)) {
            print "  listed, but there is no such mutant: " key
            wrong = 1
        }
    printf "  %-10s %6s %10s %12s %8s %8s %8s %9s\n", "", "made", "no program", "same program", "public", "hidden", "listed",
        "no finder"
    for (i = 1; i <= different; i++) row(kinds[i])
    row("all")
    killed = count["all", "public"] + count["all", "hidden"]
    left = count["all", "nothing"]
    printf "%s: %d of %d mutants that are other programs, and not listed, are found: %.1f %%\n", lab, killed, killed + left,
        killed + left ? 100 * killed / (killed + left) : 100
    exit wrong
}
