# ctc.gp - linear and logarithmic sums over paths by length, learning curves, and label errors by form and format.
load "plots/style.gp"
eval figure_of_both("ctc")

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
recipe_names = "'binary32' 'mixed with binary16' 'everything in binary16'"

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
    eval figure_panels("ctc", file, 1160, 600)
    eval heading(0.955, headline, 0.905, "Connectionist temporal classification (CTC) sums over all paths that spell a sequence of labels: in probabilities (linear) or in their logarithms.")
    eval panel(0.075, 0.375, 0.13, 0.81)
    set title "Loss of 5 labels, 11 equally probable outputs"
    set logscale xy
    set xrange [5:1.02*longest]
    set yrange [10:8000]
    set xtics (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
    set ytics (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
    set xlabel "time steps T"
    set ylabel "loss, -log P" offset 2,0
    # the ends of the linear sums: their names are below the curve, and that of binary64 is above it
    do for [i in ran] {
        f = int(i)
        name = word(formats, f)
        set label 10 + f sprintf("linear %s:\n0 after T = %d", name, ends[f]) font small_font textcolor rgb tone(name)
        if (f == 1) { set label 11 at 0.85*ends[f],1.7*exact[f] right } else { set label 10 + f at (f == 4 ? 1.6 : 1.25)*ends[f],(f == 4 ? 1 : f == 3 ? 0.48 : 0.8)*exact[f] left }
    }
    if (level[3] == 1024) { set label 15 "stops\nat 1024" at 0.98*longest,760 right font small_font textcolor rgb bfloat16 }
    set key at graph 0.03,0.99 left top samplen 2 Left reverse font small_font
    plot sums("binary64") using (steps_of(0)):"exact" with lines linewidth 9 linecolor rgb pale title "exact loss", \
         for [f = 2:3] sums(word(formats, f)) using (strstrt(ran, sprintf("%d", f)) ? steps_of(0) : NaN):"loss" with lines linewidth (f == 3 ? 2.6 : 1.6) linecolor rgb tone(word(formats, f)) title (strstrt(ran, sprintf("%d", f)) ? "log " . word(formats, f) : ""), \
         for [f = 4:(strstrt(ran, "4") ? 4 : 3)] sums(word(formats, f)) using (steps_of(0)):"loss" with lines linewidth 1.6 dashtype (5,3) linecolor rgb tone(word(formats, f)) title "log " . word(formats, f), \
         for [i in ran] '+' every ::0::0 using (ends[int(i)]):(exact[int(i)]) with points pointtype 2 pointsize 0.9 linewidth 3 linecolor rgb tone(word(formats, int(i))), \
         1/0 with points pointtype 2 pointsize 0.9 linewidth 3 linecolor rgb ink title "last T before a linear sum is 0"
    do for [i = 1:20] { unset label i }
    unset arrow
    unset logscale x
    set logscale y

    do for [panel = 1:words(shown)] {
        c = int(word(shown, panel))
        cell = word(cells, c)
        eval panel(0.45, 0.68, (panel == 1 && words(shown) == 2 ? 0.505 : 0.13), panel == 1 ? 0.81 : 0.435)
        set title (panel == 1 ? "Learning to read strips of digits" : "")
        set xrange [0:steps]
        set yrange [2.5:words(shown) == 2 ? 110 : 300] # one panel alone: the key is above its curves
        set ytics ("3 %%" 3, "5 %%" 5, "10 %%" 10, "20 %%" 20, "50 %%" 50, "100 %%" 100)
        set ylabel "wrong labels" offset 2.2,0
        every = steps > 1000 ? 500 : steps > 400 ? 200 : 50
        if (panel == words(shown)) { set xlabel "training steps"; set xtics every format "%g" } else { set xlabel ""; set xtics every format "" }
        set label 1 word(titles, c) at graph 0.04,0.10 font panel_font textcolor rgb ink
        if (panel == words(shown)) { set label 2 "bands: all seeds" at graph 0.97,0.1 right font small_font textcolor rgb grey }
        if (panel == 1) { set key at graph 1.0,1.0 right top samplen 1.4 Left reverse font small_font } else { unset key }
        rows = ""
        do for [r = 1:3] { rows = rows . (has(cell, word(recipes, r), word(recipe_losses, r)) ? sprintf(" %d", r) : "") }
        plot for [i in rows] rows(curve(cell, word(recipes, int(i)), word(recipe_losses, int(i)))) using "x":"least label error at a step":"largest label error at a step" with filledcurves linecolor rgb tint(value(word(recipe_colours, int(i))), 0.22) notitle, \
             for [i in rows] rows(curve(cell, word(recipes, int(i)), word(recipe_losses, int(i)))) using "x":"label error at a step" with lines linewidth (int(i) == 1 ? 3.4 : 1.8) dashtype 1 + (int(i) == 3) linecolor rgb value(word(recipe_colours, int(i))) title word(recipe_names, int(i))
        unset label 1
        unset label 2
    }
    eval panel(0.76, 0.985, 0.13, 0.81)
    set title sprintf("%s: only the CTC sums rounded", first eq "gru" ? "GRU" : first eq "lstm" ? "LSTM" : "RNN")
    set xrange [0.5:L + 0.5]
    set yrange [2.5:190]
    set ytics ("3 %%" 3, "5 %%" 5, "10 %%" 10, "20 %%" 20, "50 %%" 50, "NaN:\n100 %%" 100)
    eval "set xtics (" . loss_tics . ") format '%g'"
    set xlabel "format of the sums"
    set ylabel "wrong labels after training" offset 0.6,0
    set label 1 "each mark is a seed" at graph 0.04,0.04 font small_font textcolor rgb grey
    set key at graph 0.03,0.99 left top samplen 0.8 Left reverse font small_font
    place(x) = strcol("recipe") eq "fp32" && strcol("cell") eq first ? x : NaN
    plot for [f = 1:L] rows(ended("log", word(loss_formats, f))) using (place(f - 0.1)):"label_error" with points pointtype 7 pointsize 0.6 linecolor rgb blue notitle, \
         for [f = 1:L] rows(ended("linear", word(loss_formats, f))) using (place(f + 0.1)):"label_error" with points pointtype 9 pointsize 0.7 linecolor rgb red notitle, \
         1/0 with points pointtype 7 pointsize 0.7 linecolor rgb blue title "sums of logarithms", \
         1/0 with points pointtype 9 pointsize 0.7 linecolor rgb red title "linear sums"
    do for [i = 1:20] { unset label i }
    unset arrow
    eval figure_end
}
