# widths.gp DATA SVG - staircases of six layers of the pruned VGG-16 with their old and new widths, out of
# DATA/measured-vgg-16-pruned-n128-h200.tsv and DATA/widths-vgg-16-pruned-n128-cudnn-fp32-h200.tsv.
set terminal svg size 560,760 font "Helvetica,14" background "white"
set output ARG2
set datafile separator tab
set datafile commentschars ";"
measured = ARG1 . "/measured-vgg-16-pruned-n128-h200.tsv"
plan = ARG1 . "/widths-vgg-16-pruned-n128-cudnn-fp32-h200.tsv"
set multiplot layout 3,2 margins 0.09,0.97,0.08,0.95 spacing 0.11,0.10
set yrange [0:*]
set offsets 0, 0, graph 0.1, 0
set grid
set tics nomirror
set xtics autofreq
layers = "conv1_2 conv2_1 conv3_2 conv4_1 conv4_2 conv5_1"
shapes = "35x32 35x16 140x8 140x4 112x4 112x2"
do for [i = 1:6] {
    shape = word(shapes, i)
    at = strstrt(shape, "x")
    side = shape[at + 1:]
    full = sprintf("N=128 C=%s H=%s W=%s K=%% R=3 S=3 pad=1 stride=1", shape[1:at - 1], side, side)
    set title (word(layers, i) . ": " . shape[1:at - 1] . " channels of " . side . "×" . side . ", µs") noenhanced
    set xlabel (i > 4 ? "filters" : "")
    set xrange [0:(i < 3 ? 76 : 210)]
    set key bottom left Left reverse samplen 1
    if (i < 6) { unset key }
    plot measured using (strcol(2) eq full ? $3 : NaN):12 with points pt 7 ps 0.4 lc rgb '#3b6ea5' title 'measured', \
         plan using (strcol(1) eq word(layers, i) ? $2 : NaN):4 with points pt 6 ps 1.4 lw 2 lc rgb '#c8702a' title 'old width', \
         plan using (strcol(1) eq word(layers, i) ? $3 : NaN):5 with points pt 9 ps 1.4 lc rgb '#2f7d4f' title 'new width'
}
