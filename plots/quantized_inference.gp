# quantized_inference.gp - accuracy of a trained network against the number of bits, by scheme and accumulator.
load "plots/style.gp"
eval figure_of("quantized_inference")

eval measure_all("strcol('kind') eq 'integer'", "column('net')")
if (hits == 0) { eval figure_refuse("quantized_inference", "it shows integers: needs a run with --schemes and --accumulators") }
nets = int(most) > 2 ? 2 : int(most)
eval measure_all("strcol('kind') eq 'integer'", "column('bits')")
low_bits = int(least)
high_bits = int(most)
if (high_bits == low_bits) { eval figure_refuse("quantized_inference", "it needs more than one number of --bits") }

# the rows with accuracies of single seeds, and the mean over the seeds
reach(net, scheme, acc) = strcol("kind") eq "integer" && strcol("scheme") eq scheme && column("net") == net && strcol("accumulator") eq acc
mean_of(net, way) = summary(csv, "mean accuracy", sprintf("%d %s", net, way))
curves = "affine:int32 symmetric:int32 symmetric:int16-sat symmetric:int16"
names = "'affine codes, 32-bit sums' 'symmetric, 32-bit sums' 'symmetric, 16-bit sum saturates' 'symmetric, 16-bit sum wraps'"
colours = "blue orange purple red"
marks = "7 5 9 13" # of single seeds
widths = "2 7 4 1.5"
scheme(c) = system("echo " . word(curves, c) . " | cut -d: -f1")
acc(c) = system("echo " . word(curves, c) . " | cut -d: -f2")
array schemes[4]
array accs[4]
array mean_at[200]
do for [c = 1:4] { schemes[c] = scheme(c); accs[c] = acc(c) }
array reference[2]
do for [n = 1:nets] {
    reference[n] = mean_of(n, "binary32 plain 32 binary32")
    do for [c = 1:4] { do for [b = low_bits:high_bits] {
        mean_at[100 * (n - 1) + 10 * c + b] = mean_of(n, sprintf("integer %s %d %s", schemes[c], b, accs[c]))
    } }
}
formats = "binary16 bfloat16 e5m2 e4m3 e3m2 e2m1"
titles = "'A net of dense layers' 'A convolutional net'"

do for [file in figure_files] {
    eval figure_panels("quantized_inference", file, 1160, 560)
    fits = mean_at[10 + 5] > reference[1] - 2
    eval heading(0.95, fits && low_bits <= 5 && high_bits == 8 ? "Five bits answer nearly as well as 32; sums that wrap around need more than 16" : "Accuracy of a trained network in few bits", \
                 0.895, "Trained in binary32, then answered with integer weights and activations; no training afterwards. Grey line: binary32.")
    set logscale y
    set yrange [2:100]
    set ytics ("2 %%" 2, "3 %%" 3, "5 %%" 5, "10 %%" 10, "20 %%" 20, "50 %%" 50, "100 %%" 100)
    do for [n = 1:nets] {
        eval panel(n == 1 ? 0.085 : 0.405, n == 1 ? 0.345 : 0.67, 0.13, 0.80)
        set title word(titles, n)
        set xrange [low_bits - 0.4:high_bits + 0.4]
        set xtics 1
        set xlabel "bits of weights and activations"
        if (n == 1) { set ylabel "wrong answers on the test part" offset 1.6,0 } else { set ylabel "" }
        if (n == 1) { set key at graph 0.115,0.995 left top samplen 0.8 spacing 1.05 font small_font Left reverse } else { unset key }
        set arrow 1 from graph 0,first 100 - reference[n] to graph 1,first 100 - reference[n] nohead back linecolor rgb pale linewidth 8
        plot for [c = 1:4] [low_bits:high_bits] '+' using (int($1 + 0.5)):(100 - mean_at[100 * (n - 1) + 10 * c + int($1 + 0.5)]) with lines linecolor rgb value(word(colours, c)) linewidth real(word(widths, c)) notitle, \
             for [c = 1:4] csv using (reach(n, schemes[c], accs[c]) ? column("bits") : NaN):(100 - column("accuracy")) with points pointtype int(word(marks, c)) pointsize 0.35 linecolor rgb value(word(colours, c)), \
             for [c = 1:4] 1/0 with lines linewidth real(word(widths, c)) linecolor rgb value(word(colours, c)) title word(names, c), \
             1/0 with points pointtype 7 pointsize 0.35 linecolor rgb grey title "small marks: single seeds"
    }
    eval panel_x(nets == 2 ? 0.73 : 0.45, nets == 2 ? 0.985 : 0.95)
    set title "Floating point (dense net)"
    set xrange [0.4:6.6]
    set xtics ("binary16" 1, "bfloat16" 2, "e5m2" 3, "e4m3" 4, "e3m2" 5, "e2m1" 6) rotate by -30
    set xlabel "format of weights and activations" offset 0,0.8
    set ylabel ""
    set key at graph 0.03,0.99 left top samplen 0.6 font small_font Left reverse
    place(f, s, shift) = strcol("kind") eq word(formats, f) && strcol("scheme") eq s && column("net") == 1 ? f + shift : NaN
    set arrow 1 from graph 0,first 100 - reference[1] to graph 1,first 100 - reference[1] nohead back linecolor rgb pale linewidth 8
    plot for [f = 1:6] csv using (place(f, "plain", -0.13)):(100 - column("accuracy")) with points pointtype 7 pointsize 0.6 linecolor rgb red, \
         for [f = 1:6] csv using (place(f, "scaled", 0.13)):(100 - column("accuracy")) with points pointtype 6 pointsize 0.6 linecolor rgb blue, \
         1/0 with points pointtype 7 pointsize 0.7 linecolor rgb red title "without a scale, each seed", \
         1/0 with points pointtype 6 pointsize 0.7 linecolor rgb blue title "a scale per tensor, each seed"
    eval figure_end
}
