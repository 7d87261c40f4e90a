# Latency of the answered over the load, and the share that is answered.   -e "dir='...'": serve.sh's files
set terminal svg size 860,400 font 'Helvetica,12' background '#ffffff'
set output dir.'/serve-load.svg'
set border 11
set tics nomirror scale 0.5
set grid ytics lc rgb '#dddddd'
set xlabel 'load, % of the capacity'
set xrange [0:205]
set yrange [0:8]
set y2range [0:114.3]
set y2tics 0,25,100
set bmargin 6
set key outside bottom center horizontal samplen 2 maxrows 1 width -1 font ",10"
set arrow 1 from 0,7 to 205,7 nohead dt 2 lc rgb '#c04000'
set label 1 'deadline' at 8,7.35 tc rgb '#c04000'
set multiplot layout 1,2
set ylabel 'ms from due to answered'
do for [name in "electrode lenet"] {
    set title name
    if (name eq 'lenet') { unset ylabel; set y2label 'answered, %' }
    plot dir.'/'.name.'.dat' using 1:5 axes x1y2 with filledcurves x1 fs solid 0.15 noborder lc rgb '#5b8c3e' title 'answered', \
         '' using 1:2 with linespoints lc rgb '#3b6ea5' pt 7 ps 0.6 title 'p50', \
         '' using 1:3 with linespoints lc rgb '#c8702a' pt 5 ps 0.6 title 'p99', \
         '' using 1:4 with linespoints lc rgb '#555555' pt 6 ps 0.6 title 'p99.9'
}
