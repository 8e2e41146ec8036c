# cartoon_sgd.gp - gradient ascent on a parabola: the path of the weight, where it stops, and cures.
load "plots/style.gp"
eval figure_of("cartoon_sgd")

if (real(option(csv, "rate")) != 0.01) { eval figure_refuse("cartoon_sgd", "it shows rate 0.01: needs a run without --rate") }
eval figure_groups(csv, "format mode cure what run")
formats = "binary32 binary16 tf32 bfloat16 e6m9 e4m3 e5m2"
right = 500
exact(k) = 3 * (1 - 0.98**k)

# where the plain weights to nearest stopped, in the order of `formats`
array at[7]
array moved[7]
has = ""
do for [c in "1 2 4 6 7"] {
    at[int(c)] = summary(csv, "stop", word(formats, int(c)) . " rne plain")
    moved[int(c)] = summary(csv, "updates", word(formats, int(c)) . " rne plain")
    if (at[int(c)] == at[int(c)]) { has = has . " " . c }
}

random = ""
do for [format in "e5m2 e4m3 bfloat16"] {
    random = random . (has_rows(format . " sra plain spread -") ? " " . format : "")
}
updates = int(option(csv, "updates"))
eval measure_all("strcol('what') eq 'spread' && column('update') == updates", "column('min')")
arrived = hits && least == 3
# the rows drawn as a single run; with --paths 0 there are none, and the mean replaces them, hidden by its own line
single = int(option(csv, "paths")) > 0 ? "path" : "spread"
single_value = single eq "path" ? "value" : "mean"

path(format, cure) = format . " rne " . cure . " path 1"
spread(format) = rows(format . " sra plain spread -")
wandering(format) = single eq "path" ? rows(format . " sra plain path 1") : spread(format)
cures = "plain kahan master"
array cured[3]
array cured_moved[3]
cured_has = ""
do for [c = 1:3] {
    cured[c] = summary(csv, "stop", "bfloat16 rne " . word(cures, c))
    cured_moved[c] = summary(csv, "updates", "bfloat16 rne " . word(cures, c))
    cured_has = cured_has . (has_rows(path("bfloat16", word(cures, c))) ? sprintf(" %d", c) : "")
}
cure_colour(c) = value(word("red green blue", c))
if (words(has) + words(random) + words(cured_has) == 0) { eval figure_refuse("cartoon_sgd", "needs a run with --formats binary16,bfloat16,e4m3 and --modes rne,sra") }

do for [file in figure_files] {
    eval figure_panels("cartoon_sgd", file, 1160, 560)
    headline = words(has) > 0 ? "Gradient ascent to a top at 3: rounded to nearest, the weight stands still before it gets there" : "Gradient ascent to a top at 3, every operation rounded"
    eval heading(0.95, headline, 0.897, "Weight after k updates by 0.01 times the gradient of 3 - (w - 3)^2, every operation rounded to the format. Wide grey line: exact arithmetic.")
    set samples 400
    eval panel_y(0.125, 0.80)
    set xrange [0:right]
    set xtics 0,100,right-100
    set yrange [0:3.6]
    set ytics 0,0.5,3 format "%.1f"
    set xlabel "updates k" offset 0,0.3
    set ylabel "weight w" offset 0.8,0

    eval panel_x(0.056, 0.36)
    set title "To nearest: updates vanish"
    do for [i in has] {
        c = int(i)
        said = c == 1 ? sprintf("%s: %.7f after %.0f updates", word(formats, c), at[c], moved[c]) : sprintf("%s: %.7g after %.0f updates", word(formats, c), at[c], moved[c])
        set label 10 + c said at 0.98*right,(c == 1 ? 3.36 : c == 2 ? 3.14 : c == 4 ? 2.48 : at[c] - 0.13) right textcolor rgb value(word(formats, c)) font small_font
        if (moved[c] < right) { set arrow 10 + c from moved[c],at[c] to right,at[c] nohead front linecolor rgb value(word(formats, c)) linewidth 2 }
    }
    if (words(has) == 0) { set label 10 "not in this run:\nneeds --modes rne" at graph 0.5,0.5 center textcolor rgb grey font label_font }
    if (words(has) == 0) { plot exact(x) with lines linecolor rgb pale linewidth 8 } else {
    plot exact(x) with lines linecolor rgb pale linewidth 8, \
         for [i in has] rows(path(word(formats, int(i)), "plain")) using "update":"weight" with lines linecolor rgb value(word(formats, int(i))) linewidth 2
    }
    do for [i = 1:50] { unset label i; unset arrow i }

    eval panel_x(0.41, 0.665)
    set ylabel ""
    set title arrived ? "Stochastic: all runs arrive at 3" : "Stochastic"
    set key at graph 0.98,0.32 right top noreverse Right font small_font
    set label 12 "bands: 90 % of the runs\nthin lines: single runs\nblack: means" at graph 0.985,0.52 right textcolor rgb grey font small_font front
    if (words(random) == 0) { set label 10 "not in this run:\nneeds --modes sra" at graph 0.5,0.9 center textcolor rgb grey font label_font; unset label 12 }
    if (words(random) == 0) { plot exact(x) with lines linecolor rgb pale linewidth 8 } else {
    plot for [format in random] spread(format) using "update":"q05":"q95" with filledcurves linecolor rgb tint(value(format), 0.35) title format, \
         exact(x) with lines linecolor rgb pale linewidth 4, \
         for [format in random] wandering(format) using "update":(column(single_value)) with lines linecolor rgb value(format) linewidth 1, \
         for [format in random] spread(format) using "update":"mean" with lines linecolor rgb ink linewidth 2
    }
    do for [i = 1:20] { unset label i }

    eval panel_x(0.74, 0.985)
    set logscale y 10
    set yrange [1e-4:10]
    set ytics 1e-4,10,10 format "10^{%T}"
    set ylabel "distance left, 3 - w" offset 1.4,0
    unset key
    set title "Cures in bfloat16, to nearest"
    do for [i in cured_has] {
        c = int(i)
        if (cured[c] == cured[c]) {
            if (cured[c] < 3) {
                set arrow 10 + c from cured_moved[c],3-cured[c] to right,3-cured[c] nohead front linecolor rgb cure_colour(c) linewidth 2
                set label 10 + c sprintf("%s%.7g", c == 1 ? "plain: stops at " : c == 2 ? "Kahan: " : "binary32 copy:\n", cured[c]) at 0.98*right,(3-cured[c])*(c == 3 ? 2.7 : 1.5) right textcolor rgb cure_colour(c) font small_font
            } else {
                set arrow 10 + c from cured_moved[c],2**-6 to cured_moved[c],1e-4 head filled linecolor rgb cure_colour(c) linewidth 2
                set label 10 + c sprintf("%s:\nexactly 3 after\n%.0f updates", word("plain Kahan copy", c), cured_moved[c]) at cured_moved[c]-14,1e-3 right textcolor rgb cure_colour(c) font small_font
            }
        }
    }
    if (words(cured_has) == 0) { set label 10 "not in this run:\nneeds --formats bfloat16" at graph 0.5,0.9 center textcolor rgb grey font label_font }
    if (words(cured_has) == 0) { plot 3 - exact(x) with lines linecolor rgb pale linewidth 8 } else {
    plot 3 - exact(x) with lines linecolor rgb pale linewidth 8, \
         for [i in cured_has] rows(path("bfloat16", word(cures, int(i)))) using "update":(column("weight") < 3 ? 3 - column("weight") : NaN) with lines linecolor rgb cure_colour(int(i)) linewidth 2
    }
    eval figure_end
}
