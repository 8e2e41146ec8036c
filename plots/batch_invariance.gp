# batch_invariance.gp - results of one sum under many schedules, their errors, and the tokens that a schedule changes.
load "plots/style.gp"
eval figure_of_both("batch_invariance")
eval figure_curves(csv, "changed,several")

of(kind) = strcol("kind") eq kind
schedule(join, tile) = of("schedule") && strcol("join") eq join && column("tile") == tile
eval measure_all("of('distinct') && strcol('format') eq 'binary32'", "column('count')")
sums = total
has_sums = hits > 0
eval measure_all("of('tokens')", "column('value')")
has_tokens = hits > 0
eval measure_all("of('tokens')", "column('number')")
tokens = has_tokens ? last : 0
eval measure_all("of('decision')", "column('number')")
has_model = hits > 0
places = has_model ? last : 0
eval measure_all("of('schedule') && column('parts') == 1", "column('value')")
has_errors = hits > 0
least_error = least
most_error = most
eval measure_all("of('schedule')", "column('value')")
schedules = hits
average = summary(csv, "distinct", "binary32")
if (!has_sums && !has_tokens && !has_model) { eval figure_refuse("batch_invariance", "needs rows of sums, tokens or completions") }
missing(options) = sprintf("not in this run:\nneeds %s", options)

do for [file in figure_files] {
    eval figure_panels("batch_invariance", file, 1160, 860)
    eval heading(0.965, average == average ? sprintf("Split in %d ways, a sum has %.0f different results, and close decisions depend on them", schedules, average) : "What the schedule of a sum changes", \
                 0.932, sprintf("A schedule cuts a sum of %s products into parts, adds some products at a time, and joins the parts. Kernels choose it by the size of the batch.", option(csv, "k")))
    eval panel(0.075, 0.47, 0.575, 0.87)
    set title sprintf("Results of one sum under all schedules, %g sums in binary32", sums)
    set xlabel "different results of a sum"
    set ylabel "share of the sums, %" offset 0.8,0
    set xrange [0.4:33]
    set yrange [0:*]
    set xtics 5
    set style fill solid noborder
    set boxwidth 0.8
    if (!has_sums) { set label 11 missing("all schedules") at graph 0.5,0.5 center textcolor rgb grey font label_font }
    plot csv using (of("distinct") && strcol("format") eq "binary32" ? column("number") : NaN):(100.0 * column("count") / sums) with boxes linecolor rgb blue, 0 linecolor rgb grey
    unset label 11

    eval panel(0.575, 0.985, 0.575, 0.87)
    set title "Error of the sums against the number of parts"
    set logscale x 2
    set logscale y 10
    set xrange [0.9:75]
    set xtics (1, 2, 4, 8, 16, 32, 64)
    set autoscale y
    set ytics format "10^{%L}"
    set xlabel "parts of a sum"
    set ylabel "rms error in binary32" offset 0.8,0
    set key at graph 0.98,0.99 right top Left reverse samplen 2
    if (has_errors) {
        set yrange [least_error / 5:most_error * 6]
        plot csv using (schedule("serial", 1) ? column("parts") : NaN):"value" with linespoints pointtype 7 pointsize 0.7 linewidth 2 linecolor rgb red title "one product at a time, parts in a row", \
             csv using (schedule("tree", 1) ? column("parts") : NaN):"value" with linespoints pointtype 6 pointsize 0.8 linewidth 2 linecolor rgb red dashtype (4,3) title "one product at a time, a tree of parts", \
             csv using (schedule("serial", 16) ? column("parts") : NaN):"value" with linespoints pointtype 7 pointsize 0.7 linewidth 2 linecolor rgb blue title "16 products at a time, parts in a row", \
             csv using (schedule("tree", 16) ? column("parts") : NaN):"value" with linespoints pointtype 6 pointsize 0.8 linewidth 2 linecolor rgb blue dashtype (4,3) title "16 products at a time, a tree of parts"
    } else {
        set label 11 missing("--parts 1,...") at graph 0.5,0.5 center textcolor rgb grey font label_font
        set yrange [0.1:1]
        plot 0.2 linecolor rgb pale
        unset label 11
    }
    unset key

    eval panel(0.075, 0.47, 0.085, 0.42)
    set title sprintf("Tokens that change between one part and four, of %g", tokens)
    set logscale x 10
    set logscale y 10
    set xrange [1e-6:0.2]
    set yrange [5e-4:300]
    set xtics (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
    set xtics format "10^{%L}"
    set ytics format "10^{%L}"
    set xlabel "mean change of the distance between two logits"
    set ylabel "tokens" offset 0.8,0
    set key at graph 0.03,0.97 left top Left reverse samplen 1.5
    if (has_tokens) {
        plot csv using (of("tokens") ? column("value") : NaN):"law" with lines linewidth 2 linecolor rgb grey title "expected: density of close decisions × change", \
             csv using (of("tokens") && column("count") > 0 ? column("value") : NaN):"count" with points pointtype 7 pointsize 0.9 linecolor rgb red title "counted, where not zero", \
             csv using (of("tokens") && int(column("bits")) % 4 == 0 ? column("value") : NaN):"law":(sprintf("%d bits", column("bits"))) with labels offset 0.8,-0.8 left font small_font textcolor rgb ink
    } else {
        set label 11 missing("--bits") at graph 0.5,0.5 center textcolor rgb grey font label_font
        plot 1 linecolor rgb pale
        unset label 11
    }

    eval panel(0.575, 0.985, 0.085, 0.42)
    unset logscale
    set title "A language model under eight schedules"
    set xlabel "bits of the accumulator"
    set ylabel "share that depends on the schedule, %" offset 0.8,0
    set xrange [7:25]
    set yrange [0:*]
    set xtics 2 format "%g"
    set ytics format "%g"
    set key at graph 0.98,0.97 right top Left reverse samplen 1.5
    if (has_model) {
        plot rows("curve model") using "x":"changed" with linespoints pointtype 7 pointsize 0.9 linewidth 2 linecolor rgb red title sprintf("likeliest next characters, of %g", places), \
             rows("curve model") using "x":"several" with linespoints pointtype 6 pointsize 0.9 linewidth 2 linecolor rgb blue title sprintf("completions of %s texts", option(csv, "completions"))
    } else {
        set label 11 missing("--widths") at graph 0.5,0.5 center textcolor rgb grey font label_font
        plot [7:25] 0 linecolor rgb pale
    }
    eval figure_end
}
