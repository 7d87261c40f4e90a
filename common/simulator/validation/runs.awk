# runs.awk RECORD [BEFORE] RUN... - counters that varied between runs on a GPU: the columns that
# differed in any row of a record of counters.
#
# A run has some of the record's kernels, in the record's order and with the record's number of
# launches.  BEFORE is the output of this program for earlier runs.  Prints the number of the row,
# its kernel, the column and all values, the record's first.  Exits 1 if a run has other kernels than
# the record.
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

# The row of run `f` for the record's row `r`: the next of its rows, or 0 without that kernel.
function run_row(f, r)
{
    if (!((f, kernel[1, r]) in has)) return 0
    if (kernel[f, ++taken[f]] == kernel[1, r]) return taken[f]
    broken = f
    return 0
}

# BEFORE has no columns that were equal in all earlier runs of the row.
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
    if (broken) print path[broken] " has other kernels than " path[1] | "cat 1>&2"
    exit broken != 0
}
