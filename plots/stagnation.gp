# stagnation.gp - the paths of a hundred steps, one panel per cure.
load "plots/style.gp"
eval figure_of("stagnation")

asked = option(csv, "start") . " " . option(csv, "term") . " " . option(csv, "steps")
if (real(word(asked, 1)) != 100 || real(word(asked, 2)) != 0.01 || real(word(asked, 3)) != 100) {
    eval figure_refuse("stagnation", "it shows 100 additions of 0.01 to 100: needs a run without --start, --term and --steps")
}

eval figure_groups(csv, "format mode cure what run")
path(format, mode, cure, n) = rows(sprintf("%s %s %s path %d", format, mode, cure, n))
spread(format) = rows(format . " sra plain spread -")
exact(k) = first + 0.01 * k
exact_style = "with lines linecolor rgb grey dashtype (3,4) linewidth 1.5"
stairs = "with steps linewidth 2"

ran(format, mode, cure) = has_rows(format . " " . mode . " " . cure . " path 1")
only(format, mode, cure) = ran(format, mode, cure) ? format . " " : ""
three(mode, cure) = only("bfloat16", mode, cure) . only("e6m9", mode, cure) . only("binary16", mode, cure)
comma(list) = words(list) < 2 ? word(list . " -", 1) : words(list) == 2 ? word(list, 1) . " and " . word(list, 2) : words(list) == 3 ? word(list, 1) . ", " . word(list, 2) . " and " . word(list, 3) : word(list, 1) . ", " . word(list, 2) . ", " . word(list, 3) . " and " . word(list, 4)
absent = "set label 20 \"not in this run:\\nneeds %s\" at graph 0.5,0.9 center textcolor rgb grey font label_font"
needs(list, what) = words(list) > 0 ? "unset label 20" : sprintf(absent, what)

still = only("binary16", "rne", "plain") . only("bfloat16", "rne", "plain") . only("e6m9", "rne", "plain") . only("tf32", "rne", "plain")
bits(list) = list
moving = only("q8.8", "rne", "plain") . only("binary32", "rne", "plain")
up = three("ru", "plain")
array up_text[4]
do for [c = 1:words(up)] {
    up_text[c] = sprintf("%s: %.10g", word(up, c), summary(csv, "end", word(up, c) . " ru plain"))
}
up_x(format) = format eq "bfloat16" ? 70 : format eq "e6m9" ? 88 : 98
up_y(format) = format eq "bfloat16" ? 160 : format eq "e6m9" ? 117 : 95.5

eight = only("e4m3", "rne", "first") . only("e5m2", "rne", "first")
cures = "master kahan first"
titles = "'Master copy in binary32' 'Kahan’s sum in the format' 'The terms summed first'"
array cured[3]
do for [c = 1:3] {
    sum = summary(csv, "end", "binary16 rne " . word(cures, c))
    cured[c] = word(titles, c) . (sum == sum ? sprintf(": %.10g", sum) : "")
}

formats = "binary16 bfloat16 e4m3"
array random_title[3]
array middle[3]   # of the middle 50 % of the runs, in the key
array there[3]
paths = int(option(csv, "paths"))
paths = paths < 3 ? paths : 3
do for [c = 1:3] {
    format = word(formats, c)
    runs = format . " sra"
    average = summary(csv, "mean", runs)
    there[c] = average == average ? format : ""
    random_title[c] = average == average ? sprintf("%s: mean %.2f, sd %.2f", format, average, summary(csv, "sd", runs)) : format . ", stochastic rounding"
    low = summary(csv, "q25", runs)
    middle[c] = low == summary(csv, "q75", runs) ? sprintf("50 %% of the runs: all at %g", low) : "50 % of the runs"
}

set samples 2
set xrange [0:100]
set xtics 0,25,100
set key left top reverse Left font small_font

do for [file in figure_files] {
    eval figure_open("stagnation", file, 1160, 1080)
    set multiplot layout 3,3 margins 0.07,0.985,0.058,0.852 spacing 0.062,0.105
    eval heading(0.972, "Adding 0.01 to 100 a hundred times: 16-bit floating-point sums stand still, four cures move them", 0.942, "The sum after each step. Dashed: the exact sum, in the panels of 8 bits from 96, to which 100 is rounded.")
    set label 3 "The disease" at screen 0.02,0.903 font "Helvetica:Bold,15" textcolor rgb red
    set label 4 "Cures that keep what rounding drops" at screen 0.02,0.604 font "Helvetica:Bold,15" textcolor rgb green
    set label 5 "The cure that rounds at random" at screen 0.02,0.305 font "Helvetica:Bold,15" textcolor rgb blue
    first = 100
    set yrange [99.8:101.4]
    set ytics 99.8,0.4,101.4 format "%.1f"
    set xtics format ""
    set ylabel "sum" offset 1.2,0

    set title "To nearest: 16-bit floating point stands still"
    if (strstrt(moving, "binary32")) { set label 11 "binary32" at 64,100.5 textcolor rgb binary32 font label_font }
    if (strstrt(moving, "q8.8")) { set label 12 "q8.8 (fixed point): 0.01 is 0.0117" at 86,101.26 right textcolor rgb fixed font label_font }
    if (words(still) > 0) { set label 13 bits(comma(still)) . ": 100" at 50,99.91 center textcolor rgb blue font small_font }
    basic = moving . still
    eval needs(basic, "--modes rne")
    if (words(basic) == 0) { plot exact(x) @exact_style } else {
    plot exact(x) @exact_style, \
         for [i = 1:words(basic)] path(word(basic, i), "rne", "plain", 1) using "step":"value" with steps linecolor rgb (word(basic, i) eq "q8.8" ? fixed : value(word(basic, i))) linewidth (word(basic, i) eq "bfloat16" ? 5 : 2)
    }
    do for [i = 1:5] { unset label i }
    unset label 11; unset label 12; unset label 13; set ylabel ""

    set title "Round up: each step a whole spacing"
    set yrange [90:180]
    set ytics 100,20,180 format "%.0f"
    do for [c = 1:words(up)] { set label 10 + c up_text[c] at up_x(word(up, c)),up_y(word(up, c)) right textcolor rgb value(word(up, c)) font label_font }
    eval needs(up, "--modes ru")
    if (words(up) == 0) { plot exact(x) @exact_style } else {
    plot exact(x) @exact_style, \
         for [i = 1:words(up)] path(word(up, i), "ru", "plain", 1) using "step":"value" @stairs linecolor rgb value(word(up, i))
    }
    unset label 11; unset label 12; unset label 13

    set title "8 bits: 100 becomes 96 and stays there"
    set yrange [92:106]
    set ytics 92,4,106
    first = 96
    eval needs(eight, "--formats e4m3,e5m2")
    if (words(eight) > 0) {
        set label 11 "the next number of e4m3 is 104" at 50,105.0 center textcolor rgb grey font label_font
        set label 12 comma(eight) . ", with a master copy," at 50,95.1 center textcolor rgb ink font label_font
        set label 13 "Kahan, or the terms first: 96" at 50,93.9 center textcolor rgb ink font label_font
        set label 14 "exact: 96 + 0.01 k" at 99,97.7 right textcolor rgb grey font label_font
        set arrow 1 from 0,104 to 100,104 nohead linecolor rgb grey linewidth 1
    }
    if (words(eight) == 0) { plot exact(x) @exact_style } else {
    plot exact(x) @exact_style, \
         for [i = 1:words(eight)] for [c = 1:3] path(word(eight, i), "rne", word(cures, c), 1) using "step":"value" with steps linecolor rgb value(word(eight, i)) linewidth (i == 1 ? 5 : 2)
    }
    do for [i = 11:14] { unset label i }
    unset arrow 1
    first = 100
    set yrange [99.8:101.4]
    set ytics 99.8,0.4,101.4 format "%.1f"

    do for [c = 1:3] {
        if (c == 1) { set ylabel "sum" offset 1.2,0 } else { set ylabel "" }
        set title cured[c]
        shown = three("rne", word(cures, c))
        eval needs(shown, "--formats binary16,bfloat16")
        if (words(shown) == 0) { plot exact(x) @exact_style; continue }
        plot exact(x) @exact_style, \
             for [i = 1:words(shown)] path(word(shown, i), "rne", word(cures, c), 1) using "step":"value" @stairs linecolor rgb value(word(shown, i)) title word(shown, i)
    }

    set xtics format "%g"
    set xlabel "additions k" offset 0,0.4
    do for [c = 1:3] {
        colour = value(word(formats, c))
        if (c == 1) { set ylabel "sum" offset 1.2,0; set yrange [99.8:102.2]; set ytics 99.8,0.4,102.2 format "%.1f" } else { set ylabel "" }
        if (c == 2) { set yrange [99.6:103.2]; set ytics 99.5,0.5,103 format "%.1f" }
        if (c == 3) { set yrange [92:116]; set ytics 92,4,116 format "%.0f"; first = 96 }
        set title random_title[c]
        eval needs(there[c], sprintf("--formats %s --modes sra", word(formats, c)))
        if (there[c] eq "") { plot exact(x) @exact_style; continue }
        plot spread(there[c]) using "step":"q05":"q95" with filledcurves linecolor rgb tint(colour, 0.2) title "90 % of the runs", \
             spread(there[c]) using "step":"q25":"q75" with filledcurves linecolor rgb tint(colour, 0.42) title middle[c], \
             for [n = 1:paths] path(there[c], "sra", "plain", n) using "step":"value" with steps linecolor rgb colour linewidth 1 title (n == 1 ? "single runs" : ""), \
             exact(x) @exact_style, \
             spread(there[c]) using "step":"value" with lines linecolor rgb ink linewidth 3 title "mean"
    }
    set xlabel ""
    unset multiplot
    unset output
}
