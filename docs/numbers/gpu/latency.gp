# Cycles a load takes, over the bytes that one thread walks through.   -e "data='...'; out='...'"
set terminal svg size 700,340 font 'Helvetica,13' background '#ffffff'
set output out
set datafile separator "\t"
set border 3
set tics nomirror scale 0.5
set grid ytics lc rgb '#dddddd'
set logscale x 2
set xrange [6:1.5e6]
set yrange [0:*]
set xtics ('8 KB' 8, '32 KB' 32, '128 KB' 128, '512 KB' 512, '2 MB' 2048, '8 MB' 8192, '32 MB' 32768, '128 MB' 131072, '1 GB' 1048576)
set ylabel 'cycles a load'
set xlabel 'bytes that the thread walks through'
set label 'L1' at 40, 95 center
set label 'L2' at 3000, 360 center
set label 'DRAM' at 500000, 500 center
plot data using (strcol(1) eq 'latency' ? $3 / 1024 : 1/0):4 with linespoints pt 7 ps 0.6 lw 2 lc rgb '#b3441e' notitle
