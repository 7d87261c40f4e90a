# Cycle breakdown of Cheng et al., step by step: figs 8, 14, 20, 24, 28, 31 and 34.   -e "data=...; out=..."
set terminal svg size 1020,480 font 'Helvetica,12' background '#ffffff'
set output out
set datafile separator "\t"
set style data histograms
set style histogram rowstacked
set style fill solid 0.9 border rgb '#ffffff'
set boxwidth 0.75
set grid ytics lc rgb '#dddddd'
set border 3
set tics nomirror scale 0.5
set ylabel 'thousand cycles of the kernel; a launch has 7 more'
set multiplot
set lmargin at screen 0.075
set rmargin at screen 0.27
set bmargin at screen 0.28
set tmargin at screen 0.90
set title "Table 1's problem, simulated GTX 480"
set xtics rotate by -30
set yrange [0:600]
set nokey
part(c) = column(c) * column(2) / 1000
paper(i) = i == 0 ? 524 : i == 1 ? 148 : NaN
plot data using (part(5)):xtic(1) every ::1::2 lc rgb '#2f5b8c', '' using (part(3)) every ::1::2 lc rgb '#d98a4a', \
     '' using (part(4)) every ::1::2 lc rgb '#f2d382', '' using (part(6)) every ::1::2 lc rgb '#5f7f42', \
     '' using (part(7)) every ::1::2 lc rgb '#d0d0d0', \
     '' using 0:(paper($0)) every ::1::2 with points pt 5 ps 0.9 lc rgb '#a01c1c'
set lmargin at screen 0.345
set rmargin at screen 0.94
set title 'from there on, with the accelerators: -66 %, -25.9 %, -2.6 % and -5 % in the paper'
set yrange [0:160]
set ylabel ''
set key top right vertical samplen 1.2
chain(i) = i == 0 ? 148 : i == 1 ? 50.3 : i == 2 ? NaN : i == 3 ? 37.3 : i == 4 ? 36.3 : i == 5 ? 34.5 : NaN
plot data using (part(5)):xtic(1) every ::2 lc rgb '#2f5b8c' title 'compute', '' using (part(3)) every ::2 lc rgb '#d98a4a' title 'load images', \
     '' using (part(4)) every ::2 lc rgb '#f2d382' title 'load filters', '' using (part(6)) every ::2 lc rgb '#5f7f42' title 'store', \
     '' using (part(7)) every ::2 lc rgb '#d0d0d0' title 'other', \
     '' using 0:(chain($0)) every ::2 with points pt 5 ps 0.9 lc rgb '#a01c1c' title "the paper's (from its percentages)"
unset multiplot
