# figures.gp - the figures of the sheets, from the data that course/make.sh computes: gnuplot -e "data='D'; out='O'".
set encoding utf8
set datafile separator comma
blue = 0x0072B2; orange = 0xD55E00; green = 0x009E73; grey = 0x777777; purple = 0xCC79A7
if (!exists("terminal_of")) terminal_of = "svg"
open(name) = (terminal_of eq "svg" ? "set terminal svg size 760,340 dynamic enhanced font 'Helvetica,13' background rgb 'white'" : \
    "set terminal pngcairo size 760,340 enhanced font 'Helvetica,11' background rgb 'white'") . sprintf("; set output '%s/%s.%s'", out, name, terminal_of)
file(name) = data . "/" . name . ".csv"
set border 3
set tics nomirror out
set key spacing 1.2 samplen 2

eval open("L0")
set title "All numbers from 0 to 8 of three formats of 6 bits"
set xlabel "value"
set yrange [0.4:3.6]
set xrange [-0.1:8.1]
set ytics ("q4.2" 1, "e2m3" 2, "e3m2" 3)
plot file("q4.2") using 1:(1) with points pointtype 7 pointsize 0.4 linecolor rgb grey notitle, \
     file("e2m3") using 1:(2) with points pointtype 7 pointsize 0.4 linecolor rgb orange notitle, \
     file("e3m2") using 1:(3) with points pointtype 7 pointsize 0.4 linecolor rgb blue notitle
unset output
set ytics autofreq
set autoscale

is(mode, cure, run) = strcol(1) eq "binary16" && strcol(2) eq mode && strcol(3) eq cure && strcol(4) eq "path" && strcol(5) eq run
path(mode, cure, run) = is(mode, cure, run) ? $7 : NaN
eval open("L1")
set title "100 + 0.01 + 0.01 + ... in binary16"
set xlabel "additions"
set ylabel "sum"
set key left top
set yrange [99.5:107]
plot file("staircase") using 6:(path("ru", "plain", "1")) with steps linewidth 2 linecolor rgb orange title "upward", \
     100 + 0.01 * x linecolor rgb grey dashtype 2 title "exact", \
     file("staircase") using 6:(path("rne", "plain", "1")) with steps linewidth 2 linecolor rgb blue title "to nearest"
unset output

eval open("L2")
set title "100 + 0.01 + 0.01 + ... in binary16, with cures"
set yrange [99.9:101.9]
plot 100 + 0.01 * x linecolor rgb grey dashtype 2 title "exact", \
     file("staircase") using 6:(path("rne", "plain", "1")) with steps linewidth 2 linecolor rgb blue title "to nearest", \
     file("staircase") using 6:(path("rne", "kahan", "1")) with steps linewidth 2 linecolor rgb green title "Kahan", \
     for [run in "1 2 3"] file("staircase") using 6:(path("sra", "plain", run)) with steps linecolor rgb purple \
         title (run eq "1" ? "stochastic, three runs" : "")
unset output
set autoscale

eval open("L3")
set title "Gradients of the layers' outputs while a network learns digits"
set xlabel "log_2 of the magnitude"
set ylabel "share of all gradients in percent"
set xrange [-45:0]
set yrange [0:*]
set key right top
set arrow 1 from -25, graph 0 to -25, graph 1 nohead linecolor rgb orange linewidth 2
set arrow 2 from -14, graph 0 to -14, graph 1 nohead linecolor rgb grey dashtype 2
set label 1 "flushed by binary16" at -25.5, graph 0.93 right textcolor rgb orange
set label 2 "subnormal" at -19.5, graph 0.93 center textcolor rgb grey
bin(stage) = strcol(3) eq "agrad" && strcol(4) eq "all" && strcol(6) eq stage && strcol(7) eq "bin" ? 100 * $12 : NaN
plot file("underflow") using 10:(bin("begin")) with linespoints pointtype 7 pointsize 0.3 linewidth 2 linecolor rgb blue title "first third", \
     file("underflow") using 10:(bin("end")) with linespoints pointtype 7 pointsize 0.3 linewidth 2 linecolor rgb orange title "last third"
unset output
unset arrow
unset label
set autoscale

eval open("L4")
set title "Test accuracy after training with gradients in binary16"
set xlabel "log_2 of the loss scale"
set ylabel "percent"
set yrange [-3:103]
score(f) = strcol(2) eq f && strcol(6) eq "final" && strcol(4) ne "" ? 100 * $15 : NaN
plot file("scaling") using 4:(score("binary16")) smooth unique with linespoints pointtype 7 linewidth 2 linecolor rgb blue notitle
unset output
set autoscale

eval open("L5")
set title "1 - 1 + 3*2^{-26} + 3*2^{-26}: the bits of the terms, and where three machines cut"
unset xlabel
unset ylabel
unset border
unset tics
unset key
set xrange [-8:28.5]
set yrange [-0.6:4.8]
term(i) = word("1 -1 3*2^{-26} 3*2^{-26}", i)
do for [i = 1:4] {
    set label 10 + i term(i) at -1.5, 4 - i right
    do for [b = 0:26] {
        one = i < 3 ? b == 0 : b >= 25
        set object 100 * i + b rectangle from b - 0.45, 3.6 - i to b + 0.45, 4.4 - i fillcolor rgb (one ? blue : 0xffffff) fillstyle solid border linecolor rgb 0xcccccc
        if (one) { set label 1000 + 100 * i + b "1" at b, 4 - i center front textcolor rgb "white" }
    }
}
do for [b = 0:20:5] { set label 50 + b sprintf("2^{%d}", -b) at b, 3.75 center textcolor rgb grey }
do for [m = 0:2] {
    set arrow 1 + m from 23.5 + m, -0.5 to 23.5 + m, 4.15 nohead linewidth 2 linecolor rgb orange
    set label 80 + m word("v100 a100 h100", m + 1) at 23.5 + m, 4.55 center font ",11" textcolor rgb orange offset (m - 1) * 2.6, 0
}
plot -10 notitle
unset output
unset label
unset object
unset arrow
set border 3
set tics nomirror out
set autoscale

eval open("L6")
set title "The largest relative error of a rounding to nearest between x and 2x, formats of 8 bits"
set xlabel "x"
set ylabel "percent"
set logscale xy
set xrange [0.01:1000]
set yrange [0.1:150]
set key bottom left
set format x "%g"
plot file("errors") using 1:2 with lines linewidth 2 linecolor rgb grey title "q4.4", \
     file("errors") using 1:3 with lines linewidth 2 linecolor rgb orange title "e4m3", \
     file("errors") using 1:4 with lines linewidth 2 linecolor rgb blue title "e5m2"
unset output
