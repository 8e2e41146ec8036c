# bench.gp - throughput of rounding compared with memcpy, in cache and in memory, and of products compared with OpenBLAS.
load "plots/style.gp"
csv = "results/bench.csv"
eval figure_needs("bench", csv)

places = "cache memory"
titles = "'Rounding in the first-level cache' 'Rounding in memory'"
is(where, what) = strcol("where") eq where && strcol("what") eq what && column("threads") == 1
name(f, m) = f . "  " . m

do for [file in figure_files] {
    eval figure_open("bench", file, 1560, 620)
    set multiplot
    set label 1 "Rounding beside memcpy, and matrix products under datapaths beside OpenBLAS" at screen 0.02,0.95 font title_font textcolor rgb ink
    set label 2 "Billions per second on one thread. Dotted lines: memcpy for rounding, OpenBLAS sgemm for products." at screen 0.02,0.895 font label_font textcolor rgb grey
    set style fill solid noborder
    set boxwidth 0.7
    unset ytics
    unset border
    unset grid
    set grid xtics linetype 1 linewidth 0.6 linecolor rgb pale
    set xlabel "G elements / s"
    do for [p = 1:2] {
        where = word(places, p)
        set title word(titles, p)
        set lmargin at screen (p == 1 ? 0.10 : 0.39)
        set rmargin at screen (p == 1 ? 0.28 : 0.57)
        set tmargin at screen 0.80
        set bmargin at screen 0.11
        stats csv using (is(where, "memcpy") ? column("rate") : NaN) nooutput
        copy = STATS_max
        stats csv using (is(where, "round") ? column("rate") : NaN) nooutput
        set xrange [0:1.15 * (STATS_max > copy ? STATS_max : copy)]
        set arrow 1 from copy, graph 0 to copy, graph 1 nohead linecolor rgb grey dashtype (3,4) linewidth 1.5
        row(chosen) = chosen ? (n = n + 1, -n) : NaN
        plot n = 0, csv using (0.5 * column("rate")):(row(is(where, "round"))):(0.5 * column("rate")):(0.35) \
                 with boxxyerror linecolor rgb blue, \
             n = 0, csv using (0):(row(is(where, "round"))):(name(strcol("format"), strcol("mode"))) \
                 with labels right offset -0.5,0 font small_font textcolor rgb ink, \
             n = 0, csv using "rate":(row(is(where, "round"))):(sprintf("%.2g", column("rate"))) \
                 with labels left offset 0.4,0 font small_font textcolor rgb grey
        unset label 1
        unset label 2
    }
    unset arrow 1
    set title "Matrix products"
    set lmargin at screen 0.73
    set rmargin at screen 0.97
    set xlabel "G products / s (logarithmic)"
    set logscale x
    set xrange [0.003:300]
    set xtics 0.01,10 format "%g"
    set mxtics 1
    eval forget
    stats csv using (see(is("memory", "sgemm"), column("rate"))) nooutput
    if (hits) {
        set arrow 1 from last, graph 0 to last, graph 1 nohead linecolor rgb grey dashtype (3,4) linewidth 1.5
    }
    plot n = 0, csv using (sqrt(0.003 * column("rate"))):(row(is("memory", "gemm"))):(0.003):(column("rate")):($0 * 0 - n - 0.35):($0 * 0 - n + 0.35) \
             with boxxyerror linecolor rgb green, \
         n = 0, csv using (0.003):(row(is("memory", "gemm"))):(strcol("format")) \
             with labels right offset -0.5,0 font small_font textcolor rgb ink, \
         n = 0, csv using "rate":(row(is("memory", "gemm"))):(sprintf("%.2g", column("rate"))) \
             with labels left offset 0.4,0 font small_font textcolor rgb grey
    unset logscale x
    set xtics autofreq format "%g"
    unset multiplot
    unset output
}
