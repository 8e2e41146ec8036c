# sr_bits.gp - stops of stochastic sums, bias of a rounding, and errors of sums, by the number of random bits.
load "plots/style.gp"
eval figure_of_both("sr_bits")

of(kind, format, mode, input) = strcol("kind") eq kind && strcol("format") eq format && strcol("mode") eq mode && strcol("input") eq input
modes = "sra srb src"
letters = "A B C"
colours = "red blue green"
formats = "e8m2 e8m4 bfloat16"
shift(m) = m == 1 ? 0 : m == 2 ? -0.14 : 0.14
array there[3]
some = 0
do for [m = 1:3] {
    there[m] = 0
    eval measure_all("of('error', 'bfloat16', word(modes, m), 'uniform')", "column('bits')")
    there[m] = hits
    some = some + hits
}
if (some == 0) { eval figure_refuse("sr_bits", "it shows sums in bfloat16: needs a run with --formats bfloat16") }
shown = ""
ended = ""
do for [format in formats] {
    eval measure_all("strcol('kind') eq 'stop' && strcol('format') eq format", "column('bits')")
    if (hits) { shown = shown . " " . format }
    eval measure_all("strcol('kind') eq 'stop' && strcol('format') eq format && column('most') > 0", "column('bits')")
    if (hits) { ended = ended . " " . format } # sums ran to their stop
}
eval measure_all("strcol('kind') eq 'bias'", "column('bits')")
most_bits = most
least_bits = least
list = ""
do for [m = 1:3] { if (there[m]) { list = list . sprintf(" %d", m) } }
colour(m) = value(word(colours, m))
bits(kind, format, m, input) = of(kind, format, word(modes, m), input) ? column("bits") : NaN
run_to(v) = v > 0 ? log(v) / log(2) : NaN
p(format) = int(summary(csv, "significant bits", format))
lawful(quantity, m, input) = there[m] && summary(csv, quantity, word(modes, m) . " " . input) == 0
sd(m) = summary(csv, "sd", sprintf("bfloat16 %s %d", word(modes, m), column("bits")))

do for [file in figure_files] {
    eval figure_panels("sr_bits", file, 1160, 520)
    eval heading(0.95, words(list) == 3 ? "With few random bits all sums stop, and sums of method A drift before they stop" : "With few random bits stochastic sums stop", \
                 0.89, "Stochastic rounding of P3109 with r random bits. Of the bits below these, method A drops all, B adds half a unit, and C rounds.")
    eval panel_y(0.13, 0.76)
    set xrange [least_bits - 0.5:most_bits + 0.5]
    set xtics 2
    set xlabel "random bits r" textcolor rgb ink

    set lmargin at screen 0.075
    set ylabel "sum" offset 0.6,0
    set rmargin at screen 0.305
    set title "Where sums of terms in (0,1) stop"
    set yrange [0:26]
    set ytics ("1" 0, "2^4" 4, "2^8" 8, "2^{12}" 12, "2^{16}" 16, "2^{20}" 20, "2^{24}" 24)
    do for [format in shown] {
        set label 10 + p(format) sprintf("p = %d", p(format)) at most_bits + 0.6,p(format) + most_bits - 0.5 left textcolor rgb ink font label_font
    }
    set label 9 "p: significant bits\ncircles: sums that ran\nuntil they stopped" at graph 0.05,0.94 left textcolor rgb grey font label_font
    set label 20 "B and C: 2^{p+r}" at graph 0.97,0.19 right textcolor rgb green font label_font
    set label 21 "A: 2^{p-1+r}" at graph 0.97,0.11 right textcolor rgb red font label_font
    if (!lawful("stops off the law", 1, "below-one")) { unset label 21 }
    if (!lawful("stops off the law", 2, "below-one") || !lawful("stops off the law", 3, "below-one")) { unset label 20 }
    width(m) = m == 2 ? 5 : 1.5
    size(m) = m == 2 ? 1 : 0.6
    at(format, m) = bits("stop", format, m, "below-one")
    eval "plot " . (words(shown) == 0 ? "" : "for [format in shown] for [m in list] csv using (at(format, int(m))):(run_to(column('first_stuck'))) with lines linecolor rgb (m eq '2' ? tint(blue, 0.4) : colour(int(m))) linewidth width(int(m)), ") . (words(ended) == 0 ? "" : "for [format in ended] for [m in list] csv using (at(format, int(m))):(run_to(column('most'))) with points pointtype 6 pointsize size(int(m)) linecolor rgb colour(int(m)), ") . "1/0"
    do for [i = 9:21] { unset label i }

    eval panel_x(0.42, 0.645)
    set title "Mean of rounded - exact"
    set ylabel "spacings of the format" offset 0.6,0
    set yrange [-0.27:0.05]
    set ytics -0.25,0.05,0.05 format "%.2f"
    set label 9 "A: exactly -2^{-(r+1)}" at graph 0.25,graph 0.42 left textcolor rgb red font label_font
    set label 10 "B and C: exactly 0" at graph 0.95,graph 0.92 right textcolor rgb ink font label_font
    if (!lawful("biases off the law", 1, "midpoints")) { unset label 9 }
    if (!lawful("biases off the law", 2, "midpoints") || !lawful("biases off the law", 3, "midpoints")) { unset label 10 }
    plot for [m in list] csv using (strcol("format") eq "bfloat16" ? bits("bias", "bfloat16", int(m), "midpoints") + shift(int(m)) : NaN):"bias" with linespoints pointtype 7 pointsize 0.5 linecolor rgb colour(int(m)) linewidth 1.5
    do for [i = 9:11] { unset label i }

    eval panel_x(0.725, 0.985)
    set title sprintf("Error of %s additions, bfloat16", option(csv, "terms"))
    set ylabel "relative error of the sum" offset 1.6,0
    set yrange [-1.05:0.2]
    set ytics ("-100 %%" -1, "-75 %%" -0.75, "-50 %%" -0.5, "-25 %%" -0.25, "0" 0)
    set key at graph 0.4,0.3 left Left reverse samplen 1.2 font small_font
    set label 11 "bars: mean ± deviation\nlines: predicted" at graph 0.97,0.98 right textcolor rgb grey font small_font
    set label 9 "A still drifts" at 9.5,-0.33 left textcolor rgb red font label_font
    set label 10 "stopped" at 5.4,-0.6 right textcolor rgb grey font label_font
    if (most_bits < 12 || least_bits > 3) { unset label 10; unset label 9 }
    if (!there[1]) { unset label 9 }
    plot for [m in list] csv using (bits("error", "bfloat16", int(m), "uniform") + shift(int(m))):"predicted" with lines linecolor rgb tint(colour(int(m)), 0.5) linewidth 1.5, \
         for [m in list] csv using (at = bits("error", "bfloat16", int(m), "uniform") + shift(int(m))):"mean_error":(at == at ? sd(int(m)) : NaN) with yerrorbars pointtype 7 pointsize 0.5 linecolor rgb colour(int(m)) linewidth 1.2 title "method " . word(letters, int(m))
    eval figure_end
}
