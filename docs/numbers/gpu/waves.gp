# Microseconds of a launch, over its blocks, one of which fits an SM.   -e "data='...'; out='...'"
set terminal svg size 700,300 font 'Helvetica,13' background '#ffffff'
set output out
set datafile separator "\t"
set border 3
set tics nomirror scale 0.5
set grid ytics lc rgb '#dddddd'
set xrange [0:540]
set yrange [0:*]
set xtics 132
set xlabel 'blocks'
set ylabel 'microseconds'
plot data using 3:(strcol(1) eq 'waves' && strcol(2) eq 'launch' ? $4 : 1/0) with points pt 7 ps 0.6 lc rgb '#b3441e' notitle
