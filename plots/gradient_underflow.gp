# gradient_underflow.gp - where the gradients lie, what formats flush, and what a loss scale brings back.
# caption: Gradients of a small network that learns digits, collected over whole training runs. Most of those of activations lie below 2^-24, the least positive number of binary16, while the room above 2^0 stays empty: multiplying the loss by a power of two moves all of them to the right and costs nothing. Activation gradients suffer most, and more as the network learns, since its loss shrinks. Each curve on the lower left is solid up to the largest scale at which not one gradient overflows: for binary16 little is left to lose there, for e4m3 no single scale is enough. After Micikevicius et al. 2018, figures 2b and 3.
load "plots/style.gp"
csv = "results/gradient_underflow.csv"

whole(kind, what) = strcol("kind") eq kind && strcol("what") eq what && strcol("layer") eq "all" && strcol("stage") eq "all"
share(kind, format) = whole(kind, "share") && strcol("format") eq format
layer(stage) = strcol("kind") eq "agrad" && strcol("what") eq "share" && strcol("format") eq "binary16" && strcol("stage") eq stage && strcol("layer") ne "all" && column("scale_log2") == 0
# a gradient below 2^-25, half of the least positive number, becomes zero
lost(kind) = whole(kind, "bin") && column("x") < -25
kept(kind) = whole(kind, "bin") && column("x") >= -25
percent_lost(x) = 100 * column("flushed") / (column("count") - column("zero"))

stats csv using (column("seed")) nooutput
first_seed = STATS_min
seeds = int(STATS_max - STATS_min) + 1
kinds = "agrad wgrad"
array zeros[2]
array peak[2]
do for [c = 1:2] {
    stats csv using (whole(word(kinds, c), "bin") ? 100 * column("share") : NaN) nooutput
    peak[c] = STATS_max
    stats csv using (whole(word(kinds, c), "zero") ? 100 * column("share") : NaN) nooutput
    zeros[c] = STATS_mean
}
names = ""
named(x) = (names = names . sprintf("%s'%s' %d", names eq "" ? "" : ", ", strcol("name"), column("layer")), 1)
stats csv using (layer("all") && column("seed") == first_seed ? named(0) : NaN) nooutput

formats = "bfloat16 binary16 e5m2 e4m3"
array safe[4]
array lost_by_4[4]
array lost_there[4]
do for [f = 1:4] {
    stats csv using (share("agrad", word(formats, f)) && column("scale_log2") == 2 ? percent_lost(0) : NaN) nooutput
    lost_by_4[f] = STATS_mean
    # unsafe: something overflows, in the activation or the weight gradients of any seed
    safe[f] = 24
    over(x) = (share("agrad", word(formats, f)) || share("wgrad", word(formats, f))) && column("overflowed") > 0
    stats csv using (over(0) ? 1 : 0) nooutput
    if (STATS_max > 0) {
        stats csv using (over(0) ? column("scale_log2") : NaN) nooutput
        safe[f] = STATS_min - 1
    }
    stats csv using (share("agrad", word(formats, f)) && column("scale_log2") == safe[f] ? percent_lost(0) : NaN) nooutput
    lost_there[f] = STATS_mean
}

stats csv using (share("agrad", "binary16") && column("scale_log2") == 0 ? percent_lost(0) : NaN) nooutput
lost_unscaled = STATS_mean

do for [file in figure_files] {
    eval figure_open("gradient_underflow", file, 1160, 900)
    set multiplot layout 2,2 margins 0.075,0.985,0.075,0.865 spacing 0.085,0.15
    set label 1 sprintf("binary16 turns %.0f %% of the activation gradients to zero; a loss scale of 2^{%g} leaves %.0f %%", lost_unscaled, safe[2], lost_there[2]) at screen 0.02,0.965 font title_font textcolor rgb ink
    set label 2 "Above: how many gradients have which size, with the range of each format. Below: what becomes of activation gradients that are not zero." at screen 0.02,0.93 font label_font textcolor rgb grey

    # --- histograms
    set xrange [-68:22]
    set xtics ("0" -61, "2^{-50}" -50, "2^{-40}" -40, "2^{-30}" -30, "2^{-20}" -20, "2^{-10}" -10, "2^0" 0, "2^{10}" 10, "2^{20}" 20)
    set xlabel "magnitude of the gradient"
    set boxwidth 0.86
    titles = "'Activation gradients' 'Weight gradients'"
    do for [c = 1:2] {
        kind = word(kinds, c)
        top = 2.1 * peak[c]
        step = peak[c] > 6 ? 2 : peak[c] > 3 ? 1 : 0.5
        set yrange [0:top]
        set ytics 0,step,1.05*peak[c] format "%g %%"
        if (c == 1) { set ylabel "share of all gradients" offset 0.6,0 } else { unset ylabel }
        set title word(titles, c)
        set label 11 sprintf("%.1f %%\nexactly\nzero", zeros[c]) at -61,top*0.60 center textcolor rgb grey font small_font
        set label 12 "lost in\nbinary16" at -42,top*0.36 center textcolor rgb red font label_font
        set label 13 "kept" at 2,top*0.36 center textcolor rgb blue font label_font
        set label 14 "binary16" at -25,top*0.94 right textcolor rgb binary16 font small_font
        set label 15 "e5m2" at -17,top*0.87 right textcolor rgb e5m2 font small_font
        set label 16 "e4m3" at -10,top*0.80 right textcolor rgb e4m3 font small_font
        set arrow 4 from -24,top*0.94 to 16,top*0.94 nohead linecolor rgb binary16 linewidth 7
        set arrow 5 from -16,top*0.87 to 16,top*0.87 nohead linecolor rgb e5m2 linewidth 7
        set arrow 6 from -9,top*0.80 to 8.8,top*0.80 nohead linecolor rgb e4m3 linewidth 7
        set arrow 7 from -25,0 to -25,top*0.62 nohead linecolor rgb grey dashtype (3,3) linewidth 1.5
        set label 17 sprintf("a loss scale of 2^{%g}", safe[2]) at -25,top*0.70 left textcolor rgb ink font small_font
        set arrow 8 from -25,top*0.645 to -25+safe[2],top*0.645 head filled size 1.6,20 linecolor rgb ink linewidth 1.5
        plot csv using (lost(kind) ? column("x") + 0.5 : NaN):(100 * column("share") / seeds) smooth frequency with boxes linecolor rgb tint(red, 0.75), \
             csv using (kept(kind) ? column("x") + 0.5 : NaN):(100 * column("share") / seeds) smooth frequency with boxes linecolor rgb tint(blue, 0.8), \
             "+" using (-61):(top * 0.47) every ::::0 with boxes linecolor rgb pale
    }
    do for [i = 1:17] { unset label i }
    do for [i = 4:8] { unset arrow i }

    # --- scales
    set title "Share flushed to zero"
    set xrange [0:24]
    set xtics ("1" 0, "2^4" 4, "2^8" 8, "2^{12}" 12, "2^{16}" 16, "2^{20}" 20, "2^{24}" 24)
    set xlabel "loss scale"
    set yrange [-12:110]
    set ytics 0,20,100 format "%g %%"
    set ylabel "flushed" offset 1.6,0
    do for [f = 2:4] { set label 10 + f word(formats, f) at 2.3,lost_by_4[f] + 5 left textcolor rgb value(word(formats, f)) font label_font }
    set label 11 "bfloat16: none at any scale" at 0.6,-6 left textcolor rgb bfloat16 font label_font
    set label 15 "solid: nothing overflows" at 23.6,105 right textcolor rgb grey font small_font
    do for [f = 3:4] { set label 15 + f sprintf("%.0f %% at 2^{%g}", lost_there[f], safe[f]) at safe[f] + 0.4,lost_there[f] + 4 left textcolor rgb ink font small_font }
    set label 17 sprintf("%.0f %% at 2^{%g}", lost_there[2], safe[2]) at safe[2] - 0.6,lost_there[2] + 9 right textcolor rgb ink font small_font
    plot for [f = 1:4] csv using (share("agrad", word(formats, f)) ? column("scale_log2") : NaN):(percent_lost(0) / seeds) smooth frequency with lines linecolor rgb value(word(formats, f)) linewidth 1.5 dashtype (4,4), \
         for [f = 1:4] csv using (share("agrad", word(formats, f)) && column("scale_log2") <= safe[f] ? column("scale_log2") : NaN):(percent_lost(0) / seeds) smooth frequency with lines linecolor rgb value(word(formats, f)) linewidth 3.5, \
         for [f = 2:4] "+" using (safe[f]):(lost_there[f]) every ::::0 with points pointtype 7 pointsize 0.9 linecolor rgb value(word(formats, f))
    do for [i = 11:19] { unset label i }

    # --- layers
    set title "Flushed by binary16 at scale 1, in the thirds of training"
    set xrange [0.4:*]
    eval "set xtics scale 0 (" . names . ")"
    set xlabel "gradients of the output of each layer, from the input to the loss"
    set yrange [0:112]
    set boxwidth 0.24
    set key left top horizontal Left reverse samplen 1 width 1
    unset ylabel
    stages = "begin middle end"
    plot for [s = 1:3] csv using (layer(word(stages, s)) ? column("layer") + 0.27 * (s - 2) : NaN):(percent_lost(0) / seeds) smooth frequency with boxes linecolor rgb tint(blue, 0.15 + 0.28 * s) title word("first second last", s)
    unset multiplot
    unset output
    reset
    load "plots/style.gp"
}
