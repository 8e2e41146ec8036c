# recurrence.gp - growth of errors in recurrent networks: by regime, by number of bits, in trained networks, backward.
load "plots/style.gp"
eval figure_of_both("recurrence")

gains = option(csv, "gains")
gain(i) = real(word(gain_list, i))
gain_list = ""
do for [g in system("echo '" . gains . "' | tr ',' ' '")] { gain_list = gain_list . " " . g }
has_random = strstrt(option(csv, "parts"), "random")
has_trained = strstrt(option(csv, "parts"), "trained")
if (!has_random || !has_trained) { eval figure_refuse("recurrence", "it needs both parts, random and trained") }
if (words(gain_list) < 2) { eval figure_refuse("recurrence", "it needs at least two --gains, of a contracting and of a chaotic network") }
if (!strstrt(option(csv, "modes"), "rne") || !strstrt(option(csv, "sums"), "binary32")) { eval figure_refuse("recurrence", "it needs --modes rne and --sums binary32") }
if (option(csv, "piece") eq "64") { eval figure_refuse("recurrence", "it needs trained networks of more than one step: a smaller --piece") }
panels = words(gain_list) < 3 ? 2 : 3
last_step = int(option(csv, "steps"))

eval figure_groups(csv, "part arithmetic")
forth(g, arithmetic) = column("gain") == gain(g) && (arithmetic eq "perturbed" || (strcol("mode") eq "rne" && strcol("sums") eq "binary32"))
back(g, scale) = column("gain") == gain(g) && column("scale_log2") == scale

# the growth of the perturbed run for each step, and the gains of contracting and of chaotic networks, as the claims have them
array rate[panels]
array grows[panels]
contracting = 0
chaotic = 0
do for [g = 1:panels] {
    rate[g] = summary(csv, "exponent", "gain " . word(gain_list, g))
    grows[g] = gain(g) >= summary(csv, "gain", "chaotic")
    if (gain(g) == summary(csv, "gain", "contracting")) { contracting = g }
    if (gain(g) == summary(csv, "gain", "chaotic")) { chaotic = g }
}

# the step at which the error reaches 0.1, as a mean over the networks that reach 0.1
array until[24]
shown = ""
do for [b = 8:24] {
    until[b] = summary(csv, "horizon", sprintf("%d bits", b))
    shown = shown . (until[b] == until[b] ? sprintf(" %d", b) : "")
}
per_bit = chaotic ? log(2) / rate[chaotic] : NaN
base = words(shown) ? int(word(shown, 1)) : 8

formats = "bfloat16 binary16 e8m13 binary32"
colours = "bfloat16 binary16 green binary32"
labels = "bfloat16 binary16 e8m13 binary32"
policies = "mixed:e4m3 mixed:bfloat16 mixed:binary16 binary32"
policy_colours = "e4m3 bfloat16 binary16 binary32"
policy_labels = "e4m3 bfloat16 binary16 binary32"
cells = "rnn gru lstm"
widths = "1.2 2.4 4"
tens(low, high) = "set ytics (" . tens_list(low, high) . ")"
tens_list(low, high) = low > high ? "" : sprintf("'10^{%d}' %d%s", low, low, low + 2 > high ? "" : ", " . tens_list(low + 2, high))

do for [file in figure_files] {
    eval figure_panels("recurrence", file, 1160, 860)
    eval heading(0.965, chaotic && contracting ? sprintf("Recurrence forgets rounding errors or multiplies them; then each bit buys %.1f steps", per_bit) : "Rounding errors through the time steps of recurrent networks", \
                 0.93, "Above: untrained tanh units, recurrent weights scaled by a gain; the state is rounded, and compared with binary64.")

    # --- regimes
    set yrange [-8:0.7]
    eval tens(-8, 0)
    eval panel_y(0.55, 0.86)
    set xrange [0:last_step]
    set xtics autofreq
    set xlabel "time step"
    unset key
    do for [g = 1:panels] {
        eval panel_x(0.075 + (g - 1) * 0.93 / panels, 0.075 + g * 0.93 / panels - 0.045)
        set title sprintf(grows[g] ? "gain %g, chaotic: error +%.0f %% a step" : "gain %g, contracting: errors stay small", gain(g), 100 * (exp(rate[g]) - 1))
        if (g == 1) { set ylabel "relative error of the state" offset 1,0 } else { set ylabel "" }
        drawn = ""
        do for [f = 1:4] {
            eval measure("random " . word(formats, f), "forth(g, word(formats, f)) && column('step') == last_step", "log10(column('error'))")
            drawn = drawn . (hits ? sprintf(" %d", f) : "")
            unset label (10 + f)
            if (hits && !grows[g]) { set label (10 + f) word(labels, f) at last_step * 0.97,mean + 0.4 right font small_font textcolor rgb value(word(colours, f)) }
        }
        unset label 15
        unset label 16
        if (grows[g]) { set label 16 "colours as on the left" at last_step * 0.99,0.45 right font small_font textcolor rgb grey }
        if (grows[g] && last_step >= 200) { set label 15 "dashed: binary64,\nfirst input\nmoved by 2^{-40}" at last_step * 0.99,-5.9 right font small_font textcolor rgb grey }
        plot -100, \
             for [p = 1:last_step >= 200] rows("random perturbed") using (forth(g, "perturbed") ? column("step") : NaN):(log10(column("error"))) smooth unique with lines linecolor rgb grey linewidth 1.5 dashtype (6,4), \
             for [d = 1:words(drawn)] for [f = int(word(drawn, d)):int(word(drawn, d))] rows("random " . word(formats, f)) using (forth(g, word(formats, f)) ? column("step") : NaN):(log10(column("error"))) smooth unique with lines linecolor rgb value(word(colours, f)) linewidth 2
    }
    do for [f = 1:6] { unset label (10 + f) }

    # --- the number of steps that a bit gains
    unset label 1
    unset label 2
    eval panel(0.075, 0.325, 0.075, 0.42)
    set title "Chaotic: steps until the error is 10 %"
    widest = words(shown) ? int(word(shown, words(shown))) : 24
    set xrange [7:widest + (widest > 20 ? 1.5 : 2.5)]
    set yrange [0:*]
    step = widest > 16 ? 4 : 1
    set xtics step
    set ytics 20
    set xlabel "significant bits of the state"
    set ylabel "time steps" offset 1,0
    if (words(shown)) {
        top = until[int(word(shown, words(shown)))]
        set yrange [0:top * 1.45 + 5]
        set label 3 sprintf("ln 2 / %.3f = %.1f steps a bit", rate[chaotic], per_bit) at graph 0.06,0.92 font small_font textcolor rgb grey
        do for [i = 1:words(shown)] {
            b = int(word(shown, i))
            set label (20 + i) (b == 8 ? "bfloat16" : b == 11 ? "binary16" : b == 24 ? "binary32" : sprintf("e8m%d", b - 1)) at b + 0.5,until[b] - top * 0.1 left font small_font textcolor rgb ink
            if (b > 20) { set label (20 + i) at b + 1.3,until[b] - top * 0.1 right }
        }
        plot (x < base - 0.5 || x > int(word(shown, words(shown))) + 1 ? NaN : until[base] + per_bit * (x - base)) with lines linecolor rgb grey linewidth 1.5, \
             for [i = 1:words(shown)] '+' using (int(word(shown, i))):(until[int(word(shown, i))]) every ::0::0 with points pointtype 7 pointsize 1 linecolor rgb (int(word(shown, i)) == 8 ? bfloat16 : int(word(shown, i)) == 11 ? binary16 : int(word(shown, i)) == 24 ? binary32 : green)
    } else {
        set label 3 "no network of this run is chaotic" at graph 0.5,0.5 center font label_font textcolor rgb grey
        set yrange [0:1]
        plot -1
    }
    unset label 3
    do for [i = 1:words(shown)] { unset label (20 + i) }

    # --- trained networks
    eval panel_x(0.405, 0.655)
    set title "Trained on digits: errors stay small"
    eval measure_all("strcol('part') eq 'trained'", "column('step')")
    trained_steps = int(most)
    set xrange [1:trained_steps]
    set yrange [-8:0.7]
    eval tens(-8, 0)
    set xtics autofreq
    set xlabel "time step"
    set ylabel "relative error of the state" offset 1,0
    do for [f = 1:4] {
        eval measure("trained " . word(policies, f), "column('step') == trained_steps", "log10(column('error'))")
        set label (30 + f) word(policy_labels, f) at trained_steps * 0.98,most + 0.4 right font small_font textcolor rgb value(word(policy_colours, f))
    }
    set label 35 "thin: rnn   medium: gru   thick: lstm" at graph 0.04,0.27 font small_font textcolor rgb grey
    plot for [c = 1:3] for [f = 1:4] rows("trained " . word(policies, f)) using (strcol("cell") eq word(cells, c) ? column("step") : NaN):(log10(column("error"))) smooth unique with lines linecolor rgb tint(value(word(policy_colours, f)), c == 3 ? 0.45 : 1) linewidth real(word(widths, c))
    do for [f = 1:5] { unset label (30 + f) }

    # --- backward
    eval panel_x(0.735, 0.985)
    set title "Contracting: gradients become zero"
    set xlabel "steps back from the loss"
    set ylabel "share of the gradient that is zero" offset 0.8,0
    set yrange [0:108]
    set ytics ("0 %%" 0, "25 %%" 25, "50 %%" 50, "75 %%" 75, "100 %%" 100)
    set xrange [0:last_step < 160 ? last_step : 160]
    set xtics 40
    if (contracting) {
        set label 41 "binary16" at 15,50 center rotate by 90 font small_font textcolor rgb binary16
        set label 42 "binary16,\nloss times 2^{12}" at 38,40 left font small_font textcolor rgb binary16
        eval measure("random-back mixed:bfloat16", "back(contracting, 0) && column('zeros') >= 0.5", "column('step')")
        shrinks = hits ? least - 8 : NaN
        if (hits) { set label 43 "bfloat16" at shrinks,60 right } else { set label 43 "bfloat16" at graph 0.97,first 7 right }
        set label 43 font small_font textcolor rgb bfloat16
        plot rows("random-back mixed:binary16") using (back(contracting, 0) ? column("step") : NaN):(100 * column("zeros")) smooth unique with lines linecolor rgb binary16 linewidth 2, \
             rows("random-back mixed:binary16") using (back(contracting, 12) ? column("step") : NaN):(100 * column("zeros")) smooth unique with lines linecolor rgb binary16 linewidth 2 dashtype (6,4), \
             rows("random-back mixed:bfloat16") using (back(contracting, 0) ? column("step") : NaN):(100 * column("zeros")) smooth unique with lines linecolor rgb bfloat16 linewidth 2
    } else {
        set label 41 "no network of this run contracts" norotate at graph 0.5,0.5 center font label_font textcolor rgb grey
        plot -1
    }
    do for [f = 41:43] { unset label f }
    eval figure_end
}
