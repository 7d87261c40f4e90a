# times.gp - predicted against measured times; gnuplot -e "data='...'; out='...'".
set terminal svg size 760,620 font 'Helvetica,14' background '#ffffff'
set output out
set datafile separator "\t"
set logscale xy
set xrange [2:3000]
set yrange [2:3000]
set xlabel 'measured on an H200, µs'
set ylabel 'predicted, µs'
set grid lc rgb '#dddddd'
set key top left reverse Left
plot x with lines lc rgb '#444444' title 'equal', \
     x * 1.35 with lines dt 2 lc rgb '#999999' title '35 % either way', x / 1.35 with lines dt 2 lc rgb '#999999' notitle, \
     data index 0 using 2:3 with points pt 7 ps 0.6 lc rgb '#4a90c2' title 'fit', \
     data index 1 using 2:3 with points pt 9 ps 0.8 lc rgb '#d9803f' title 'regression', \
     data index 2 using 2:3 with points pt 5 ps 0.6 lc rgb '#5a9e63' title 'solutions of labs'
