# misread.gp DIR - the confusion matrix, and the first 60 misclassified digits as "shown -> class":
# DIR/misread.png.
set terminal pngcairo size 1200,620 background "white"
set output ARG1 . "/misread.png"
file = ARG1 . "/misread.idx"
stats ARG1 . "/confusion.tsv" matrix using 3 nooutput
sizes = system(sprintf("od -An -tu1 -j8 -N8 '%s'", file))
rows = word(sizes, 3) * 256 + word(sizes, 4)
columns = word(sizes, 7) * 256 + word(sizes, 8)
set multiplot
unset key
unset colorbox
set palette gray negative
set lmargin at screen 0.05; set rmargin at screen 0.42; set bmargin at screen 0.12; set tmargin at screen 0.9
set title "how many of each digit were read as which"
set xlabel "read"
set ylabel "shown"
set xtics 0,1,9
set ytics 0,1,9
set yrange [9.5:-0.5]
set xrange [-0.5:9.5]
set cbrange [0:*]
plot ARG1 . "/confusion.tsv" matrix with image, \
    ARG1 . "/confusion.tsv" matrix using 1:2:($3 > 0 ? sprintf("%d", $3) : "") with labels tc rgb "#c04000"
set lmargin at screen 0.46; set rmargin at screen 0.99; set bmargin at screen 0.03; set tmargin at screen 0.9
set title "misclassified: shown, class"
unset border; unset tics; unset xlabel; unset ylabel
set xrange [0:10 * columns * 1.25]
set yrange [6 * rows * 1.5:0]
set cbrange [*:*]
count = int(system(sprintf("wc -l < '%s/misread.tsv'", ARG1)))
shown(i) = system(sprintf("sed -n %dp '%s/misread.tsv' | cut -f3", i + 1, ARG1))
read_as(i) = system(sprintf("sed -n %dp '%s/misread.tsv' | cut -f4", i + 1, ARG1))
do for [i = 0:count - 1] {
    set label i + 1 sprintf("%s, %s", shown(i), read_as(i)) \
        at (i % 10 + 0.4) * columns * 1.25, (i / 10 + 0.9) * rows * 1.5 center font ",9"
}
if (count > 0) {
    plot for [i = 0:count - 1] file binary skip=16 + i * rows * columns array=(columns, rows) format="%uint8" \
        origin=((i % 10) * columns * 1.25, (i / 10) * rows * 1.5 + 1) using 1 with image
}
unset multiplot
