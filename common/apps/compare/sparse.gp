# Time against zeros, eight layers; then theta against gain.   -e "dir='...'": sparse_draw.sh's files
set terminal svg size 860,760 font 'Helvetica,11' background '#ffffff'
set output dir.'/sparse.svg'
set datafile separator "\t"
set multiplot layout 3,3 title 'An H200, fp32, kernels only: microseconds against percent of zeros in x' font ',13'
set border 3
set tics nomirror scale 0.5
set grid ytics lc rgb '#e4e4e4'
set xrange [0:95]
set yrange [0:*]
set xtics 25
layers = "lenet-conv2 alexnet-conv4 inception-4e inception-5b vgg-conv4_2 vgg-conv5_1 vgg-conv5_1-s2 vgg-conv5_1-n32"
do for [i = 1:words(layers)] {
    layer = word(layers, i)
    set title layer noenhanced font ',11'
    if (i == 1) { set key top right font ',9' samplen 1.5 } else { unset key }
    file = '< grep "^'.layer.'	" '.dir.'/sparse.dat'
    plot file using 2:3 with lines lw 2 dt 4 lc rgb '#3b6ea5' title 'lab 10', \
         file using 2:4 with lines lw 2 lc rgb '#c8702a' title 'lab 13', \
         file using 2:5 with lines lw 2 dt 2 lc rgb '#555555' title 'cuDNN'
}
set title 'cuDNN / lab 13 against theta = zeros / (H·W)' font ',11'
set xrange [*:*]
set logscale x
set xtics auto
set format x '10^{%T}'
unset key
plot dir.'/theta.dat' using 1:2 with points pt 7 ps 0.4 lc rgb '#5b8c3e', 1 with lines lc rgb '#aaaaaa'
unset multiplot
