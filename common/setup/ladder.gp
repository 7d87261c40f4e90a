# ladder.gp BASE TITLE UNIT NAMES - progress of a lab, from BASE.tsv: BASE.svg and BASE.png with one
# panel per case.  NAMES are the cases; the columns are those of write_case in
# autograder/record/ladder.c.  Lines are named where they are and differ in their dashes, for paper
# without colour.
file = ARG1 . ".tsv"
cases = words(ARG4)
across = cases < 3 ? cases : cases == 4 ? 2 : 3
down = (cases + across - 1) / across
set datafile separator tab
set border 3
set tics nomirror
decade(n) = 10.0 ** n
set format y "%.0s%c"
unset key
set style line 1 lc rgb '#777777' dt 2 lw 2
set style line 2 lc rgb '#2f7d4f' dt 4 lw 2
set style line 3 lc rgb '#222222' dt 3 lw 2
set style line 4 lc rgb '#3b6ea5' lw 3
stats file using 1 name "GRADE" nooutput
set xrange [0.5:GRADE_max + 0.5]
if (GRADE_max <= 12) set xtics 1
set xlabel "grade (×: not right)"
panels = 'set multiplot layout down, across title ARG2 noenhanced; \
    do for [i = 1:cases] { \
        set title word(ARG4, i) noenhanced; \
        set ylabel (i % across == 1 || across == 1) ? ARG3 : ""; \
        unset logscale y; \
        set yrange [*:*]; \
        stats file index i - 1 skip 1 using 5 name "BASE" nooutput; \
        stats file index i - 1 skip 1 using 6 name "GOAL" nooutput; \
        stats file index i - 1 skip 1 using 7 name "ROOF" nooutput; \
        set label 1 "baseline" at graph 0.98, first BASE_max right offset 0, 0.6; \
        set label 2 "reference" at graph 0.02, first GOAL_max left offset 0, 0.6; \
        if (ROOF_max > 0) { set label 3 "roof" at graph 0.02, first ROOF_max left offset 0, 0.6 }; \
        stats file index i - 1 skip 1 using 2 name "TOOK" nooutput; \
        top = TOOK_max > BASE_max ? TOOK_max : BASE_max; \
        low = ROOF_max > 0 ? ROOF_max : TOOK_min < GOAL_min ? TOOK_min : GOAL_min; \
        set logscale y; \
        set yrange [decade(floor(log10(0.8 * low))):decade(ceil(log10(1.2 * top)))]; \
        plot file index i - 1 skip 1 using 1:3 with steps ls 4, \
            "" index i - 1 skip 1 using 1:2 with points pt 7 ps 0.9 lc rgb "#3b6ea5", \
            BASE_max with lines ls 1, GOAL_max with lines ls 2, \
            ROOF_max > 0 ? ROOF_max : NaN with lines ls 3, \
            "" index i - 1 skip 1 using 1:4 with points pt 2 ps 0.9 lw 2 lc rgb "#b5403a" \
    }; \
    unset multiplot'
set terminal svg size 60 + 290 * across, 40 + 280 * down font "Helvetica,12" background "white"
set output ARG1 . ".svg"
eval(panels)
set terminal pngcairo size 2 * (60 + 290 * across), 2 * (40 + 280 * down) fontscale 1.7 linewidth 2 pointscale 1.7 background "white"
set output ARG1 . ".png"
eval(panels)
