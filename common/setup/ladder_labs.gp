# ladder_labs.gp BASE - how far up each lab is, out of BASE.tsv: BASE.svg and BASE.png.  Its columns are the lab, and how many
# times as fast as the baseline the learner's code, the reference and the machine's roof are.
file = ARG1 . ".tsv"
set datafile separator tab
set logscale x
set grid xtics lc rgb '#dddddd'
set border 3
set tics nomirror
set xlabel "times as fast as the baseline"
stats file using 2 nooutput
rows = STATS_records
row(i) = rows - 1 - i
set key outside top center horizontal
set yrange [-0.7:rows - 0.3]
set rmargin 4
draw = 'plot file using (1):(row($0)):($2 - 1):(0):ytic(1) with vectors nohead lw 5 lc rgb "#9fbcd9" notitle, \
    "" using 3:(row($0)) with points pt 8 ps 1.8 lw 2 lc rgb "#2f7d4f" title "reference", \
    "" using 4:(row($0)) with points pt 4 ps 1.1 lc rgb "#222222" title "roof", \
    "" using 2:(row($0)) with points pt 7 ps 1.1 lc rgb "#3b6ea5" title "yours"'
set terminal svg size 760, 120 + 26 * rows font "Helvetica,12" background "white"
set output ARG1 . ".svg"
eval(draw)
set terminal pngcairo size 1520, 240 + 52 * rows fontscale 1.7 linewidth 2 pointscale 1.7 background "white"
set output ARG1 . ".png"
eval(draw)
