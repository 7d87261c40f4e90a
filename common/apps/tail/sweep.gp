# sweep.gp BASE TITLE LETTER - the staircase out of BASE.tsv: BASE.svg and BASE.png.  Columns are tool_stairs's.
set datafile separator tab
set datafile commentschars ";"
file = ARG1 . ".tsv"
set title ARG2 noenhanced
set xlabel ARG3 noenhanced
set ylabel "time of the layer (µs)"
set yrange [0:*]
set key outside top right horizontal
set border 3
set grid
set tics nomirror
draw = "plot file using 1:16 skip 1 with fillsteps fc rgb '#dfe8f2' notitle, \
    '' using 1:16 skip 1 with steps lc rgb '#3b6ea5' lw 2 title 'predicted', \
    '' using 1:10 skip 1 with points pt 7 ps 0.6 lc rgb '#c8702a' title 'measured', \
    '' using 1:($17 == 1 ? $10 : NaN) skip 1 with points pt 6 ps 1.2 lc rgb '#333333' title 'fitted the prediction'"
set terminal svg size 720,400 font "Helvetica,12" background "white"
set output ARG1 . ".svg"
eval(draw)
set terminal pngcairo size 1080,600 background "white"
set output ARG1 . ".png"
eval(draw)
