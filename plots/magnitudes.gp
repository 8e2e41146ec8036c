# magnitudes.gp - histograms of the magnitudes of all tensors of a network, and the range of each format above them.
load "plots/style.gp"
eval figure_of("magnitudes")

eval figure_groups(csv, "what kind layer stage")
eval figure_groups(csv, "what")
bins(kind, layer, stage) = rows(sprintf("bin %s %s %s", kind, layer, stage))
flushed(kind, stage, format) = summary(csv, "percent flushed", kind . " " . stage . " " . format)

kinds = "input weight act agrad wgrad update"
titles = "'Inputs' 'Parameters' 'Activations (outputs of layers)' 'Gradients of activations' 'Gradients of parameters' 'Updates of parameters'"
array n_initial[6]
array n_trained[6]
array layers[6] # the numbers of the layers that have such a tensor
collect(number) = (list = strstrt(list . " ", sprintf(" %d ", number)) ? list : list . sprintf(" %d", number), 1)
do for [k = 1:6] {
    n_initial[k] = summary(csv, "values not zero", word(kinds, k) . " initial")
    n_trained[k] = summary(csv, "values not zero", word(kinds, k) . " trained")
    list = ""
    eval scan("share", "strcol('layer') ne 'all' && strcol('kind') eq word(kinds, k) && strcol('stage') eq 'trained' ? collect(column('layer')) : 0")
    layers[k] = list
}

# the formats in the order of the run, at most five
formats = ""
note(name) = (formats = strstrt(formats . " ", " " . name . " ") ? formats : formats . " " . name, 1)
eval scan("range_all", "note(strcol('format'))")
bars = words(formats) < 5 ? words(formats) : 5
palette = "binary32 binary16 bfloat16 tf32 e6m9 e4m3 e5m2"
colour(name) = strstrt(" " . palette . " ", " " . name . " ") ? value(name) : name[1:1] eq "q" ? fixed : 0x555555
array low[bars]
array normal[bars]
array high[bars]
do for [i = 1:bars] {
    eval measure("range_all", "strcol('format') eq word(formats, i)", "column('low')")
    low[i] = least
    eval measure("range_normal", "strcol('format') eq word(formats, i)", "column('low')")
    normal[i] = least
    eval measure("range_normal", "strcol('format') eq word(formats, i)", "column('high')")
    high[i] = least
}

headline = "Where the numbers of a network lie, and the range of each format"
late = flushed("agrad", "trained", "binary16")
if (flushed("act", "trained", "binary16") < 0.05 && flushed("weight", "trained", "binary16") < 0.05 && late >= 1) {
    headline = sprintf("binary16 holds weights and activations; of the trained net's activation gradients it flushes %.0f %%", late)
}

# binary16 flushes magnitudes below half of its least positive number; NaN if the run has no binary16
half = summary(csv, "log2 below which all is flushed", "binary16")
left = -76
right = 22
tics = 'set xtics nomirror textcolor rgb ink font small_font out scale 0.6 (%s)'
named_tics = '"2^{-70}" -70, "2^{-60}" -60, "2^{-50}" -50, "2^{-40}" -40, "2^{-30}" -30, "2^{-20}" -20, "2^{-10}" -10, "2^0" 0, "2^{10}" 10, "2^{20}" 20'
bare_tics = '"" -70, "" -60, "" -50, "" -40, "" -30, "" -20, "" -10, "" 0, "" 10, "" 20'
layer_colour(j, n) = n > 1 ? tint(green, 0.45 + 0.55 * (j - 1) / (n - 1)) : green

do for [file in figure_files] {
    eval figure_panels("magnitudes", file, 1160, 960)
    eval heading(0.973, headline, 0.945, "Above: the range of each format, pale where its numbers are subnormal. Flushed: turned into zero.")
    set label 3 "share of the values that are not zero, per power of two" at screen 0.012,0.42 center rotate by 90 font label_font textcolor rgb ink
    set xrange [left:right]
    do for [c = 1:2] {
        eval panel_x(c == 1 ? 0.094 : 0.579, c == 1 ? 0.493 : 0.99)

        # --- the ranges of the formats
        eval panel_y(0.775, 0.925)
        set yrange [-bars-0.55:-0.35]
        unset ytics
        set ylabel ""
        set xlabel ""
        set title ""
        set border 0
        unset xtics
        do for [i = 1:bars] {
            a = low[i] < left ? left : low[i]
            b = normal[i] < left ? left : normal[i] > right ? right : normal[i]
            e = high[i] > right ? right : high[i]
            ink_of = colour(word(formats, i))
            eval sprintf("set object %d rectangle from %g,%g to %g,%g fillcolor rgb %d fillstyle solid noborder", 2 * i, a, -i - 0.3, b, -i + 0.3, tint(ink_of, 0.4))
            eval sprintf("set object %d rectangle from %g,%g to %g,%g fillcolor rgb %d fillstyle solid noborder", 2 * i + 1, b, -i - 0.3, e, -i + 0.3, ink_of)
            if (a > left + 20) { set label 10 + i word(formats, i) at a - 1,-i right textcolor rgb ink_of font label_font } else { set label 10 + i word(formats, i) . (high[i] > right ? ": beyond both ends of this axis" : ": from far below") at left + 2,-i left textcolor rgb 0xFFFFFF font label_font front }
        }
        plot -100
        unset object
        do for [i = 1:bars] { unset label 10 + i }
        unset label 1
        unset label 2
        unset label 3
        set border 3

        # --- the three kinds of tensors
        set yrange [0.001:1200]
        set logscale y
        set boxwidth 1
        do for [r = 1:3] {
            k = 3 * (c - 1) + r
            kind = word(kinds, k)
            eval panel_y(0.735 - (r - 1) * 0.23 - 0.195, 0.735 - (r - 1) * 0.23)
            set title word(titles, k) offset 0,-0.75
            set ytics nomirror textcolor rgb ink font small_font out scale 0.6 ("0.001 %%" 0.001, "0.01 %%" 0.01, "0.1 %%" 0.1, "1 %%" 1, "10 %%" 10, "100 %%" 100)
            eval sprintf(tics, r == 3 ? named_tics : bare_tics)
            if (r == 3) { set xlabel "magnitude" } else { set xlabel "" }
            said = ""
            do for [i = 1:bars] {
                lost = flushed(kind, "trained", word(formats, i))
                said = said . (i > 1 ? ", " : "") . word(formats, i) . " " . (lost > 0 && lost < 0.1 ? "< 0.1" : lost > 99.5 && lost < 100 ? "> 99" : sprintf(lost < 10 ? "%.2g" : "%.0f", lost))
            }
            set label 20 "flushed to zero in the last step, in %: " at left + 1.2,640 left textcolor rgb grey font small_font
            set label 21 said at left + 1.2,210 left textcolor rgb ink font small_font
            # the number of nonzero values of each layer
            sums = ""
            do for [j = 1:words(layers[k])] {
                eval measure(sprintf("bin %s %s trained", kind, word(layers[k], j)), "1", "column('count')")
                sums = sums . sprintf(" %d", hits ? total : 1)
            }
            if (kind eq "input") { set key at graph 0.015,0.72 left top Left reverse samplen 1.2 spacing 1.05 font small_font; flushed_title = "last step: lost in binary16"; kept_title = half == half ? "last step: kept" : "last step" }
            if (kind eq "input") { layer_title = "single layers, light to dark"; initial_title = "first step" } else { unset key }
            if (kind eq "weight" && half == half) { set label 22 "binary16 flushes\nwhat is left of this line" at half - 1.5,0.3 right textcolor rgb binary16 font small_font }
            if (kind eq "agrad") {
                set label 23 "first step" at summary(csv, "fullest octave", "agrad initial") + 4.5,summary(csv, "percent in the fullest octave", "agrad initial") left textcolor rgb ink font label_font
                set label 24 "last step" at summary(csv, "fullest octave", "agrad trained") - 5,0.06 center textcolor rgb ink font label_font front
            }
            if (kind eq "agrad" && words(layers[k])) {
                eval measure(sprintf("bin agrad %s trained", word(layers[k], words(layers[k]))), "column('x') == left + 8", "100 * column('count') / word(sums, words(sums))")
                if (hits) { set label 25 "last layer" at left + 2,7 * total left textcolor rgb green font label_font }
            }
            if (half == half) { set arrow 1 from half,0.001 to half,100 nohead linecolor rgb binary16 dashtype (3,3) linewidth 1.5 back }
            # all values, and over them the values that binary16 keeps
            plot bins(kind, "all", "trained") using (column("x") + 0.5):(100 * column("count") / n_trained[k]) smooth frequency with boxes linecolor rgb tint(red, 0.4) title flushed_title, \
                 bins(kind, "all", "trained") using (!(column("x") < half) ? column("x") + 0.5 : NaN):(100 * column("count") / n_trained[k]) smooth frequency with boxes linecolor rgb tint(sky, 0.45) title kept_title, \
                 for [j = 1:words(layers[k])] bins(kind, word(layers[k], j), "trained") using (column("x") + 0.5):(100 * column("count") / word(sums, j)) smooth frequency with lines linecolor rgb layer_colour(j, words(layers[k])) linewidth 1.5, \
                 1/0 with lines linecolor rgb green linewidth 1.5 title layer_title, \
                 bins(kind, "all", "initial") using (column("x") + 0.5):(100 * column("count") / n_initial[k]) smooth frequency with histeps linecolor rgb ink linewidth 2 title initial_title
            unset arrow 1
            unset label 20
            do for [i = 21:25] { unset label i }
        }
        set yrange [*:*]
        unset logscale
    }
    eval figure_end
}
