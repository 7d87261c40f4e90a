# FMAs a cycle of one SM, over its warps.   -e "data='...'; out='...'"
set terminal svg size 700,340 font 'Helvetica,13' background '#ffffff'
set output out
set datafile separator "\t"
set border 3
set tics nomirror scale 0.5
set grid ytics lc rgb '#dddddd'
set xrange [0:32]
set yrange [0:140]
set xtics 4
set ytics 32
set xlabel 'warps on the SM'
set ylabel 'FMAs a cycle'
set key bottom right
plot 128 with lines dt 2 lc rgb '#888888' title 'lanes', \
     data using 3:(strcol(1) eq 'fma' && strcol(2) eq '4' ? $4 : 1/0) with linespoints pt 7 ps 0.6 lw 2 lc rgb '#b3441e' title 'four chains a thread', \
     data using 3:(strcol(1) eq 'fma' && strcol(2) eq '2' ? $4 : 1/0) with linespoints pt 5 ps 0.6 lw 2 lc rgb '#3b6ea5' title 'two chains', \
     data using 3:(strcol(1) eq 'fma' && strcol(2) eq '1' ? $4 : 1/0) with linespoints pt 9 ps 0.6 lw 2 lc rgb '#5b8c3e' title 'one chain'
