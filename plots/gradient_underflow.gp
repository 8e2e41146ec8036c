# gradient_underflow.gp - magnitudes of gradients, the share that formats flush to zero, loss scales, and tensor scales.
load "plots/style.gp"
eval figure_of("gradient_underflow")

# the networks of this run; the first one has the panels
nets = ""
note(name) = strstrt(nets . " ", " " . name . " ") > 0 ? 0 : (nets = nets . " " . name, 1)
stats csv using (note(strcol("net"))) nooutput
net = word(nets, 1)
eval figure_groups(csv, "net kind layer stage what format") # most figures show all layers and stages together
eval figure_groups(csv, "net kind stage what format")
whole(net, kind, what, format) = sprintf("%s %s all all %s %s", net, kind, what, format)
share(format) = whole(net, "agrad", "share", format)
by_layer(stage) = sprintf("%s agrad %s share %s", net, stage, layer_format)
unscaled_layer(x) = strcol("layer") ne "all" && column("scale_log2") == 0
# magnitudes up to half of binary16's least positive number become zero
lost(x) = column("x") < -25
percent_lost(x) = 100 * column("flushed") / (column("count") - column("zero"))

stats csv using (column("seed")) nooutput
first_seed = STATS_min
seeds = int(STATS_max - STATS_min) + 1

kinds = "agrad wgrad"
array zeros[2]   # how many are exactly zero, in percent of all
array nonzero[2] # how many are not
array peak[2]
do for [c = 1:2] {
    eval measure(whole(net, word(kinds, c), "zero", "-"), "1", "column('count')")
    none = total
    eval measure(whole(net, word(kinds, c), "bin", "-"), "1", "column('count')")
    nonzero[c] = total
    peak[c] = 100 * most * seeds / total
    zeros[c] = 100 * none / (none + total)
}

formats = "bfloat16 binary16 e5m2 e4m3"
has = ""
of(net, format) = net . " agrad " . format
array safe[4]
array lost_at[4]
array lost_there[4]
array overall[4]
do for [f = 1:4] {
    eval measure(share(word(formats, f)), "1", "percent_lost(0)")
    has = has . (hits ? sprintf(" %d", f) : "")
    overall[f] = most
    eval measure(share(word(formats, f)), "column('scale_log2') == 2", "percent_lost(0)")
    lost_at[f] = mean
    safe[f] = summary(csv, "safe scale", of(net, word(formats, f)))
    lost_there[f] = summary(csv, "flushed at the safe scale", of(net, word(formats, f)))
}
known(f) = lost_there[f] == lost_there[f] # not NaN

lost_unscaled = summary(csv, "flushed unscaled", of(net, "binary16"))
headline = "Where the gradients lie, and what each format turns to zero"
if (known(2) && lost_unscaled == lost_unscaled) { headline = sprintf("binary16 turns %.2g %% of %s's non-zero activation gradients to zero; a loss scale of 2^{%g} leaves %s", lost_unscaled, net, safe[2], lost_there[2] < 0.001 ? "< 0.1 %" : sprintf("%.2g %%", lost_there[2])) }

# the layers are shown for binary16, or for the first format of the run
eval forget
first_format = ""
pick(x) = (first_format = first_format eq "" ? strcol("format") : first_format, 1)
stats csv using (strcol("what") eq "share" ? pick(0) : 0) nooutput
layer_format = strstrt(has, "2") ? "binary16" : first_format
names = ""
layers = 0
named(x) = (layers = column("layer") > layers ? column("layer") : layers, names = names . sprintf("%s'%s' %d", names eq "" ? "" : ", ", strcol("name"), column("layer")), 1)
eval scan(by_layer("all"), "unscaled_layer(0) && column('seed') == first_seed ? named(0) : 0")
stages = "begin middle end"
thirds = ""
do for [s = 1:3] {
    eval measure(by_layer(word(stages, s)), "unscaled_layer(0)", "1")
    thirds = thirds . (hits ? sprintf(" %d", s) : "")
}

# for each network and format, over all seeds: the share flushed at scale 1, at the largest safe scale, with tensor scales
N = words(nets)
bars = "binary16 e5m2 e4m3"
drawn = ""
do for [format in bars] {
    some = 0
    do for [name in nets] { some = some + has_rows(whole(name, "agrad", "share", format)) }
    drawn = drawn . (some ? " " . format : "")
}
D = words(drawn)
array share_of[3 * (N * D + 1)]
do for [n = 1:N] { do for [f = 1:D] {
    i = 3 * ((n - 1) * D + f)
    share_of[i - 2] = summary(csv, "flushed unscaled", of(word(nets, n), word(drawn, f)))
    share_of[i - 1] = summary(csv, "flushed at the safe scale", of(word(nets, n), word(drawn, f)))
    share_of[i] = summary(csv, "flushed with a scale per tensor", of(word(nets, n), word(drawn, f)))
} }
amount(x) = x != x ? "" : x >= 99.5 && x < 100 ? sprintf("%.1f", x) : x >= 9.95 ? sprintf("%.0f", x) : x >= 0.095 ? sprintf("%.1f", x) : x > 0 ? "<0.1" : "0"
# the middle of bar c of a format and network
bar(n, f, c) = n + (f - (D + 1) / 2.0) * 0.29 + (c - 2) * 0.083

do for [file in figure_files] {
    eval figure_panels("gradient_underflow", file, 1160, 1260)
    eval heading(0.975, headline, 0.95, "All percentages are of the gradients that are not zero in binary32. Above: their sizes, with the range of each format. Below: activation gradients.")

    # --- histograms
    set xrange [-62:22]
    set xtics ("2^{-60}" -60, "2^{-50}" -50, "2^{-40}" -40, "2^{-30}" -30, "2^{-20}" -20, "2^{-10}" -10, "2^0" 0, "2^{10}" 10, "2^{20}" 20)
    set xlabel "magnitude of the gradient"
    set boxwidth 0.86
    titles = "'Activation gradients' 'Weight gradients'"
    do for [c = 1:2] {
        kind = word(kinds, c)
        eval panel(c == 1 ? 0.075 : 0.5725, c == 1 ? 0.4875 : 0.985, 0.675, 0.904)
        top = 2.1 * peak[c]
        step = peak[c] > 6 ? 2 : peak[c] > 3 ? 1 : 0.5
        set yrange [0:top]
        set ytics 0,step,1.05*peak[c] format "%g %%"
        if (c == 1) { set ylabel "share of the non-zero ones" offset 0.6,0 } else { set ylabel "" }
        set title sprintf("%s of %s", word(titles, c), net)
        set label 11 sprintf("not shown: %.1f %%\nof all are exactly zero\nin binary32", zeros[c]) at -60.5,top*0.62 left textcolor rgb grey font small_font
        set label 12 "lost in\nbinary16" at -44,top*0.36 center textcolor rgb red font label_font
        set label 13 "kept" at 2,top*0.36 center textcolor rgb blue font label_font
        set label 14 "binary16" at -25,top*0.94 right textcolor rgb binary16 font small_font
        set label 15 "e5m2" at -17,top*0.87 right textcolor rgb e5m2 font small_font
        set label 16 "e4m3" at -10,top*0.80 right textcolor rgb e4m3 font small_font
        set arrow 4 from -24,top*0.94 to 16,top*0.94 nohead linecolor rgb binary16 linewidth 7
        set arrow 5 from -16,top*0.87 to 16,top*0.87 nohead linecolor rgb e5m2 linewidth 7
        set arrow 6 from -9,top*0.80 to 8.8,top*0.80 nohead linecolor rgb e4m3 linewidth 7
        set arrow 7 from -25,0 to -25,top*0.62 nohead linecolor rgb grey dashtype (3,3) linewidth 1.5
        set label 18 "2^{-25}, half of binary16's\nleast positive number" at -24,top*0.585 left textcolor rgb grey font small_font
        if (known(2) && safe[2] > 0) {
            set label 17 sprintf("a loss scale of 2^{%g}", safe[2]) at -25,top*0.72 left textcolor rgb ink font small_font
            set arrow 8 from -25,top*0.665 to -25+safe[2],top*0.665 head filled size 1.6,20 linecolor rgb ink linewidth 1.5
        }
        plot rows(whole(net, kind, "bin", "-")) using (lost(0) ? column("x") + 0.5 : NaN):(100 * column("count") / nonzero[c]) smooth frequency with boxes linecolor rgb tint(red, 0.75), \
             rows(whole(net, kind, "bin", "-")) using (!lost(0) ? column("x") + 0.5 : NaN):(100 * column("count") / nonzero[c]) smooth frequency with boxes linecolor rgb tint(blue, 0.8)
    }
    do for [i = 1:18] { unset label i }
    do for [i = 4:8] { unset arrow i }

    # --- scales
    eval panel(0.075, 0.4875, 0.340, 0.568)
    set title sprintf("Share of %s's activation gradients flushed to zero", net)
    set xrange [0:24]
    set xtics ("1" 0, "2^4" 4, "2^8" 8, "2^{12}" 12, "2^{16}" 16, "2^{20}" 20, "2^{24}" 24)
    set xlabel "loss scale"
    set yrange [-12:110]
    set ytics 0,20,100 format "%g %%"
    set ylabel "flushed, of the non-zero ones" offset 1.3,0
    set style textbox opaque noborder margins 0.2,0.2 # a curve that runs behind a label stops there
    do for [f = 2:4] {
        if (lost_at[f] == lost_at[f]) { set label 10 + f word(formats, f) at 2.3,lost_at[f] + 5 left textcolor rgb value(word(formats, f)) font label_font }
        # the label is above its dot, and above the curve of e4m3 if the curve is near
        eval measure(share("e4m3"), "f == 3 && column('scale_log2') == safe[3]", "percent_lost(0)")
        y = f == 3 && hits && mean > lost_there[3] && mean < lost_there[3] + 15 ? mean + 7 : lost_there[f] + 4
        if (known(f) && f > 2) { set label 15 + f sprintf("%s%.2g %% at 2^{%g}", lost_at[f] == lost_at[f] ? "" : word(formats, f) . ": ", lost_there[f], safe[f]) at safe[f] + 0.4,y left textcolor rgb value(word(formats, f)) font small_font front boxed }
    }
    if (strstrt(has, "1")) { set label 11 sprintf("bfloat16: %s", overall[1] == 0 ? "none at any scale" : sprintf("at most %.2g %%", overall[1])) at 0.6,-6 left textcolor rgb bfloat16 font label_font }
    set label 15 "solid: nothing overflows, dashed: some do" at 23.6,105 right textcolor rgb grey font small_font
    if (known(2)) { set label 17 sprintf("%.2g %% at 2^{%g}", lost_there[2], safe[2]) at safe[2],-7 center textcolor rgb binary16 font small_font }
    if (words(has) == 0) {
        set label 16 "not in this run: needs --formats bf16,fp16,e5m2,e4m3" at graph 0.5,0.5 center textcolor rgb grey font label_font
        plot -100
    } else {
    marked = "" # the first format loses nothing at any scale
    do for [f in has] { if (f ne "1") { marked = marked . " " . f } }
    plot for [f in has] rows(share(word(formats, int(f)))) using "scale_log2":(percent_lost(0) / seeds) smooth frequency with lines linecolor rgb value(word(formats, int(f))) linewidth 1.5 dashtype (4,4), \
         for [f in has] rows(share(word(formats, int(f)))) using (column("scale_log2") <= safe[int(f)] ? column("scale_log2") : NaN):(percent_lost(0) / seeds) smooth frequency with lines linecolor rgb value(word(formats, int(f))) linewidth 3.5, \
         for [f in marked] "+" using (safe[int(f)]):(lost_there[int(f)]) every ::::0 with points pointtype 7 pointsize 0.9 linecolor rgb value(word(formats, int(f)))
    }
    do for [i = 11:19] { unset label i }

    # --- layers
    eval panel(0.5725, 0.985, 0.340, 0.568)
    set title sprintf("Flushed by %s at scale 1, in the thirds of training", layer_format)
    set yrange [0:112]
    set boxwidth 0.24
    set key left top horizontal Left reverse samplen 1 width 1
    set ylabel ""
    set xlabel "gradients of the output of each layer, from the input to the loss"
    if (names eq "") {
        set label 11 "not in this run: needs --scales 0" at graph 0.5,0.5 center textcolor rgb grey font label_font
        set xrange [0:1]
        unset xtics
        plot -100
        unset label 11
    } else {
        set xrange [0.4:*]
        eval "set xtics scale 0 (" . names . ")"
        if (layers > 14) {
            set xtics autofreq scale 0
            set xlabel "number of the layer, from the input to the loss"
        }
        plot for [s in thirds] rows(by_layer(word(stages, int(s)))) using (unscaled_layer(0) ? column("layer") + 0.27 * (s - 2) : NaN):(percent_lost(0) / seeds) smooth frequency with boxes linecolor rgb tint(blue, 0.15 + 0.28 * s) title word("first second last", int(s))
    }
    # --- networks
    eval panel(0.075, 0.985, 0.045, 0.233)
    set title "Activation gradients flushed without a scale (pale), at the largest safe loss scale (middle), with a scale per tensor (full)"
    unset key
    set xlabel ""
    set xrange [0.45:N + 0.55]
    set xtics scale 0 ("" 0)
    do for [n = 1:N] { set xtics add (word(nets, n) n) }
    set yrange [0:128]
    set ytics 0,25,100 format "%g %%"
    set ylabel "flushed, of the non-zero ones" offset 1.3,0
    set boxwidth 0.075
    if (D == 0) {
        set label 11 "not in this run: needs --formats fp16,e5m2,e4m3" at graph 0.5,0.5 center textcolor rgb grey font label_font
        plot -100
    } else {
        laid = "0.25 0.55 1"
        ways = "'no scale' 'loss scale' 'scale per tensor'"
        do for [f = 1:D] { set label 10 + f word(drawn, f) at graph 0.985 - 0.06 * (D - f),graph 0.94 right textcolor rgb value(word(drawn, f)) font label_font }
        plot for [f = 1:D] for [c = 1:3] "+" using (bar(int($0) + 1, f, c)):(share_of[3 * (int($0) * D + f) - 3 + c]) every ::0::N - 1 with boxes linecolor rgb tint(value(word(drawn, f)), real(word(laid, c))), \
             for [f = 1:D] for [c = 1:3] "+" using (bar(int($0) + 1, f, c)):(share_of[3 * (int($0) * D + f) - 3 + c] + 3):(amount(share_of[3 * (int($0) * D + f) - 3 + c])) every ::0::N - 1 with labels left rotate by 90 font small_font textcolor rgb ink
    }
    eval figure_end
}
