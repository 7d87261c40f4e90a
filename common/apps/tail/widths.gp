# widths.gp BASE TITLE - time of each layer before and after, from BASE.tsv of widths.sh: BASE.svg and
# BASE.png.  The labels are the widths (filters); the patterns are distinct on paper without colour.
set datafile separator tab
set datafile commentschars ";"
file = ARG1 . ".tsv"
set title ARG2 noenhanced
set xlabel "layer; filters before and after"
set ylabel "time of the layer (µs)"
set yrange [0:*]
set style data histograms
set style histogram clustered gap 1
set style fill pattern border lc rgb '#333333'
set boxwidth 0.9
set key outside top right horizontal
set grid ytics
set tics nomirror
set border 3
set xtics rotate by -45 noenhanced
label(old, new) = sprintf("%s→%s", strcol(old), strcol(new))
draw = "plot file using 4:xtic(strcol(1) . '  ' . label(2, 3)) every ::1 lc rgb '#3b6ea5' fs pattern 2 title 'before', \
    '' using 5 every ::1 lc rgb '#c8702a' fs pattern 3 title 'after'"
set terminal svg size 900,460 font "Helvetica,12" background "white"
set output ARG1 . ".svg"
eval(draw)
set terminal pngcairo size 1350,690 background "white"
set output ARG1 . ".png"
eval(draw)
