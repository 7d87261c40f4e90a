# Lab 06: unroll factors against registers, spills and time.   -e "measured=...; out=..."
set terminal svg size 860,380 font 'Helvetica,12' background '#ffffff'
set output out
set datafile separator "\t"
set border 3
set tics nomirror scale 0.5
set grid ytics lc rgb '#dddddd'
set logscale x 2
set xtics (1, 2, 3, 4, 6, 12)
set xrange [0.9:13.5]
set xlabel 'unroll factor of the loop over rows'
set multiplot layout 1,2
set title 'ptxas, sm\_90'
set ylabel 'registers per thread; spilled bytes'
set yrange [0:220]
set key top left
free(c) = $1 == 1 ? column(c) : NaN
tight(c) = $1 == 32 ? column(c) : NaN
plot measured using 2:(free(3)) skip 1 with linespoints pt 7 lw 2 lc rgb '#3b6ea5' title 'registers, no limit', \
     '' using 2:(tight(3)) skip 1 with linespoints pt 5 lw 2 lc rgb '#c8702a' title 'registers, at most 32', \
     '' using 2:(tight(4)) skip 1 with linespoints pt 9 lw 2 dt 2 lc rgb '#c8702a' title 'spilled bytes, at most 32 registers'
set title 'NVIDIA H200, 10,560 blocks'
set ylabel 'time, µs'
set yrange [0:240]
set key top right
plot measured using 2:(tight(5)) skip 1 with linespoints pt 5 lw 2 lc rgb '#c8702a' title 'at most 32 registers', \
     '' using 2:(free(5)) skip 1 with linespoints pt 7 lw 2 lc rgb '#3b6ea5' title 'no limit on registers'
unset multiplot
