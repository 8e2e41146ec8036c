# bench_gpu.gp - throughput of a GPU: rounding compared with copying, emulated products, and the device's own products.
load "plots/style.gp"
csv = "results/bench_gpu.csv"
eval figure_needs("bench_gpu", csv)

eval forget
stats csv using (see(strcol("what") eq "round", column("ratio"))) nooutput
rounds = hits
eval forget
stats csv using (see(strcol("what") eq "gemm", column("rate"))) nooutput
gemms = hits
low = least
eval forget
stats csv using (see(strcol("what") eq "gemm" && strcol("of") eq "fp32", column("rate"))) nooutput
chain = last
eval forget
stats csv using (see(strcol("what") eq "native", column("rate"))) nooutput
natives = hits
native_low = least
eval forget
stats csv using (see(strcol("what") eq "native" && strcol("of") eq "native:fp32", column("rate"))) nooutput
cublas = last
if (rounds == 0 || gemms == 0) eval figure_refuse("bench_gpu", "it needs rounding and products")
device = option(csv, "device")
tall = 26 * (natives > gemms ? (natives > rounds ? natives : rounds) : (gemms > rounds ? gemms : rounds)) + 190
is(what) = strcol("what") eq what
told(rate) = sprintf(rate < 100 ? "%.3g" : "%.0f", rate)
row(chosen) = chosen ? (n = n + 1, -n) : NaN

do for [file in figure_files] {
    eval figure_open("bench_gpu", file, 1560, tall)
    set multiplot
    set label 1 "A GPU: rounding beside a copy, products under emulated datapaths, and products by its own units" at screen 0.02,1 - 34.0/tall font title_font textcolor rgb ink
    set label 2 device . ". Dashed lines: a copy (left), the binary32 chain fp32 (middle), cuBLAS in binary32 (right)." noenhanced at screen 0.02,1 - 62.0/tall font label_font textcolor rgb grey
    set style fill solid noborder
    unset ytics
    unset border
    unset grid
    set grid xtics linetype 1 linewidth 0.6 linecolor rgb pale
    set tmargin at screen 1 - 115.0/tall
    set bmargin at screen 60.0/tall

    set title "Rounding, share of a copy"
    set lmargin at screen 0.11
    set rmargin at screen 0.28
    set xlabel "speed / speed of a copy"
    set xrange [0:1.3]
    set yrange [-rounds - 0.6:-0.4]
    set arrow 1 from 1, graph 0 to 1, graph 1 nohead linecolor rgb grey dashtype (3,4) linewidth 1.5
    set arrow 2 from 0.9, graph 0 to 0.9, graph 1 nohead linecolor rgb tint(orange, 0.8) dashtype (2,3) linewidth 1.5
    set label 3 "goal 0.9" at 0.9, graph 1.0 right offset -0.3,0.5 font small_font textcolor rgb orange
    plot n = 0, csv using (0.5 * column("ratio")):(row(is("round"))):(0.5 * column("ratio")):(0.35) with boxxyerror linecolor rgb blue, \
         n = 0, csv using (0):(row(is("round"))):(strcol("of") . "  " . strcol("mode")) with labels right offset -0.5,0 font small_font textcolor rgb ink, \
         n = 0, csv using (1.29):(row(is("round"))):(sprintf("%.2f", column("ratio"))) with labels right font small_font textcolor rgb grey
    unset label 1
    unset label 2
    unset label 3
    unset arrow 2

    set title "Emulated products under datapaths"
    set lmargin at screen 0.45
    set rmargin at screen 0.63
    set xlabel "G products / s (logarithmic)"
    set logscale x
    # bars and names begin at `first`; a name at the very end of a logarithmic axis may count as outside
    first = 10.0 ** floor(log10(low) - 0.3)
    set xrange [0.99 * first:*]
    set yrange [-gemms - 0.6:-0.4]
    if (chain == chain) { set arrow 1 from chain, graph 0 to chain, graph 1 nohead linecolor rgb grey dashtype (3,4) linewidth 1.5 } else { unset arrow 1 }
    set format x "%g"
    plot n = 0, csv using (column("rate")):(row(is("gemm"))):(first):(column("rate")):($0 * 0 - n - 0.35):($0 * 0 - n + 0.35) with boxxyerror linecolor rgb green, \
         n = 0, csv using (first):(row(is("gemm"))):(strcol("of")) with labels right offset -0.5,0 font small_font textcolor rgb ink, \
         n = 0, csv using "rate":(row(is("gemm"))):(told(column("rate"))) with labels left offset 0.4,0 font small_font textcolor rgb grey
    unset arrow 1

    if (natives > 0) {
        set title "The device's own products"
        set lmargin at screen 0.80
        set rmargin at screen 0.95
        set xlabel "10^{12} operations / s (logarithmic)"
        first = 10.0 ** floor(log10(native_low) - 0.3)
        set xrange [0.99 * first:*]
        set yrange [-natives - 0.6:-0.4]
        if (cublas == cublas) { set arrow 1 from cublas, graph 0 to cublas, graph 1 nohead linecolor rgb grey dashtype (3,4) linewidth 1.5 }
        plot n = 0, csv using (column("rate")):(row(is("native"))):(first):(column("rate")):($0 * 0 - n - 0.35):($0 * 0 - n + 0.35) with boxxyerror linecolor rgb red, \
             n = 0, csv using (first):(row(is("native"))):(substr(strcol("of"), 8, 60)) with labels right offset -0.5,0 font small_font textcolor rgb ink, \
             n = 0, csv using "rate":(row(is("native"))):(told(column("rate"))) with labels left offset 0.4,0 font small_font textcolor rgb grey
        unset arrow 1
    }
    unset logscale x
    set xtics autofreq format "%g"
    unset multiplot
    unset output
}
