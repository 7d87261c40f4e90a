# runs.awk RECORD [BEFORE] RUN... - what a card counts from run to run: of each row of a record of
# counters the columns that were not the same in each run.
#
# A run has some of the record's kernels, in the record's order and each as often as there; BEFORE
# is what this program said of earlier ones.  Prints the row's number, its kernel, the column, and
# all that was counted, the record's first.  Exits 1 when a run has other kernels than the record.
BEGIN { FS = OFS = "\t" }
FNR == 1 { path[++file] = FILENAME; columns = 0 }
/^;/ { next }
!columns {
    for (columns = 1; columns <= NF; columns++) name[file, columns] = $columns
    is_before = $1 == "row"
    if (!is_before) run[runs++] = file
    next
}
is_before {
    before[$1, $3] = $4
    times[$1] = split($4, counted, " ")
    if (kernel[1, $1] != $2 || value[1, $1, $3] != counted[1]) broken = file
    next
}
{
    rows[file]++
    kernel[file, rows[file]] = $1
    has[file, $1] = 1
    for (i = 2; i <= NF; i++) value[file, rows[file], name[file, i]] = $i
    if (file == 1) for (i = 2; i <= NF; i++) order[i] = name[file, i]
}

# Where run `f` has what the record has in row `r`: the next of its rows, if it has that kernel.
function run_row(f, r)
{
    if (!((f, kernel[1, r]) in has)) return 0
    if (kernel[f, ++taken[f]] == kernel[1, r]) return taken[f]
    broken = f
    return 0
}

# What was the same in all earlier runs of the row is not in BEFORE.
function column_print(r, column, counts, varies, v)
{
    varies = (r, column) in before
    counts = varies ? before[r, column] : value[1, r, column]
    for (i = 2; i <= times[r] && !varies; i++) counts = counts " " value[1, r, column]
    for (i = 1; i < runs; i++) {
        if (!at[run[i]] || !((run[i], at[run[i]], column) in value)) continue
        v = value[run[i], at[run[i]], column]
        counts = counts " " v
        varies = varies || v != value[1, r, column]
    }
    if (varies) print r, kernel[1, r], column, counts
}

END {
    print "row", "kernel", "counter", "counts"
    for (r = 1; r <= rows[1]; r++) {
        for (i = 1; i < runs; i++) at[run[i]] = run_row(run[i], r)
        for (c = 2; c in order; c++) column_print(r, order[c])
    }
    for (i = 1; i < runs; i++) if (taken[run[i]] != rows[run[i]]) broken = run[i]
    if (broken) print path[broken] " is of another record than " path[1] | "cat 1>&2"
    exit broken != 0
}
