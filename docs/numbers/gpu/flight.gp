# GB/s read from DRAM, over the bytes that each SM has asked for.   -e "data='...'; out='...'"
set terminal svg size 700,340 font 'Helvetica,13' background '#ffffff'
set output out
set datafile separator "\t"
set border 3
set tics nomirror scale 0.5
set grid ytics lc rgb '#dddddd'
set logscale x 2
set xrange [0.4:300]
set yrange [0:5000]
set xtics ('0.5 KB' 0.5, '1' 1, '2' 2, '4' 4, '8' 8, '16' 16, '32' 32, '64' 64, '128' 128, '256 KB' 256)
set xlabel 'asked for and not yet there, an SM'
set ylabel 'GB/s'
set key bottom right
plot data using ($3 / 1024):(strcol(1) eq 'flight' && strcol(2) eq '1' ? $4 : 1/0) with linespoints pt 9 ps 0.7 lw 2 lc rgb '#5b8c3e' title 'one load of 16 bytes per thread', \
     data using ($3 / 1024):(strcol(1) eq 'flight' && strcol(2) eq '2' ? $4 : 1/0) with linespoints pt 5 ps 0.6 lw 2 lc rgb '#3b6ea5' title 'two', \
     data using ($3 / 1024):(strcol(1) eq 'flight' && strcol(2) eq '4' ? $4 : 1/0) with linespoints pt 13 ps 0.8 lw 2 lc rgb '#c8702a' title 'four', \
     data using ($3 / 1024):(strcol(1) eq 'flight' && strcol(2) eq '8' ? $4 : 1/0) with linespoints pt 7 ps 0.6 lw 2 lc rgb '#b3441e' title 'eight'
