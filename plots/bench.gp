# bench.gp - speed of rounding compared with a copy, of products compared with OpenBLAS or cuBLAS, of training steps of a GPU.
load "plots/style.gp"
if (!exists("bench")) { bench = "bench" } # bench_gpu.gp sets another name
csv = "results/" . bench . ".csv"
if (!csv_good(csv)) { eval figure_refuse(bench, csv . " is missing or damaged: run make " . (bench eq "bench" ? "bench" : "bench-gpu")) }
gpu = option(csv, "backend") eq "cuda"

# the panels, and the rows of each one; a row is compared with several others, and one line of each is drawn
panels = gpu ? 4 : 3
first_left = gpu ? 0.09 : 0.10
in(group, what) = strcol("group") eq group && strcol("what") eq what
round_in(group) = in("rounding " . group, "round") && strcol("beside") eq (gpu ? "copy" : "memcpy") && column("threads") == 1
copy_in(group) = in("rounding " . group, "copy") && column("threads") == 1
products(x) = in("products under datapaths", "product") && strcol("by") eq "ulplab" && \
              (gpu || strcol("beside") eq "fp32" || strcol("of") eq "fp32" && strcol("beside") eq "peak")
chosen(p) = gpu ? (p == 1 ? round_in("in memory") : p == 2 ? products(0) : p == 3 ? strcol("what") eq "native" : strcol("group") eq "training steps under policies") \
                : (p == 1 ? round_in("in the first-level cache") : p == 2 ? round_in("in memory") : products(0))
# the row of the dashed line
line_of(p) = gpu ? (p == 1 ? copy_in("in memory") : p == 2 ? strcol("what") eq "reference" : p == 3 ? strcol("of") eq "native:fp32" && strcol("what") eq "native" : \
                    strcol("group") eq "training steps under policies" && strcol("mode") eq "fp32") \
                 : (p == 1 ? copy_in("in the first-level cache") : p == 2 ? copy_in("in memory") : \
                    strcol("group") eq "products under datapaths" && strcol("by")[1:8] eq "OpenBLAS")
titles = gpu ? "'Rounding in memory' 'Products under datapaths' 'Products by the device' 'Training under policies'" \
             : "'Rounding in the first-level cache' 'Rounding in memory' 'Products under datapaths'"
units = gpu ? "'GB / s' 'G products / s (logarithmic)' '10^{12} operations / s (logarithmic)' 'steps / s'" \
            : "'G elements / s' 'G elements / s' 'G products / s (logarithmic)'"
name(p) = gpu && p == 3 ? substr(strcol("of"), 8, 60) : gpu && p == 4 ? strcol("mode") : strcol("of") . "  " . strcol("mode")
tone(p) = gpu ? (p == 1 ? blue : p == 2 ? green : p == 3 ? red : orange) : p == 3 ? green : blue
is_log(p) = word(units, p)[strlen(word(units, p)):*] eq ")"
told(rate) = sprintf(rate < 100 ? "%.3g" : "%.0f", rate)
row(is) = is ? (n = n + 1, -n) : NaN

tall = 0
array count[panels]
do for [p = 1:panels] {
    eval measure_all("chosen(p)", "column('rate')")
    count[p] = hits
    tall = hits > tall ? hits : tall
}
if (tall == 0) { eval figure_refuse(bench, "it needs rounding or products") }
tall = tall > 26 ? 24 * tall + 190 : 860

do for [file in figure_files] {
    eval figure_panels(bench, file, gpu ? 1960 : 1560, tall)
    set label 1 (gpu ? "A GPU: rounding, products under datapaths, products by its own units, training steps" : "Rounding, and matrix products under datapaths, on one thread") \
        at screen 0.02,1 - 34.0 / tall font title_font textcolor rgb ink
    set label 2 option(csv, "device") . ". Medians; a thin line is the range between the quartiles. Dashed lines: " . \
        (gpu ? "a copy, and the goal 0.9 of it; cuBLAS in binary32, for steps too." : "memcpy for rounding, OpenBLAS for products.") \
        noenhanced at screen 0.02,1 - 62.0 / tall font label_font textcolor rgb grey
    set style fill solid noborder
    unset ytics
    unset border
    unset grid
    set grid xtics linetype 1 linewidth 0.6 linecolor rgb pale
    set mxtics 1
    eval panel_y(68.0 / tall, 1 - 115.0 / tall)
    do for [p = 1:panels] {
        set autoscale # stats leaves out what is out of range
        unset logscale x
        unset arrow
        set title word(titles, p)
        set xlabel word(units, p)
        eval panel_x(first_left + (p - 1.0) / panels, (p - 0.06) / panels)
        eval measure_all("line_of(p)", "column('rate')")
        line = last
        eval measure_all("chosen(p)", "column('rate')")
        if (!hits) { set xrange [0:1]; set yrange [0:1]; plot -1; unset label; continue }
        # bars and names begin at `left`; a name at the very end of a logarithmic axis may count as outside
        left = is_log(p) ? 10.0 ** floor(log10(least) - 0.3) : 0
        if (is_log(p)) { set logscale x; set xrange [0.99 * left:10 * most]; set xtics 0.1,10 format "%g" } \
        else { set xrange [0:1.2 * (line > most ? line : most)]; set xtics autofreq format "%g" }
        set yrange [-hits - 0.7:-0.3]
        if (line == line) { set arrow 1 from line, graph 0 to line, graph 1 nohead linecolor rgb grey dashtype (3,4) linewidth 1.5 }
        if (line == line && gpu && p == 1) { # the goal of rounding
            set arrow 2 from 0.9 * line, graph 0 to 0.9 * line, graph 1 nohead linecolor rgb tint(orange, 0.8) dashtype (2,3) linewidth 1.5
        }
        plot n = 0, csv using (column("rate")):(row(chosen(p))):(left):(column("rate")):($0 * 0 - n - 0.35):($0 * 0 - n + 0.35) \
                 with boxxyerror linecolor rgb tint(tone(p), 0.75), \
             n = 0, csv using "q1":(row(chosen(p))):(column("q3") - column("q1")):(0) with vectors nohead linecolor rgb ink linewidth 1, \
             n = 0, csv using (left):(row(chosen(p))):(name(p)) with labels right offset -0.5,0 font small_font textcolor rgb ink, \
             n = 0, csv using "q3":(row(chosen(p))):(told(column("rate"))) with labels left offset 0.5,0 font small_font textcolor rgb grey
        unset label
    }
    eval figure_end
}
