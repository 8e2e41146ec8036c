# tensor_core.gp - the aligned sum of each generation: number of products, bits kept, and the error of a long sum.
load "plots/style.gp"
eval figure_of_both("tensor_core")

wanted = "fp32 v100-fp16 t4-fp16 a100-fp16 a100-bf16 a100-tf32 h100-fp16 h100-tf32 b200-fp16 h100-fp16-fp16 l40s-e4m3 h100-e4m3 h100-e4m3-mma b200-e4m3 b200-e2m1-nvf4"
shown = ""
do for [name in wanted] {
    error = summary(csv, "rms error", name . " signed")
    if (error == error) { shown = shown . " " . name }
}
n = words(shown)
if (n == 0) { eval figure_refuse("tensor_core", "it shows the rows of the GPUs: needs a run without --datapath") }

or_zero(x) = x == x ? x : 0
length_of = ""; fraction_of = ""; kept_of = ""; mode_of = ""; signed_of = ""; positive_of = ""
do for [name in shown] {
    rounding = summary(csv, "rounding", name)
    length_of = length_of . sprintf(" %g", or_zero(summary(csv, "products", name)))
    fraction_of = fraction_of . sprintf(" %g", or_zero(summary(csv, "fraction bits of a product", name)))
    kept_of = kept_of . sprintf(" %g", summary(csv, "fraction bits of a result", name))
    mode_of = mode_of . (rounding == 0 ? " rne" : rounding == 2 ? " rz" : " ?")
    signed_of = signed_of . sprintf(" %g", summary(csv, "rms error", name . " signed"))
    positive_of = positive_of . sprintf(" %g", summary(csv, "rms error", name . " positive"))
}
at(list, i) = real(word(list, i))
colour(name) = strstrt(name, "e4m3") ? e4m3 : strstrt(name, "e2m1") ? fixed : strstrt(name, "bf16") ? bfloat16 : strstrt(name, "tf32") ? tf32 : strstrt(name, "fp16") ? binary16 : binary32
gpu(name) = name[1:4] eq "v100" ? "Volta" : name[1:2] eq "t4" ? "Turing" : name[1:4] eq "a100" ? "Ampere" : name[1:4] eq "l40s" ? "Ada" : name[1:4] eq "h100" ? "Hopper" : name[1:4] eq "b200" ? "Blackwell" : ""
y(i) = n + 1 - i
seen(v) = v > 0 ? v : 1e-30 # out of sight

set yrange [0.4:n + 0.6]
set grid noytics
set border 1

do for [file in figure_files] {
    eval figure_panels("tensor_core", file, 1160, 250 + 34 * n)
    eval heading(0.965, "How Tensor Cores add: many products at once, each cut off before the sum", 0.925, "A probe found these numbers in the model of each generation. Names: GPU-inputs; a second fp16 is the accumulator. Colours: input formats.")
    eval panel_y(0.15, 0.835)

    eval panel_x(0.225, 0.405)
    set title "Products in one sum" offset 0,0.2
    set logscale x 2
    set xrange [0.75:170]
    set xtics (1, 4, 8, 16, 32, 64)
    set ytics ()
    do for [i = 1:n] { set ytics add (word(shown, i) . (gpu(word(shown, i)) eq "" ? "" : "  " . gpu(word(shown, i))) y(i)) }
    set ytics scale 0
    set xlabel "products (logarithmic)" offset 0,0.3
    do for [i = 1:n] { set label 10 + i sprintf("%g", at(length_of, i)) at (at(length_of, i) * 1.4),y(i) left font small_font textcolor rgb ink }
    plot for [i = 1:n] "+" using (at(length_of, i)):(y(i)) every ::0::0 with points pointtype 7 pointsize 1.1 linecolor rgb colour(word(shown, i))
    do for [i = 1:n] { unset label 10 + i }
    unset label 1; unset label 2

    eval panel_x(0.425, 0.66)
    set title "Fraction bits of terms and results"
    unset logscale x
    set xlabel "fraction bits = significant bits - 1" offset 0,0.3
    set xrange [0:46]
    set xtics (0, 5, 10, 15, 20, 25, 30, 35)
    do for [i = 1:n] { set ytics add ("" y(i)) }
    set label 9 "bar, number: each term   ◆ the result" at graph 0.5,1.025 center font small_font textcolor rgb ink
    do for [i = 1:n] {
        if (at(fraction_of, i) > 0) { set label 10 + i sprintf("%g  %s", at(fraction_of, i), word(mode_of, i)) at (at(fraction_of, i) > at(kept_of, i) ? at(fraction_of, i) : at(kept_of, i)) + 1.3,y(i) left font small_font textcolor rgb ink } \
        else { set label 10 + i sprintf("%s  %s", at(length_of, i) == 1 ? "one at a time" : "not reachable", word(mode_of, i)) at (at(kept_of, i) + 1.3),y(i) left font small_font textcolor rgb grey }
    }
    plot for [i = 1:n] "+" using (0.5 * at(fraction_of, i)):(y(i)):(0):(at(fraction_of, i)):(y(i) - 0.3):(y(i) + 0.3) every ::0::0 with boxxyerror linecolor rgb tint(colour(word(shown, i)), 0.75), \
         for [i = 1:n] "+" using (at(kept_of, i)):(y(i)) every ::0::0 with points pointtype 13 pointsize 1.0 linecolor rgb ink
    do for [i = 1:n] { unset label 10 + i }
    unset label 9

    eval panel_x(0.68, 0.965)
    set title sprintf("Error of %s products, relative to Σ |a b|", option(csv, "k"))
    set logscale x 10
    set xlabel "root mean square error" offset 0,0.3
    set xrange [1e-10:1]
    set xtics ("10^{-10}" 1e-10, "10^{-8}" 1e-8, "10^{-6}" 1e-6, "10^{-4}" 1e-4, "10^{-2}" 1e-2, "1" 1)
    set key at screen 0.98,0.062 right top horizontal maxcols 2 font small_font
    set label 9 "rz, rne: how the result is rounded, toward zero or to nearest, ties to even" at screen 0.02,0.035 left font small_font textcolor rgb grey
    do for [i = 1:n] { if (at(signed_of, i) == 0 && at(positive_of, i) == 0) { set label 10 + i "no error" at 1.5e-10,y(i) left font small_font textcolor rgb ink } }
    plot 1e-30 with points pointtype 6 pointsize 1.0 linewidth 2 linecolor rgb ink title "numbers in [-1, 1)", \
         1e-30 with points pointtype 7 pointsize 1.1 linecolor rgb ink title "numbers in [0, 1)", \
         for [i = 1:n] "+" using (seen(at(signed_of, i))):(y(i)):(seen(at(positive_of, i)) - seen(at(signed_of, i))):(0) every ::0::0 with vectors nohead linewidth 2 linecolor rgb tint(colour(word(shown, i)), 0.4), \
         for [i = 1:n] "+" using (seen(at(signed_of, i))):(y(i)) every ::0::0 with points pointtype 6 pointsize 1.0 linewidth 2 linecolor rgb colour(word(shown, i)), \
         for [i = 1:n] "+" using (seen(at(positive_of, i))):(y(i)) every ::0::0 with points pointtype 7 pointsize 1.1 linecolor rgb colour(word(shown, i))
    do for [i = 1:n] { unset label 10 + i }
    unset label 9
    unset logscale x
    unset multiplot
    unset output
}
