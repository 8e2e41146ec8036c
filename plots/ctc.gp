# ctc.gp - linear and logarithmic sums over paths by length, learning curves, and label errors by form and format.
load "plots/style.gp"
csv = "results/ctc.csv"
eval figure_needs("ctc", csv)
eval figure_needs_summary("ctc", csv)

eval figure_groups(csv, "kind")
eval figure_groups(csv, "kind form format")
eval measure("sum", "column('outputs') == 11 && column('labels') == 5", "column('steps')")
if (hits == 0) { eval figure_refuse("ctc", "its left panel needs a run with --outputs 11 and --labels 5") }
longest = most
eval measure("curve", "1", "column('steps')")
if (hits == 0) { eval figure_refuse("ctc", "it needs learning curves") }
steps = most

# left: the formats of this run, and the last T of their linear sums
formats = "binary64 binary32 bfloat16 binary16"
tone(format) = format eq "binary64" ? grey : value(format)
sums(format) = rows("sum log " . format)
steps_of(x) = column("outputs") == 11 && column("labels") == 5 ? column("steps") : NaN
array ends[4]
array level[4]
array exact[4]
ran = ""
do for [f = 1:4] {
    of = word(formats, f) . " 11 outputs 5 labels"
    ends[f] = summary(csv, "last T", of)
    exact[f] = summary(csv, "exact loss of the last T", of)
    level[f] = summary(csv, "log loss of the longest T", of)
    if (ends[f] == ends[f]) { ran = ran . sprintf(" %d", f) }
}

# middle: the least, mean and largest value over the seeds at each step
eval figure_curves(csv, "least label error at a step,label error at a step,largest label error at a step")
curve(cell, recipe, loss) = sprintf("curve %s %s log %s", cell, recipe, loss)
has(cell, recipe, loss) = has_rows(curve(cell, recipe, loss))
cells = "gru lstm"
recipes = "fp32 mixed:fp16 fp16"
recipe_losses = "binary32 binary32 binary16"
recipe_colours = "black orange blue"
recipe_names = "'binary32' 'mixed, fp16' 'pure fp16'"

# right: the mean of the final rows
ended(form, format) = "final " . form . " " . format
first = has("gru", "fp32", "binary32") ? "gru" : has("lstm", "fp32", "binary32") ? "lstm" : "rnn"

titles = "GRU LSTM"
shown = ""
do for [c = 1:2] { if (has(word(cells, c), "fp32", "binary32")) { shown = shown . sprintf(" %d", c) } }
if (words(shown) == 0) { eval figure_refuse("ctc", "its middle panel needs a run with --cells gru or lstm and --recipes fp32") }
headline = summary(csv, "logarithms keep up and linear sums end", "gru binary16") == 1 ? "To train on tiny probabilities in binary16, sum their logarithms" : "CTC: sums over tiny probabilities, in 32 and in 16 bits"
loss_formats = ""
loss_tics = ""
do for [format in "binary32 binary16 bfloat16"] {
    if (has_rows(ended("log", format)) || has_rows(ended("linear", format))) {
        loss_formats = loss_formats . " " . format
        loss_tics = loss_tics . sprintf("%s'%s' %d", loss_tics eq "" ? "" : ", ", format, words(loss_formats))
    }
}
L = words(loss_formats)

do for [file in figure_files] {
    eval figure_open("ctc", file, 1160, 600)
    set multiplot
    set label 1 headline at screen 0.02,0.955 font title_font textcolor rgb ink
    set label 2 "Connectionist temporal classification (CTC) sums over all paths that spell a sequence of labels: in probabilities (linear) or in their logarithms." at screen 0.02,0.905 font label_font textcolor rgb grey
    set lmargin at screen 0.075
    set rmargin at screen 0.375
    set tmargin at screen 0.81
    set bmargin at screen 0.13
    set title "Loss of 5 labels, 11 equally probable outputs"
    set logscale xy
    set xrange [5:1.02*longest]
    set yrange [10:8000]
    set xtics (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
    set ytics (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
    set xlabel "steps of time T"
    set ylabel "-log P" offset 2,0
    do for [i in ran] {
        f = int(i)
        name = word(formats, f)
        x = ends[f]
        set arrow f from x,10 to x,(f == 1 ? 900 : 8000) nohead dashtype 3 linewidth 1.3 linecolor rgb tone(name)
        set label 10 + f sprintf("linear %s ends at %d", name, ends[f]) at x,(f == 1 ? 11 : 7500) offset character (f == 3 ? -1.1 : 1.1),0 rotate by (f == 1 ? 90 : -90) left font small_font textcolor rgb tone(name)
    }
    if (level[3] == 1024) { set label 15 "log bfloat16\nstops at 1024" at 0.98*longest,4800 right font small_font textcolor rgb bfloat16 }
    set label 16 "grey: exact" at 75,95 left font small_font textcolor rgb grey
    plot sums("binary64") using (steps_of(0)):"exact" with lines linewidth 9 linecolor rgb pale, \
         for [i in ran] sums(word(formats, int(i))) using (int(i) > 1 ? steps_of(0) : NaN):"loss" with lines linewidth (int(i) == 3 ? 2.6 : 1.6) dashtype 1 + (int(i) == 4) linecolor rgb tone(word(formats, int(i))), \
         for [i in ran] '+' every ::0::0 using (ends[int(i)]):(exact[int(i)]) with points pointtype 2 pointsize 0.9 linewidth 3 linecolor rgb tone(word(formats, int(i)))
    do for [i = 1:20] { unset label i }
    unset arrow
    unset logscale x
    set logscale y

    do for [panel = 1:words(shown)] {
        c = int(word(shown, panel))
        cell = word(cells, c)
        set lmargin at screen 0.45
        set rmargin at screen 0.68
        set tmargin at screen (panel == 1 ? 0.81 : 0.435)
        set bmargin at screen (panel == 1 && words(shown) == 2 ? 0.505 : 0.13)
        set title (panel == 1 ? "Learning to read strips of digits" : "")
        set xrange [0:steps]
        set yrange [2.5:110]
        set ytics ("3 %%" 3, "5 %%" 5, "10 %%" 10, "20 %%" 20, "50 %%" 50, "100 %%" 100)
        set ylabel "label error" offset 2.2,0
        every = steps > 1000 ? 500 : steps > 400 ? 200 : 50
        if (panel == words(shown)) { set xlabel "training steps"; set xtics every format "%g" } else { unset xlabel; set xtics every format "" }
        set label 1 word(titles, c) at graph 0.04,0.10 font panel_font textcolor rgb ink
        if (panel == 1) { set key at graph 1.0,1.0 right top samplen 1.4 Left reverse font small_font } else { unset key }
        rows = ""
        do for [r = 1:3] { rows = rows . (has(cell, word(recipes, r), word(recipe_losses, r)) ? sprintf(" %d", r) : "") }
        plot for [i in rows] rows(curve(cell, word(recipes, int(i)), word(recipe_losses, int(i)))) using "x":"least label error at a step":"largest label error at a step" with filledcurves linecolor rgb tint(value(word(recipe_colours, int(i))), 0.22) notitle, \
             10 with lines dashtype 3 linecolor rgb grey notitle, \
             for [i in rows] rows(curve(cell, word(recipes, int(i)), word(recipe_losses, int(i)))) using "x":"label error at a step" with lines linewidth (int(i) == 1 ? 3.4 : 1.8) dashtype 1 + (int(i) == 3) linecolor rgb value(word(recipe_colours, int(i))) title word(recipe_names, int(i))
        unset label 1
    }
    set lmargin at screen 0.76
    set rmargin at screen 0.985
    set tmargin at screen 0.81
    set bmargin at screen 0.13
    set title sprintf("%s, sums over paths rounded", first eq "gru" ? "GRU" : first eq "lstm" ? "LSTM" : "RNN")
    set xrange [0.5:L + 0.5]
    set yrange [2.5:190]
    set ytics ("3 %%" 3, "5 %%" 5, "10 %%" 10, "20 %%" 20, "50 %%" 50, "NaN:\n100 %%" 100)
    eval "set xtics (" . loss_tics . ") format '%g'"
    set xlabel "format of the sums"
    set ylabel "label error after training" offset 0.6,0
    set key at graph 0.03,0.99 left top samplen 0.8 Left reverse font small_font
    place(x) = strcol("recipe") eq "fp32" && strcol("cell") eq first ? x : NaN
    plot 10 with lines dashtype 3 linecolor rgb grey notitle, \
         for [f = 1:L] rows(ended("log", word(loss_formats, f))) using (place(f - 0.1)):"label_error" with points pointtype 7 pointsize 0.6 linecolor rgb blue notitle, \
         for [f = 1:L] rows(ended("linear", word(loss_formats, f))) using (place(f + 0.1)):"label_error" with points pointtype 9 pointsize 0.7 linecolor rgb red notitle, \
         1/0 with points pointtype 7 pointsize 0.7 linecolor rgb blue title "in logarithms", \
         1/0 with points pointtype 9 pointsize 0.7 linecolor rgb red title "linear"
    do for [i = 1:20] { unset label i }
    unset arrow
    unset multiplot
    unset output
    reset
    load "plots/style.gp"
}
