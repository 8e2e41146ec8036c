# roofline.gp - operations per second against operations per byte: rounding and products below the roofs of the machine.
load "plots/style.gp"
csv = "results/bench.csv"
eval figure_needs("roofline", csv)

memory(what, m) = strcol("group") eq "rounding in memory" && strcol("what") eq what && (m eq "" || strcol("mode") eq m) && column("threads") == 1
# one line of each row: a row is compared with several others
product(d, by) = strcol("group")[1:17] eq "products of size " && strcol("of") eq d && strcol("by")[1:strlen(by)] eq by && column("threads") == 1 && \
                 strcol("beside") eq (d eq "fp32" ? "peak" : "fp32")

eval measure_all("memory('copy', '')", "column('rate')")
copy = last
eval measure_all("strcol('group') eq 'rounding in the first-level cache' && strcol('what') eq 'words'", "column('rate')")
words = last
eval measure_all("strcol('what') eq 'fma' && column('threads') == 1", "column('rate')")
peak = most
if (!(copy == copy && peak == peak)) { eval figure_refuse("roofline", "needs a run with the parts memory and sizes") }

# an element is read and written in binary32: 8 bytes. A product of size n reads two matrices and writes one: 12 n^2 bytes.
bytes = 8 * copy
at_rounding = 1.0 / 8
datapaths = "fp32 serial:binary16:rne h100-fp16 int8"
tone(i) = i == 1 ? black : i == 2 ? blue : i == 3 ? orange : green
left = 0.05
right = 300

do for [file in figure_files] {
    eval figure_open("roofline", file, 1080, 720)
    eval heading(0.955, "What bounds rounding and products: the memory, the multipliers, or the generator", 0.905, "One thread; medians. No product in binary32 can be above the solid lines; what lies far below waits for its own instructions.")
    set logscale xy
    set tmargin at screen 0.87
    set xrange [left:right]
    set yrange [0.1:3 * peak]
    set format "%g"
    set xlabel "operations per byte of memory (a rounding of an element, or a product)"
    set ylabel "G operations / s"
    set key bottom right
    set arrow 1 from left, left * bytes to peak / bytes, peak nohead linecolor rgb ink linewidth 2
    set arrow 2 from peak / bytes, peak to right, peak nohead linecolor rgb ink linewidth 2
    set label 3 sprintf("memory: %.3g GB/s", bytes) at 0.6, 0.6 * bytes * 1.5 font label_font textcolor rgb ink right
    set label 4 sprintf("multipliers of binary32: %.3g G products/s", peak) at 4, peak * 1.2 font label_font textcolor rgb ink right
    if (words == words) {
        set arrow 3 from left, words to right, words nohead linecolor rgb grey dashtype (3,4) linewidth 1.5
        set label 5 sprintf("random words: %.3g G/s", words) at 0.5, words * 1.2 font label_font textcolor rgb grey left
    }
    set label 6 "rounding" at at_rounding, 0.13 center font label_font textcolor rgb grey
    set label 7 "products of size 64, 128, ..." at 10, 0.13 center font label_font textcolor rgb grey
    plot csv using (at_rounding):(memory("round", "rne") ? column("rate") : NaN) with points pointtype 7 pointsize 1.1 linecolor rgb purple title "rounding to nearest", \
         csv using (at_rounding * 1.12):(memory("round", "sra") ? column("rate") : NaN) with points pointtype 5 pointsize 1.1 linecolor rgb red title "stochastic rounding", \
         csv using (column("n") / 12.0):(product("fp32", "OpenBLAS") ? column("rate") : NaN) with points pointtype 6 pointsize 1.3 linecolor rgb grey title "sgemm of OpenBLAS", \
         for [i = 1:words(datapaths)] csv using (column("n") / 12.0):(product(word(datapaths, i), "ulplab") ? column("rate") : NaN) \
             with linespoints pointtype 7 pointsize 1.1 linecolor rgb tone(i) title word(datapaths, i) noenhanced
    eval figure_end
}
