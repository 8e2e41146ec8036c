# counting.gp - sums of ones: sums to nearest stop at 2^p, stochastic sums do not; and the sums with each cure.
load "plots/style.gp"
eval figure_of("counting")

eval figure_groups(csv, "format mode cure what run")
formats = "binary32 binary16 tf32 bfloat16 e6m9 e4m3 e5m2 q8.8"
colour(format) = format eq "q8.8" ? fixed : value(format)
top = 2**26

# where the plain sums to nearest stopped (NaN: this run has none), in the order of `formats`
array at[8]
array predicted[8]
has = ""
do for [c = 1:8] {
    plain = word(formats, c) . " rne plain"
    at[c] = summary(csv, "stop", plain)
    predicted[c] = summary(csv, "predicted stop", plain)
    if (at[c] == at[c]) { has = has . sprintf(" %d", c) }
}
stop_text(x) = x == floor(x) ? sprintf("%.0f", x) : sprintf("%.6g", x)
moving = has_rows("binary32 rne plain open 1") # binary32 counted without an end
# if tf32 and binary16 have the same stop, they share a line and a label
twins = strstrt(has, " 2") && strstrt(has, " 3") && at[2] == at[3]
name_of(c) = c == 2 && twins ? "binary16, tf32" : word(formats, c)
lines = ""
do for [i in has] { if (!(int(i) == 3 && twins)) { lines = lines . " " . i } }

random = ""
do for [format in "e5m2 e4m3 bfloat16"] {
    random = random . (has_rows(format . " sra plain spread -") ? " " . format : "")
}
# the rows drawn as a single run; with --paths 0 there are none, and the mean replaces them, hidden by its own line
single = int(option(csv, "paths")) > 0 ? "path" : "spread"
single_value = single eq "path" ? "value" : "mean"

path(format, cure) = format . " rne " . cure . " path 1"
spread(format) = rows(format . " sra plain spread -")
wandering(format) = single eq "path" ? rows(format . " sra plain path 1") : spread(format)
cures = "plain chunks kahan master"
chunk = int(option(csv, "chunk"))
array cured[4]
cured_has = ""
do for [c = 1:4] {
    cured[c] = summary(csv, "stop", "bfloat16 rne " . word(cures, c))
    if (has_rows(path("bfloat16", word(cures, c))) && (c > 1 || strstrt(has, " 4"))) { cured_has = cured_has . sprintf(" %d", c) }
}
cure_text(c) = c == 1 ? "plain" : c == 2 ? sprintf("chunks of %d", chunk) : c == 3 ? "Kahan" : "binary32 copy"
cure_colour(c) = value(word("red orange green blue", c))
if (words(has) + words(random) + words(cured_has) == 0) { eval figure_refuse("counting", "needs a run with --formats binary16,bfloat16,e4m3 and --modes rne,sra") }

all_good = words(has) > 0 && summary(csv, "stops off their predictions", "plain") == 0
e4m3_ends = summary(csv, "largest number", "e4m3")

positive(name) = column(name) > 0 ? column(name) : NaN
powers = "('1' 1, '2^4' 16, '2^8' 256, '2^{12}' 4096, '2^{16}' 65536, '2^{20}' 1048576, '2^{24}' 2**24)"

set samples 2
do for [file in figure_files] {
    eval figure_panels("counting", file, 1160, 560)
    headline = all_good ? "Counting to nearest in a floating-point format with p significant bits stops at exactly 2^{p}" : "Counting by ones: where sums stop, and what counts on"
    eval heading(0.95, headline, 0.897, "The sum of n ones, every addition rounded to the format. Wide grey line: the exact sum. Circles: where the count was predicted to stop.")
    set logscale xy 2
    eval panel_y(0.125, 0.80)
    eval "set xtics " . powers
    eval "set ytics " . powers
    set xlabel "ones added, n" offset 0,0.3
    set ylabel "computed sum" offset 1.2,0

    eval panel_x(0.058, 0.35)
    set xrange [1:top]
    set yrange [1:top]
    set title "To nearest: every format stops"
    do for [i in lines] {
        c = int(i)
        right = c == 1 ? 0 : 1
        if (right) { set label 10 + c name_of(c) . ": " . stop_text(at[c]) at (c == 4 ? 2**17 : 0.8*top),at[c]*(c == 5 || c == 7 || c == 8 ? 0.6 : 1.6) right textcolor rgb colour(word(formats, c)) font small_font }
        else { set label 10 + c name_of(c) . ": " . stop_text(at[c]) at at[c]/2.6,at[c]*1.1 right textcolor rgb colour(word(formats, c)) font small_font }
        set arrow 10 + c from at[c],at[c] to top,at[c] nohead front linecolor rgb colour(word(formats, c)) linewidth 2
        if (predicted[c] == predicted[c]) { set label 30 + c "" at predicted[c],predicted[c] point pointtype 6 pointsize 1.1 linewidth 1.6 linecolor rgb ink front }
    }
    if (moving) { set label 9 "binary32: no stop in this run" at 2**21,2**23.5 right textcolor rgb binary32 font small_font }
    if (words(lines) == 0) { set label 10 "not in this run:\nneeds --modes rne" at graph 0.5,0.9 center textcolor rgb grey font label_font }
    if (words(lines) == 0) { plot x with lines linecolor rgb pale linewidth 8 } else {
    plot x with lines linecolor rgb pale linewidth 8, \
         for [i in (moving ? "1" : "") . lines] rows(path(word(formats, int(i)), "plain")) using "n":(positive("value")) with lines linecolor rgb colour(word(formats, int(i))) linewidth 2
    }
    do for [i = 1:50] { unset label i; unset arrow i }

    eval panel_x(0.415, 0.675)
    unset logscale y
    set xrange [1:2**15]
    set yrange [0:2]
    set xtics ('1' 1, '2^3' 8, '2^6' 64, '2^9' 512, '2^{12}' 4096, '2^{15}' 2**15)
    set ytics 0,0.5,2 format "%.1f"
    set ylabel "computed sum / n" offset 0.6,0
    set title "Stochastic: right on average"
    set key at graph 0.02,0.99 left top reverse Left font small_font
    set label 12 "bands: 90 % of the runs\nthin lines: single runs\nblack: means" at graph 0.04,0.155 left textcolor rgb grey font small_font
    if (strstrt(random, "e4m3")) { set label 11 sprintf("e4m3 ends\nat %g", e4m3_ends) at 2**14.9,0.3 right textcolor rgb e4m3 font small_font }
    if (words(random) == 0) { set label 10 "not in this run:\nneeds --modes sra" at graph 0.5,0.9 center textcolor rgb grey font label_font; unset label 12 }
    if (words(random) == 0) { plot 1 with lines linecolor rgb pale linewidth 8 } else {
    plot for [format in random] spread(format) using "n":(column("q05") / column("n")):(column("q95") / column("n")) with filledcurves linecolor rgb tint(value(format), 0.35) title format, \
         1 with lines linecolor rgb pale linewidth 4, \
         for [format in random] wandering(format) using "n":(positive(single_value) / column("n")) with lines linecolor rgb value(format) linewidth 1, \
         for [format in random] spread(format) using "n":(column("mean") / column("n")) with lines linecolor rgb ink linewidth 2
    }
    do for [i = 1:20] { unset label i }
    eval "set xtics " . powers
    eval "set ytics " . powers
    set format y "% h"
    set logscale y 2

    set lmargin at screen 0.74
    set ylabel "computed sum" offset 1.2,0
    set rmargin at screen 0.985
    set xrange [1:top]
    set yrange [1:top]
    unset key
    set title "Cures in bfloat16, to nearest"
    do for [i in cured_has] {
        c = int(i)
        if (cured[c] == cured[c]) {
            set arrow 10 + c from cured[c],cured[c] to top,cured[c] nohead front linecolor rgb cure_colour(c) linewidth 2
            if (cured[c] < 2**22) { set label 10 + c cure_text(c) . ": " . stop_text(cured[c]) at 0.8*top,cured[c]*0.55 right textcolor rgb cure_colour(c) font small_font } \
            else { set label 10 + c cure_text(c) . ": " . stop_text(cured[c]) at cured[c]/2.6,cured[c]*1.1 right textcolor rgb cure_colour(c) font small_font }
        } else { set label 10 + c cure_text(c) . ":\nno stop in this run" at 2**19,2**(24.5 - 2 * (4 - c)) right textcolor rgb cure_colour(c) font small_font }
    }
    if (words(cured_has) == 0) { set label 10 "not in this run:\nneeds --formats bfloat16" at graph 0.5,0.9 center textcolor rgb grey font label_font }
    if (words(cured_has) == 0) { plot x with lines linecolor rgb pale linewidth 8 } else {
    plot x with lines linecolor rgb pale linewidth 8, \
         for [j = 1:words(cured_has)] rows(path("bfloat16", word(cures, int(word(cured_has, words(cured_has) + 1 - j))))) using "n":(positive("value")) with lines linecolor rgb cure_colour(int(word(cured_has, words(cured_has) + 1 - j))) linewidth 2
    }
    eval figure_end
    set samples 2
}
