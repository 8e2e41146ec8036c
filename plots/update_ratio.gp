# update_ratio.gp - ratios of weights to their updates, the share of updates that formats lose, and the effect on training.
load "plots/style.gp"
eval figure_of_both("update_ratio")

seeds = int(option(csv, "seeds"))
eval figure_groups(csv, "what layer format")
share(format) = "share all " . format
percent(x) = 100 * column("lost") / (column("count") - column("zero"))
eval figure_groups(csv, "what run mode layer")
trace(format, mode) = sprintf("trace %s %s -", format, mode)

# the formats of this run that have a colour, and their significant bits: they lose updates from the ratio 2^p on
known = "e4m3 e5m2 bfloat16 binary16 tf32 binary32"
array prec[6]
has = ""
do for [i = 1:6] {
    prec[i] = summary(csv, "significant bits", word(known, i))
    has = has . (prec[i] == prec[i] ? sprintf(" %d", i) : "")
}
if (has eq "") {
    eval figure_refuse("update_ratio", "needs a run with one of --formats e4m3,e5m2,bf16,fp16,tf32,fp32")
}
colour(i) = value(word(known, int(i)))

# the observed steps at the quarters of the training; the first four have a panel
step_at(quarter) = summary(csv, "step", sprintf("quarter %d", quarter))
end = int(step_at(4))
array at[4]
do for [s = 1:4] { at[s] = int(step_at(s - 1)) }
lost(i, quarter) = summary(csv, "percent lost", sprintf("%s quarter %d", word(known, i), quarter))
array total_at[4]
top = 0
do for [s = 1:4] {
    eval measure("bin all -", "column('step') == at[s]", "column('count')")
    total_at[s] = total
    eval measure("bin all -", "column('step') == at[s]", "100 * column('count') / total_at[s] * seeds")
    top = most > top ? most : top
}
bands = 1.04 * top # the height of the bands, below their names
tallest = 5 * floor(top / 5) # the last tick
top = 1.6 * top

headline = "Which updates a format can still add to its weights"
if (strstrt(has, "3") && strstrt(has, "4")) {
    headline = sprintf("Late in training binary16 weights would lose %.0f %% of their updates, bfloat16 weights %.1f %%", lost(4, 3), lost(3, 3))
}

do for [file in figure_files] {
    eval figure_panels("update_ratio", file, 1160, 820)
    eval heading(0.968, headline, 0.935, "Left: weights by |weight / update|. A format loses the updates right of its band and some in the band; it keeps the largest, left of it.")

    set label 3 "share of the updates" at screen 0.011,0.48 center rotate by 90 font label_font textcolor rgb ink
    step = 10.0 ** floor(log10(end)) / 2
    step = end / step > 6 ? 4 * step : step
    step = step < 1 ? 1 : step

    # --- ratios at four steps
    set xrange [-3.5:32]
    set yrange [0:top]
    eval panel_x(0.071, 0.56)
    set boxwidth 0.86
    do for [s = 1:4] {
        eval panel_y(0.865 - (s - 1) * 0.197 - 0.182, 0.865 - (s - 1) * 0.197)
        set ytics 0,5,tallest format "%g %%"
        if (s == 4) {
            set xtics ("1" 0, "2^4" 4, "2^8" 8, "2^{11}" 11, "2^{16}" 16, "2^{20}" 20, "2^{24}" 24, "2^{28}" 28)
            set xlabel "|weight / update|"
        } else {
            set xtics ("" 0, "" 4, "" 8, "" 11, "" 16, "" 20, "" 24, "" 28)
            set xlabel ""
        }
        said = s == 1 ? "first step" : sprintf("step %d", at[s])
        set label 9 "lost:" at graph 0.005,first bands + 0.08 * top left textcolor rgb ink font small_font
        set label 10 said at graph 0.995,0.16 right textcolor rgb ink font panel_font
        do for [f in has] {
            i = int(f)
            share_lost = lost(i, s - 1)
            eval sprintf("set object %d rectangle from %d,0 to %d,%g behind fillcolor rgb %d fillstyle solid noborder", i, prec[i], prec[i] + 1, bands, tint(colour(i), i == 6 ? 0.3 : 0.45))
            said = share_lost > 99.9 && share_lost < 100 ? "> 99.9 %" : share_lost < 0.1 && share_lost > 0 ? "< 0.1 %" : sprintf("%.3g %%", share_lost)
            # percentages and names are above the bands and do not overlap: bands of few bits are near the end of the texts,
            # bands of many bits are near the start
            set label 10 + i said at prec[i] + (prec[i] < 8 ? 1 : prec[i] == 8 ? 0.5 : 0),bands + 0.08 * top textcolor rgb ink font small_font
            if (s == 1) { set label 20 + i word(known, i) at prec[i] + (prec[i] < 8 ? 1 : prec[i] == 8 ? 0.5 : 0),bands + 0.24 * top textcolor rgb colour(i) font label_font }
            do for [l = 10 + i:(s == 1 ? 20 : 10) + i:10] {
                if (prec[i] < 8) { set label l right } else { if (prec[i] == 8) { set label l center } else { set label l left } }
            }
        }
        plot rows("bin all -") using (column("step") == at[s] ? column("x") + 0.5 : NaN):(100 * column("count") / total_at[s]) smooth frequency with boxes linecolor rgb tint(black, 0.55)
        unset object
        do for [i = 9:29] { unset label i }
    }
    unset label 1
    unset label 2
    unset label 3

    # --- the share of lost updates during training
    eval panel(0.655, 0.985, 0.55, 0.865)
    set title "Updates lost, by the format of the weights" offset 0,-0.4
    set xrange [0:end]
    set xtics 0,step format "%g"
    set xlabel ""
    set yrange [-2:114]
    set ytics 0,20,100 format "%g %%"
    set ylabel "share of the updates" offset 0.6,0
    do for [f in has] {
        i = int(f)
        # the extremes of the curve over the width of the name; the name is above the curve, or below it
        eval measure(share(word(known, i)), "column('step') >= at[2] && column('step') <= at[2] + 0.25 * end", "percent(0)")
        set label 10 + i word(known, i) at at[2],(i == 1 || i == 6 ? most + 6.5 : i == 3 ? least - 5 : least - 7) left textcolor rgb colour(i) font label_font
    }
    if (option(csv, "schedule") eq "cosine") { set label 20 "learning rate falls to 0 →" at 0.9*end,27 right textcolor rgb grey font small_font }
    plot for [f in has] rows(share(word(known, int(f)))) using "step":(percent(0) / seeds) smooth frequency with lines linecolor rgb colour(f) linewidth 3
    do for [i = 10:20] { unset label i }

    # --- training without master weights
    eval panel_y(0.092, 0.46)
    set title "Training loss, weights kept in one format"
    set xlabel "training step"
    set ylabel "mean loss since the last point" offset 0.6,0
    set logscale y
    set yrange [*:8]
    set ytics auto format "10^{%T}"
    set key top right Left reverse samplen 2.4
    drawn = ""
    random = ""
    eval forget
    do for [i = 1:5] {
        eval measure(trace(word(known, i), "rne"), "column('step') == end", "column('value')")
        if (hits) {
            drawn = drawn . sprintf(" %d", i)
            said = word(known, i)
            set label 10 + i said at 0.985*end,mean * 1.45 right textcolor rgb colour(i) font label_font
        }
        random = random . (has_rows(trace(word(known, i), "sra")) ? sprintf(" %d", i) : "")
    }
    # an iteration over an empty list would draw once
    path(mode, list, style) = list eq "" ? "" : sprintf(', for [f in "%s"] rows(trace(word(known, int(f)), "%s")) using "step":(column("value") / seeds) smooth frequency with lines linecolor rgb colour(f) %s', list, mode, style)
    solid = path("rne", drawn, "linewidth 3")
    dashed = path("sra", random, "linewidth 2 dashtype (5,4)")
    eval 'plot rows(trace("binary32", "rne")) using "step":(column("value") / seeds) smooth frequency with lines linecolor rgb binary32 linewidth 4 title "binary32"' . solid . dashed . (solid eq "" ? "" : ', NaN with lines linecolor rgb grey linewidth 3 title "rounded to nearest"') . (dashed eq "" ? "" : ', NaN with lines linecolor rgb grey linewidth 2 dashtype (5,4) title "rounded stochastically"')
    unset logscale
    eval figure_end
}
