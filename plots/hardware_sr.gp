# hardware_sr.gp - bias and variance of stochastic rounding as hardware does it.
load "plots/style.gp"
eval figure_of("hardware_sr")

is(name) = strcol("conversion") eq name && column("value") > 0
bias(name) = is(name) ? column("bias") : NaN
variance(name) = is(name) ? column("variance") : NaN

do for [file in figure_files] {
    eval figure_panels("hardware_sr", file, 1160, 520)
    eval heading(0.95, "Few random bits bias stochastic rounding; shared random bits make errors alike", 0.895, "Two readings of the text of Blackwell's cvt.rs, which nobody has measured. nu: how far a value lies from one number of the format to the next.")
    eval panel_y(0.13, 0.79)
    set xrange [0:1]
    set xlabel "nu"
    eval panel_x(0.075, 0.46)
    set yrange [-0.005:0.002]
    set ytics ("-1/256" -1.0/256, "-1/512" -1.0/512, "0" 0)
    set title "Bias: (probability of rounding up) - nu"
    set label 11 "binary16 with 13 bits, e4m3 with 16 shared bits: no bias" at 0.02,0.0006 left textcolor rgb blue font label_font
    set label 12 "e4m3, 8 bits for each value" at 0.98,-0.0046 right textcolor rgb red font label_font
    plot csv using "nu":(bias("cvt.rs.satfinite.e4m3x4:split")) with points pointtype 7 pointsize 0.35 linecolor rgb red, \
         csv using "nu":(bias("cvt.rs.satfinite.e4m3x4:shared")) with points pointtype 7 pointsize 0.35 linecolor rgb blue, \
         csv using "nu":(bias("cvt.rs.f16x2")) with points pointtype 7 pointsize 0.35 linecolor rgb blue
    unset label 11
    unset label 12
    eval panel_x(0.56, 0.975)
    set yrange [0:1.15]
    set ytics ("0" 0, "1/2" 0.5, "1" 1)
    set title "Variance of the sum of two equal values"
    set label 11 "16 shared bits: 4 p (1 − p)" at 0.5,1.06 center textcolor rgb blue font label_font
    set label 12 "8 bits each: 2 p (1 − p)" at 0.5,0.56 center textcolor rgb red font label_font
    set label 13 "p: the probability of rounding up" at 0.5,0.06 center textcolor rgb grey font label_font
    plot csv using "nu":(variance("cvt.rs.satfinite.e4m3x4:shared")) with points pointtype 7 pointsize 0.35 linecolor rgb blue, \
         csv using "nu":(variance("cvt.rs.satfinite.e4m3x4:split")) with points pointtype 7 pointsize 0.35 linecolor rgb red
    eval figure_end
}
