# curves.gp DIR - loss and accuracy by epoch, out of DIR/curves.tsv: curves.svg and curves.png.
set datafile separator tab
file = ARG1 . "/curves.tsv"
set key right center
set grid
set xlabel "epoch"
set ylabel "training loss"
set y2label "test accuracy (%)"
set logscale y
set ytics nomirror
set y2tics
draw = "plot file using 1:2 skip 1 with linespoints lw 2 pt 7 ps 0.5 title 'training loss', \
    file using 1:(100 * $3) skip 1 axes x1y2 with linespoints lw 2 pt 5 ps 0.5 title 'test accuracy'"
set terminal svg size 720,420 background "white"
set output ARG1 . "/curves.svg"
eval(draw)
set terminal pngcairo size 1080,630 background "white"
set output ARG1 . "/curves.png"
eval(draw)
