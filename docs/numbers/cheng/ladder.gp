# The ladder of labs 05 to 07 on an H200, measured and simulated.   -e "measured=...; simulated=...;
# out=..."
set terminal svg size 620,380 font 'Helvetica,12' background '#ffffff'
set output out
set datafile separator "\t"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 border rgb '#ffffff'
set border 3
set tics nomirror scale 0.5
set grid ytics lc rgb '#dddddd'
set logscale y
set yrange [50:2000]
set ylabel 'microseconds'
set title 'N=128 C=3 40x33 K=64 5x5 same, CHWN: 10,560 blocks'
set key top right
plot measured using 2:xtic(1) skip 1 lc rgb '#3b6ea5' title 'NVIDIA H200, measured', \
     simulated using ($3 / 1980) skip 1 lc rgb '#f0b27a' title 'simulated h200, cycles at 1.98 GHz'
