# window.gp DIR - loss and accuracy in a window, drawn again every second, until it is ended.
set datafile separator tab
file = ARG1 . "/curves.tsv"
set grid
set xlabel "epoch"
set ylabel "training loss"
set y2label "test accuracy (%)"
set logscale y
set ytics nomirror
set y2tics
rows(name) = int(system(sprintf("wc -l < '%s' 2>/dev/null || echo 0", name)))
while (1) {
    if (rows(file) > 2) {
        plot file using 1:2 skip 1 with linespoints lw 2 title "loss", \
            file using 1:(100 * $3) skip 1 axes x1y2 with linespoints lw 2 title "test accuracy"
    }
    pause 1
}
