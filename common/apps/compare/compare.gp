# TFLOP/s of labs 04, 10 to 12 and of cuDNN on every layer.   -e "dir='...'": draw.sh's files
set terminal svg size 860,420 font 'Helvetica,12' background '#ffffff'
set output dir.'/compare.svg'
set datafile separator "\t"
set border 3
set tics nomirror scale 0.5
set xtics rotate by -50 font ',10'
set grid ytics lc rgb '#dddddd'
set logscale y
set yrange [0.05:600]
set ylabel 'TFLOP/s (2 a product)'
set key outside top center horizontal
set bmargin 9
set rmargin 10
plot dir.'/cuDNN TF32.dat'       using 1:2 with linespoints lc rgb '#8a98a6' dt 2 pt 6 title 'cuDNN, TF32', \
     dir.'/12-hopper.dat'        using 1:2 with linespoints lc rgb '#8e4a9e' pt 9 title 'lab 12', \
     dir.'/11-tensor-cores.dat'  using 1:2 with linespoints lc rgb '#c8702a' pt 5 title 'lab 11', \
     dir.'/cuDNN fp32.dat'       using 1:2 with linespoints lc rgb '#555555' dt 2 pt 4 title 'cuDNN, fp32', \
     dir.'/10-implicit-gemm.dat' using 1:2:xtic(3) with linespoints lc rgb '#3b6ea5' pt 7 title 'lab 10', \
     dir.'/04-tiled.dat'         using 1:2 with linespoints lc rgb '#5b8c3e' pt 13 title 'lab 04'
