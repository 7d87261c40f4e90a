# machines.gp DATA SVG - the same layer on three simulated GPUs, out of DATA/filters-*.tsv (tool_stairs's columns).
set terminal svg size 860,560 font "Helvetica,12" background "white"
set output ARG2
set datafile separator tab
set datafile commentschars ";"
set multiplot layout 3,1
set yrange [0:*]
set xrange [0:1240]
set grid
set tics nomirror
set ylabel "µs"
set key top left
set lmargin 8
do for [i = 1:3] {
    file = ARG1 . "/filters-" . word("gtx1080ti titanv h200", i) . ".tsv"
    name = i == 1 ? "GTX 1080 Ti, 28 multiprocessors" : i == 2 ? "TITAN V, 80" : "H200, 132"
    set label 1 name at graph 0.99, 0.12 right
    set xlabel (i == 3 ? "filters" : "")
    plot file using 1:16 skip 1 with fillsteps fc rgb '#dfe8f2' notitle, \
         '' using 1:16 skip 1 with steps lc rgb '#3b6ea5' lw 2 title 'predicted', \
         '' using 1:10 skip 1 with points pt 7 ps 0.5 lc rgb '#c8702a' title 'simulated'
}
