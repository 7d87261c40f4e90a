# The ladder of labs 02 to 11, with the steps between 09 and 10.   -e "measured='...'; simulated='...'; out='...'"
set terminal svg size 760,380 font 'Helvetica,12' background '#ffffff'
set output out
set datafile separator "\t"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 border rgb '#ffffff'
set border 3
set tics nomirror scale 0.5
set xtics rotate by -35 font ',11'
set grid ytics lc rgb '#dddddd'
set logscale y
set yrange [10:1500]
set ylabel 'microseconds'
set title 'N=32 C=32 28x28 K=128 3x3 pad 1'
set key top right
plot measured using 2:xtic(1) skip 1 lc rgb '#3b6ea5' title 'NVIDIA H200, measured', \
     simulated using ($2 / 1980) skip 1 lc rgb '#f0b27a' title 'simulated h200, cycles at 1.98 GHz'
