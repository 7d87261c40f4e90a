# cudnn.gp DATA SVG - cuDNN's staircase on an H200, for one image and for 32, out of DATA/h200-*.tsv (tool_stairs's columns).
set terminal svg size 860,560 font "Helvetica,12" background "white"
set output ARG2
set datafile separator tab
set datafile commentschars ";"
set multiplot layout 2,2
set yrange [0:*]
set grid
set tics nomirror
set key bottom right
do for [layer in "a-n1 c-n1 a-n32 c-n32"] {
    file = ARG1 . "/h200-" . layer . "-cudnn-fp32-nchw-rules.tsv"
    set title (layer[1:1] eq "a" ? "512 channels of 14×14" : "128 channels of 56×56") . (layer[3:] eq "n1" ? ", one image" : ", 32 images")
    set xlabel (layer[3:] eq "n1" ? "" : "filters")
    set ylabel (layer[1:1] eq "a" ? "µs" : "")
    if (layer eq "a-n32") { set key top left Left reverse } else { set key bottom right noreverse Right }
    plot file using 1:16 skip 1 with fillsteps fc rgb '#dfe8f2' notitle, \
         '' using 1:16 skip 1 with steps lc rgb '#3b6ea5' lw 2 title 'predicted', \
         '' using 1:10 skip 1 with points pt 7 ps 0.5 lc rgb '#c8702a' title 'measured', \
         '' using 1:($17 == 1 ? $10 : NaN) skip 1 with points pt 6 ps 1.1 lc rgb '#333333' title 'gave the constants'
}
