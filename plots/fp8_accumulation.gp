# fp8_accumulation.gp - a sum that stops in 14 bits, and errors by number of bits kept and by promotion interval.
load "plots/style.gp"
eval figure_of_both("fp8_accumulation")

by_bits(data) = strcol("data") eq data && strcol("bits") ne "" ? column("bits") : NaN
by_promote(data) = strcol("data") eq data && strcol("promote") ne "" ? column("promote") : NaN
running(name) = strcol("data") eq "constant" && strcol("datapath") eq name ? column("k") / 1024 : NaN
seeds = int(option(csv, "seeds"))
kinds = "uniform normal"
array cast[2]
array raw[2]
array every[2]
do for [d = 1:2] {
    cast[d] = 100 * summary(csv, "norm-wise error", word(kinds, d) . " cast")
    raw[d] = 100 * summary(csv, "norm-wise error", word(kinds, d) . " bits 14")
    every[d] = 100 * summary(csv, "norm-wise error", word(kinds, d) . " promote 128")
}
if (raw[1] != raw[1] || every[1] != every[1]) { eval figure_refuse("fp8_accumulation", "needs a run with --bits 12..25 and --promote 32,64,128,256,512,1024,2048") }
hopper = "h100-e4m3:F=13:kept=13"
promoted = "h100-e4m3:promote=128"
# the sums of 32768 products 2^{-8}
cut = summary(csv, "sum of constants", "bits 14")
kept = summary(csv, "sum of constants", "promote 128")
wide_sum = summary(csv, "sum of constants", "b200-e4m3")
has_wide = wide_sum == wide_sum
k = option(csv, "k")
amax = option(csv, "scaling") eq "amax" ? ", scaled to the range of e4m3" : ""
colour(d) = d == 1 ? red : blue
percents = "('10^{-5} %%' 1e-5, '10^{-4} %%' 1e-4, '10^{-3} %%' 1e-3, '0.01 %%' 0.01, '0.1 %%' 0.1, '1 %%' 1, '10 %%' 10, '100 %%' 100)"

do for [file in figure_files] {
    eval figure_panels("fp8_accumulation", file, 1160, 560)
    eval heading(0.955, sprintf("14 significant bits lose %.1f %% of a sum of positive e4m3 products; promotion cuts the loss to %.2f %%", raw[1], every[1]), \
                 0.90, sprintf("Left: one sum. Middle and right: ||computed - exact|| / ||exact|| of matrix products with %s products in each result%s.", k, amax))
    eval panel_y(0.125, 0.80)

    eval panel_x(0.06, 0.29)
    set title "Adding 2^{-8} again and again"
    set xrange [0:32]
    set yrange [0:136]
    set xtics ("0" 0, "8192" 8, "16384" 16, "24576" 24, "32768" 32) font "Helvetica,11"
    set ytics 0,32,128
    set xlabel "products added" font label_font
    set ylabel "sum" offset 1.6,0 font label_font
    set label 11 sprintf("14 significant bits:\nstops at exactly %g", cut) at 31,51 right textcolor rgb red font label_font
    set label 12 sprintf("promoted every 128%s:\nexactly %g", wide_sum == kept ? ",\nor 26 significant bits\n(Blackwell)" : "", kept) at 1,124 left textcolor rgb green font label_font
    wide = has_wide ? "csv using (running('b200-e4m3')):'sum' with lines linecolor rgb green linewidth 2, " : ""
    eval "plot csv using (running(promoted)):'sum' with lines linecolor rgb tint(green, 0.45) linewidth 6, " . wide . "csv using (running(hopper)):'sum' with lines linecolor rgb red linewidth 2.5"
    unset label 11; unset label 12

    set logscale y 10
    set yrange [2e-6:100]
    eval "set ytics " . percents
    set ylabel "error, relative to the exact product" offset 1.2,0 font label_font
    eval panel_x(0.39, 0.665)
    set title "Significant bits of the sum"
    set xrange [11.5:25.5]
    set xtics 12,2,25 font small_font
    set xlabel "significant bits = fraction bits + 1" font label_font
    set arrow 1 from 14,graph 0 to 14,graph 1 nohead linecolor rgb grey dashtype (3,4) linewidth 1.5
    set label 11 "14: Ada,\nHopper" at 14.25,4e-5 left textcolor rgb grey font small_font
    set label 13 "rounding the data" at 25.4,1.6*cast[2] right textcolor rgb blue font small_font
    set label 14 "rounding the data" at 25.4,1.6*cast[1] right textcolor rgb red font small_font
    set label 15 "positive,\nU[0,1]" at 21.6,0.012 left textcolor rgb red font label_font
    set label 16 "both signs,\nN(0,1)" at 14.3,0.002 left textcolor rgb blue font label_font
    plot cast[1] with lines linecolor rgb red dashtype (4,4) linewidth 1.5, \
         cast[2] with lines linecolor rgb blue dashtype (4,4) linewidth 1.5, \
         for [d = 1:2] csv using (by_bits(word(kinds, d))):(100 * column("norm_error") / seeds) smooth frequency with linespoints pointtype 7 pointsize 0.5 linecolor rgb colour(d) linewidth 2
    unset arrow 1
    do for [i = 11:16] { unset label i }

    set ylabel ""
    eval panel_x(0.745, 0.985)
    set title "Promotion, 14 significant bits"
    set logscale x 2
    set xrange [26:6000]
    set xtics ("32" 32, "64" 64, "128" 128, "256" 256, "512" 512, "1024" 1024, "2048" 2048, "never" 4096) rotate by -45
    set xlabel "products between two promotions" offset 0,0.6 font label_font
    set yrange [0.001:100]
    set label 13 "rounding the data" at 28,1.6*cast[2] left textcolor rgb blue font small_font
    set label 14 "rounding\nthe data" at 28,3.6*cast[1] left textcolor rgb red font small_font
    set label 11 "positive" at 560,0.4 left textcolor rgb red font label_font
    set label 15 "promotion: the sum is added to\na binary32 sum and starts again" at 5600,0.004 right textcolor rgb grey font small_font
    set label 12 "both signs" at 560,0.017 left textcolor rgb blue font label_font
    plot cast[1] with lines linecolor rgb red dashtype (4,4) linewidth 1.5, \
         cast[2] with lines linecolor rgb blue dashtype (4,4) linewidth 1.5, \
         for [d = 1:2] csv using (by_promote(word(kinds, d))):(100 * column("norm_error") / seeds) smooth frequency with linespoints pointtype 7 pointsize 0.5 linecolor rgb colour(d) linewidth 2, \
         for [d = 1:2] "+" using (4096):(raw[d]) every ::::0 with points pointtype 6 pointsize 0.8 linecolor rgb colour(d)
    eval figure_end
}
