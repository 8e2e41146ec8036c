# stagnation.gp - the hundred steps as staircases, one panel per cure.
# caption: Adding 0.01 to 100 a hundred times. In 16 bits the term is less than half the spacing of the numbers near 100, so rounding to nearest undoes every addition, and rounding up takes a whole spacing each time. A binary32 master copy, Kahan's compensation, or summing the small terms first bring 16-bit sums to 101; stochastic rounding gets there on average, and is the only cure that moves 8 bits. Bands hold the middle 50 % and 90 % of the runs; thin lines are three of them.
load "plots/style.gp"
csv = "results/stagnation.csv"

path(format, mode, cure, n) = strcol("format") eq format && strcol("mode") eq mode && strcol("cure") eq cure && strcol("what") eq "path" && column("run") == n
spread(format, mode) = strcol("format") eq format && strcol("mode") eq mode && strcol("what") eq "spread"
x(chosen) = chosen ? column("step") : NaN
exact(k) = first + 0.01 * k
exact_style = "with lines linecolor rgb grey dashtype (3,4) linewidth 1.5"
stairs = "with steps linewidth 2"
set samples 2
set xrange [0:100]
set xtics 0,25,100
set key left top reverse Left font small_font

formats = "binary16 bfloat16 e4m3"
array last_mean[3]
array last_sd[3]
do for [c = 1:3] {
    stats csv using (spread(word(formats, c), "sra") && column("step") == 100 ? column("value") : NaN) nooutput
    last_mean[c] = STATS_max
    stats csv using (spread(word(formats, c), "sra") && column("step") == 100 ? column("sd") : NaN) nooutput
    last_sd[c] = STATS_max
}

array up[3]
do for [c = 1:3] {
    stats csv using (path(word("bfloat16 e6m9 binary16", c), "ru", "plain", 1) && column("step") == 100 ? column("value") : NaN) nooutput
    up[c] = sprintf("%s: %.10g", word("bfloat16 e6m9 binary16", c), STATS_max)
}
cures = "master kahan first"
array cured[3]
do for [c = 1:3] {
    stats csv using (path("binary16", "rne", word(cures, c), 1) && column("step") == 100 ? column("value") : NaN) nooutput
    cured[c] = sprintf("%.10g", STATS_max)
}

do for [file in figure_files] {
    eval figure_open("stagnation", file, 1160, 1080)
    set multiplot layout 3,3 margins 0.07,0.985,0.058,0.852 spacing 0.062,0.105
    set label 1 "Adding 0.01 to 100 a hundred times: 16-bit sums stand still, four cures move them" at screen 0.02,0.972 font title_font textcolor rgb ink
    set label 2 "The sum after each step. Dashed: the exact sum." at screen 0.02,0.942 font label_font textcolor rgb grey
    set label 3 "The disease" at screen 0.02,0.903 font "Helvetica:Bold,15" textcolor rgb red
    set label 4 "Cures that keep what rounding drops" at screen 0.02,0.604 font "Helvetica:Bold,15" textcolor rgb green
    set label 5 "The cure that rounds at random" at screen 0.02,0.305 font "Helvetica:Bold,15" textcolor rgb blue
    first = 100
    set yrange [99.8:101.4]
    set ytics 99.8,0.4,101.4 format "%.1f"
    set xtics format ""
    set ylabel "sum" offset 1.2,0

    set title "Round to nearest: no step in 16 bits"
    set label 11 "binary32" at 64,100.5 textcolor rgb binary32 font label_font
    set label 12 "q8.8, where 0.01 is 0.0117" at 88,101.26 right textcolor rgb fixed font label_font
    set label 13 "binary16, bfloat16, tf32, e6m9: 100" at 50,99.91 center textcolor rgb blue font label_font
    plot csv using (x(path("q8.8", "rne", "plain", 1))):"value" @stairs linecolor rgb fixed, \
         csv using (x(path("binary32", "rne", "plain", 1))):"value" @stairs linecolor rgb binary32, \
         csv using (x(path("bfloat16", "rne", "plain", 1))):"value" with steps linecolor rgb bfloat16 linewidth 5, \
         csv using (x(path("binary16", "rne", "plain", 1))):"value" @stairs linecolor rgb binary16
    unset label 1; unset label 2; unset label 3; unset label 4; unset label 5
    unset label 11; unset label 12; unset label 13; unset ylabel

    set title "Round up: each step a whole spacing"
    set yrange [90:180]
    set ytics 100,20,180 format "%.0f"
    set label 11 up[1] at 70,160 right textcolor rgb bfloat16 font label_font
    set label 12 up[2] at 88,117 right textcolor rgb e6m9 font label_font
    set label 13 up[3] at 98,95.5 right textcolor rgb binary16 font label_font
    plot exact(x) @exact_style, \
         csv using (x(path("bfloat16", "ru", "plain", 1))):"value" @stairs linecolor rgb bfloat16, \
         csv using (x(path("e6m9", "ru", "plain", 1))):"value" @stairs linecolor rgb e6m9, \
         csv using (x(path("binary16", "ru", "plain", 1))):"value" @stairs linecolor rgb binary16

    set title "8 bits: no step, whatever is kept"
    set yrange [92:106]
    set ytics 92,4,106
    first = 96
    set label 11 "the next number of e4m3 is 104" at 50,105.0 center textcolor rgb grey font label_font
    set label 12 "e4m3 and e5m2, with a master copy," at 50,95.1 center textcolor rgb ink font label_font
    set label 13 "Kahan, or the terms first: 96" at 50,93.9 center textcolor rgb ink font label_font
    set arrow 1 from 0,104 to 100,104 nohead linecolor rgb grey linewidth 1
    plot exact(x) @exact_style, \
         csv using (x(path("e4m3", "rne", "first", 1))):"value" with steps linecolor rgb e4m3 linewidth 5, \
         csv using (x(path("e4m3", "rne", "kahan", 1))):"value" with steps linecolor rgb e4m3 linewidth 5, \
         csv using (x(path("e4m3", "rne", "master", 1))):"value" with steps linecolor rgb e4m3 linewidth 5, \
         csv using (x(path("e5m2", "rne", "kahan", 1))):"value" @stairs linecolor rgb e5m2
    unset label 11; unset label 12; unset label 13; unset arrow 1
    first = 100
    set yrange [99.8:101.4]
    set ytics 99.8,0.4,101.4 format "%.1f"

    titles = "'Master copy in binary32' 'Kahan’s sum in the format' 'The terms summed first'"
    do for [c = 1:3] {
        if (c == 1) { set ylabel "sum" offset 1.2,0 } else { unset ylabel }
        set title word(titles, c) . ": " . cured[c]
        plot exact(x) @exact_style, \
             csv using (x(path("bfloat16", "rne", word(cures, c), 1))):"value" @stairs linecolor rgb bfloat16 title "bfloat16", \
             csv using (x(path("e6m9", "rne", word(cures, c), 1))):"value" @stairs linecolor rgb e6m9 title "e6m9", \
             csv using (x(path("binary16", "rne", word(cures, c), 1))):"value" @stairs linecolor rgb binary16 title "binary16"
    }

    set xtics format "%g"
    set xlabel "additions" offset 0,0.4
    do for [c = 1:3] {
        format = word(formats, c)
        colour = value(format)
        if (c == 1) { set ylabel "sum" offset 1.2,0; set yrange [99.8:102.2]; set ytics 99.8,0.4,102.2 format "%.1f" } else { unset ylabel }
        if (c == 2) { set yrange [99.6:103.2]; set ytics 99.5,0.5,103 format "%.1f" }
        if (c == 3) { set yrange [92:116]; set ytics 92,4,116 format "%.0f"; first = 96 }
        set title sprintf("%s: mean %.2f, sd %.2f", format, last_mean[c], last_sd[c])
        plot csv using (x(spread(format, "sra"))):"q05":"q95" with filledcurves linecolor rgb tint(colour, 0.2) title "90 % of the runs", \
             csv using (x(spread(format, "sra"))):"q25":"q75" with filledcurves linecolor rgb tint(colour, 0.42) title "50 % of the runs", \
             for [n = 1:3] csv using (x(path(format, "sra", "plain", n))):"value" with steps linecolor rgb colour linewidth 1, \
             exact(x) @exact_style, \
             csv using (x(spread(format, "sra"))):"value" with lines linecolor rgb ink linewidth 3 title "mean"
    }
    unset xlabel
    unset multiplot
    unset output
}
