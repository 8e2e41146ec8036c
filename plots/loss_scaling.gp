# loss_scaling.gp - accuracy and loss against the loss scale, with both walls, and what dynamic scalers do.
# caption: A small network learns digits in mixed precision; its gradients are kept in one of three formats and the loss is multiplied by a power of two. Too small a scale turns the gradients to zero and nothing is learned; too large a one overflows, and with a static scale the first infinity ends the run. Between the two walls every scale is as good as binary32, and the room between them is the format's exponent range less the gradients' own. Dynamic scalers find that room without tuning: they halve the scale and skip the step when something overflows, and double it after some good steps. They may end above the static wall, since the gradients shrink while the network learns. After Micikevicius et al. 2018, section 3.2.
load "plots/style.gp"
csv = "results/loss_scaling.csv"

final(format, scaler) = strcol("what") eq "final" && strcol("format") eq format && strcol("scaler") eq scaler
traced(format, scaler) = strcol("what") eq "step" && strcol("format") eq format && strcol("scaler") eq scaler
scale(format) = final(format, "static") ? column("static_log2") : NaN
formats = "binary16 e5m2 e4m3"
widths = "6 4 2"
# the scalers that were run, in the order of the file
scalers = ""
found(name) = strstrt(scalers . " ", " " . name . " ") > 0
note(name) = (scalers = found(name) ? scalers : scalers . " " . name, 1)
stats csv using (strcol("what") eq "step" ? note(strcol("scaler")) : NaN) nooutput
colour(name) = name eq "pytorch" ? blue : name eq "apex" ? orange : name eq "keras" ? green : name eq "megatron" ? purple : name eq "backoff" ? black : sky

stats csv using (strcol("what") eq "final" && strcol("scaler") eq "none" ? 100 * column("test_accuracy") : NaN) nooutput
reference = STATS_mean
stats csv using (strcol("what") eq "final" && strcol("scaler") eq "none" ? column("loss") : NaN) nooutput
reference_loss = STATS_mean
stats csv using (strcol("what") eq "final" && strcol("scaler") eq "static" ? column("static_log2") : NaN) nooutput
low = STATS_min
high = STATS_max
array left[3]
array right[3]
array before[3]
do for [f = 1:3] {
    stats csv using (final(word(formats, f), "static") && column("test_accuracy") > 0.5 ? column("static_log2") : NaN) nooutput
    left[f] = STATS_min
    right[f] = STATS_max
    stats csv using (final(word(formats, f), "static") && column("static_log2") < left[f] ? column("static_log2") : NaN) nooutput
    before[f] = STATS_max
}
# left of a rising (falling) line, where it has done the share h of its way
beside(f, h) = before[f] + h * (left[f] - before[f]) - 1.2
stats csv using (strcol("what") eq "step" ? column("scale_log2") : NaN):(strcol("what") eq "step" ? column("step") : NaN) nooutput
steps = STATS_max_y
ceiling = STATS_max_x

do for [file in figure_files] {
    eval figure_open("loss_scaling", file, 1160, 900)
    set multiplot layout 2,2 margins 0.07,0.985,0.075,0.865 spacing 0.085,0.15
    set label 1 "Between two walls any loss scale will do; dynamic scalers find the room without tuning" at screen 0.02,0.965 font title_font textcolor rgb ink
    set label 2 "Above: static scales, means over the seeds, dots are seeds. Below: the scale of dynamic scalers, crosses are steps that were skipped." at screen 0.02,0.93 font label_font textcolor rgb grey

    # --- accuracy
    set title "Accuracy on digits not seen in training"
    set xrange [low - 1:high + 1]
    set xtics ("2^{-24}" -24, "2^{-16}" -16, "2^{-8}" -8, "1" 0, "2^8" 8, "2^{16}" 16, "2^{24}" 24)
    set xlabel "loss scale"
    set yrange [0:112]
    set ytics 0,20,100 format "%g %%"
    do for [f = 1:3] {
        set label 10 + f word(formats, f) at beside(f, 0.7 - 0.14 * f),68 - 12 * f right textcolor rgb value(word(formats, f)) font label_font
    }
    set label 14 sprintf("binary32: %.1f %%", reference) at low,104 left textcolor rgb ink font small_font
    set label 15 "underflow" at low,14 left textcolor rgb grey font label_font
    set label 16 "overflow" at high,14 right textcolor rgb grey font label_font
    set arrow 1 from low - 1,reference to high + 1,reference nohead linecolor rgb ink dashtype (3,4) linewidth 1.5
    plot for [f = 1:3] csv using (scale(word(formats, f))):(100 * column("test_accuracy")) smooth unique with lines linecolor rgb value(word(formats, f)) linewidth word(widths, f), \
         for [f = 1:3] csv using (scale(word(formats, f))):(100 * column("test_accuracy")) with points pointtype 7 pointsize 0.35 linecolor rgb value(word(formats, f))
    do for [i = 1:16] { unset label i }
    unset arrow 1

    # --- loss
    set title "Loss on the training digits at the end"
    set yrange [1e-4:30]
    set logscale y
    set ytics ("10^{-4}" 1e-4, "10^{-3}" 1e-3, "10^{-2}" 1e-2, "0.1" 0.1, "1" 1, "10" 10)
    do for [f = 1:3] {
        set label 10 + f word(formats, f) at beside(f, 0.2 + 0.2 * f),0.9 / 4 ** f right textcolor rgb value(word(formats, f)) font label_font
    }
    set label 14 sprintf("binary32: %.2g", reference_loss) at low,reference_loss * 0.58 left textcolor rgb ink font small_font
    set label 15 "underflow" at low,6 left textcolor rgb grey font label_font
    set label 16 "overflow: NaN" at high,6 right textcolor rgb grey font label_font
    set arrow 1 from low - 1,reference_loss to high + 1,reference_loss nohead linecolor rgb ink dashtype (3,4) linewidth 1.5
    plot for [f = 1:3] csv using (scale(word(formats, f))):"loss" smooth unique with lines linecolor rgb value(word(formats, f)) linewidth word(widths, f), \
         for [f = 1:3] csv using (scale(word(formats, f))):"loss" with points pointtype 7 pointsize 0.35 linecolor rgb value(word(formats, f))
    unset logscale y
    unset arrow 1
    do for [i = 11:16] { unset label i }

    # --- traces
    set xrange [0:steps + 1]
    set xtics auto
    set xtics autofreq format "%g"
    set xlabel "training step"
    set yrange [0:ceiling + 3]
    set ytics 0,8,ceiling + 3 format "2^{%g}"
    set key center bottom horizontal Left reverse samplen 1 width 1
    shown = "binary16 e4m3"
    do for [c = 1:2] {
        format = word(shown, c)
        at = c == 1 ? 1 : 3
        set title sprintf("Dynamic scalers, %s gradients", format)
        set label 11 "static scales above this line diverge" at steps,right[at] - (at == 1 ? 1.3 : 2.4) right textcolor rgb grey font small_font
        set arrow 1 from 0,right[at] to steps + 1,right[at] nohead linecolor rgb grey dashtype (3,4) linewidth 1.5
        plot for [s = 1:words(scalers)] csv using (traced(format, word(scalers, s)) ? column("step") : NaN):"scale_log2" with steps linecolor rgb colour(word(scalers, s)) linewidth (s == 1 ? 5 : 2) title word(scalers, s), \
             csv using (strcol("what") eq "step" && strcol("format") eq format && column("skipped") > 0 ? column("step") : NaN):"scale_log2":(colour(strcol("scaler"))) with points pointtype 2 pointsize 0.7 linecolor rgb variable
    }
    unset multiplot
    unset output
    reset
    load "plots/style.gp"
}
