# bench.gp - throughput of rounding compared with memcpy, in cache and in memory, and of products compared with OpenBLAS.
load "plots/style.gp"
csv = "results/bench.csv"
eval figure_needs("bench", csv)

places = "'rounding in the first-level cache' 'rounding in memory'"
titles = "'Rounding in the first-level cache' 'Rounding in memory'"
# a row stands beside several others: one line of each is drawn
copies(group) = strcol("group") eq group && strcol("what") eq "copy" && column("threads") == 1
rounds(group) = strcol("group") eq group && strcol("what") eq "round" && strcol("beside") eq "memcpy" && column("threads") == 1
datapaths(x) = strcol("group") eq "products under datapaths" && strcol("by") eq "ulplab" && (strcol("beside") eq "fp32" || strcol("of") eq "fp32" && strcol("beside") eq "peak")
sgemm(x) = strcol("group") eq "products under datapaths" && strcol("by")[1:8] eq "OpenBLAS"
name(f, m) = f . "  " . m
row(chosen) = chosen ? (n = n + 1, -n) : NaN

do for [file in figure_files] {
    eval figure_open("bench", file, 1560, 860)
    set multiplot
    set label 1 "Rounding beside memcpy, and matrix products under datapaths beside OpenBLAS" at screen 0.02,0.965 font title_font textcolor rgb ink
    set label 2 "Billions per second on one thread, medians; a thin line is the range between the quartiles. Dotted lines: memcpy for rounding, OpenBLAS sgemm for products." at screen 0.02,0.925 font label_font textcolor rgb grey
    set style fill solid noborder
    unset ytics
    unset border
    unset grid
    set grid xtics linetype 1 linewidth 0.6 linecolor rgb pale
    set xlabel "G elements / s"
    do for [p = 1:2] {
        group = word(places, p)
        set title word(titles, p)
        set lmargin at screen (p == 1 ? 0.09 : 0.38)
        set rmargin at screen (p == 1 ? 0.27 : 0.56)
        set tmargin at screen 0.86
        set bmargin at screen 0.08
        set autoscale # stats leaves out what is out of range
        eval forget
        stats csv using (see(copies(group), column("rate"))) nooutput
        copy = last
        eval forget
        stats csv using (see(rounds(group), column("q3"))) nooutput
        if (!hits) { set xrange [0:1]; set yrange [0:1]; plot -1; unset label 1; unset label 2; continue }
        set xrange [0:1.15 * (most > copy ? most : copy)]
        set yrange [-hits - 0.7:-0.3]
        set arrow 1 from copy, graph 0 to copy, graph 1 nohead linecolor rgb grey dashtype (3,4) linewidth 1.5
        plot n = 0, csv using (0.5 * column("rate")):(row(rounds(group))):(0.5 * column("rate")):(0.35) \
                 with boxxyerror linecolor rgb tint(blue, 0.75), \
             n = 0, csv using "q1":(row(rounds(group))):(column("q3") - column("q1")):(0) with vectors nohead linecolor rgb ink linewidth 1, \
             n = 0, csv using (0):(row(rounds(group))):(name(strcol("of"), strcol("mode"))) \
                 with labels right offset -0.5,0 font small_font textcolor rgb ink, \
             n = 0, csv using "q3":(row(rounds(group))):(sprintf("%.2g", column("rate"))) \
                 with labels left offset 0.5,0 font small_font textcolor rgb grey
        unset label 1
        unset label 2
    }
    unset arrow 1
    set title "Matrix products"
    set lmargin at screen 0.73
    set rmargin at screen 0.97
    set xlabel "G products / s (logarithmic)"
    set autoscale
    set logscale x
    set xtics 0.1,10 format "%g"
    set mxtics 1
    eval forget
    stats csv using (see(sgemm(0), column("rate"))) nooutput
    if (hits) {
        set arrow 1 from last, graph 0 to last, graph 1 nohead linecolor rgb grey dashtype (3,4) linewidth 1.5
    }
    eval forget
    stats csv using (see(datapaths(0), 1)) nooutput
    if (hits) {
        set xrange [0.03:1000]
        set yrange [-hits - 0.7:-0.3]
        plot n = 0, csv using (sqrt(0.03 * column("rate"))):(row(datapaths(0))):(0.03):(column("rate")):($0 * 0 - n - 0.35):($0 * 0 - n + 0.35) \
                 with boxxyerror linecolor rgb tint(green, 0.75), \
             n = 0, csv using "q1":(row(datapaths(0))):(column("q3") - column("q1")):(0) with vectors nohead linecolor rgb ink linewidth 1, \
             n = 0, csv using (0.03):(row(datapaths(0))):(strcol("of")) \
                 with labels right offset -0.5,0 font small_font textcolor rgb ink, \
             n = 0, csv using "q3":(row(datapaths(0))):(sprintf("%.2g", column("rate"))) \
                 with labels left offset 0.5,0 font small_font textcolor rgb grey
    }
    unset logscale x
    set xtics autofreq format "%g"
    unset arrow 1
    unset multiplot
    unset output
}
