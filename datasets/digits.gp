# digits.gp - the first 200 test images of a set of digits as a picture.
#
#     make datasets && gnuplot -c datasets/digits.gp build/datasets/digits docs/figures/digits.png
set terminal pngcairo size 1120,560 background "white"
set output ARG2
unset border; unset tics; unset key; unset colorbox
set margins 0,0,0,0
set palette gray negative
set cbrange [0:255]
set xrange [-0.5:20 * 28 - 0.5]
set yrange [10 * 28 - 0.5:-0.5]
file = ARG1 . "/t10k-images-idx3-ubyte"
plot for [i = 0:199] file binary skip=16 + i * 784 array=(28, 28) format="%uint8" \
    origin=((i % 20) * 28, (i / 20) * 28) using 1 with image
