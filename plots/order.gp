# order.gp - differences between the results of one dot product under different orders of its products.
load "plots/style.gp"
eval figure_of_both("order")

paths = "fp32 pairwise:fp32:rne kahan:fp32:rne exact:fp32:rne v100-fp16 a100-fp16 h100-fp16 h100-e4m3 v100-fp16-fp16 serial:bf16:rne serial:fp16:rne pairwise:fp16:rne kahan:fp16:rne exact:fp16:rne"
names = "'binary32, serial' 'binary32, pairwise' 'binary32, Kahan' 'binary32, rounded once' 'V100, binary32 sum' 'A100, binary32 sum' 'H100, binary32 sum' 'H100, e4m3' 'V100, binary16 sum' 'bfloat16, serial' 'binary16, serial' 'binary16, pairwise' 'binary16, Kahan' 'binary16, rounded once'"
of(kind, path) = strcol("kind") eq kind && strcol("data") eq "normal" && strcol("datapath") eq path

array width[28]  # from the smallest to the largest result, NaN if there is no such row
array results[28]
shown = ""
blocks = ""
do for [i = 1:28] {
    path = word(paths, (i - 1) % 14 + 1)
    kind = i <= 14 ? "any" : "inside"
    width[i] = summary(csv, "width", kind . " " . path)
    results[i] = summary(csv, "results", kind . " " . path)
    if (width[i] == width[i] && i <= 14) { shown = shown . sprintf(" %d", i) }
    if (width[i] == width[i] && i > 14) { blocks = blocks . sprintf(" %d", i) }
}
if (words(shown) < 2) { eval figure_refuse("order", "it compares datapaths: needs a run without --datapath") }
inside_results = 0 # in the most sensitive block; 1: the order inside blocks does not count
do for [w in blocks] { inside_results = results[int(w)] > inside_results ? results[int(w)] : inside_results }
zero = 1e-10
at(w) = w == 0 ? zero : w
row_of(n) = words(shown) - n
array place[14]
do for [n = 1:words(shown)] { place[int(word(shown, n))] = n }

single = summary(csv, "value", "slices fp32 1")
spacing = summary(csv, "spacing", "slices fp32 1")
eval measure_all("of('slices', 'fp32')", "(column('value') - single) / spacing")
has_slices = hits > 1 && spacing == spacing
# room above and below the data, and room for the words at the zero line on the emptier side
height = has_slices && most > least ? (most > 0 ? most : 0) - (least < 0 ? least : 0) : 2
bottom = has_slices && least < 0 ? least - 0.1 * height : -0.1 * height
top = has_slices && most > 0 ? most + 0.18 * height : 0.18 * height
under = !has_slices || most > -least

do for [file in figure_files] {
    eval figure_panels("order", file, 1160, 620)
    eval heading(0.955, results[4] == 1 || results[14] == 1 ? "The order of the products often changes the sum, but never a sum that is rounded only once" : "How far the order of the products moves their sum", \
                 0.905, sprintf("One dot product of %s normal numbers. Left: its results in %s orders. Right: the same sum, cut into one slice per thread.", option(csv, "k"), option(csv, "orders")))
    eval panel(0.19, 0.575, 0.115, 0.82)
    set title "How far the results lie apart, and how many there are"
    set logscale x 10
    set xrange [5e-11:1]
    set xtics ("0" zero, "10^{-8}" 1e-8, "10^{-6}" 1e-6, "10^{-4}" 1e-4, "10^{-2}" 1e-2, "1" 1)
    set xlabel "(largest - smallest result) / sum of magnitudes" font label_font
    few = words(shown) < 14 # then the key has its own room, below the rows
    set yrange [few ? -0.7 - 0.3 * words(shown) : -0.7:words(shown) - 0.3]
    unset ytics
    do for [w in shown] {
        i = int(w)
        y = row_of(place[i])
        set label 100 + i word(names, i) at graph -0.02,first y right textcolor rgb ink font label_font
        set label 200 + i sprintf("%d result%s", results[i], results[i] == 1 ? "" : "s") at at(width[i]) * 1.9,y left textcolor rgb (results[i] == 1 ? green : red) font small_font
    }
    set key at graph 0.06,(few ? 0.13 : 0.345) left top Left reverse samplen 0.5 font small_font
    inside_title = inside_results == 1 ? "order inside blocks: 1 result" : "order inside blocks"
    inside = words(blocks) ? "for [w in blocks] '+' using (at(width[int(w)])):(row_of(place[int(w) - 14])) every ::::0 with points pointtype 6 pointsize 0.9 linecolor rgb green, " : ""
    inside_key = words(blocks) ? ", 1/0 with points pointtype 6 pointsize 0.9 linecolor rgb green title '" . inside_title . "'" : ""
    eval "plot " . inside . "for [w in shown] '+' using (at(width[int(w)])):(row_of(place[int(w)])) every ::::0 with points pointtype 7 pointsize 0.9 linecolor rgb (results[int(w)] == 1 ? green : red), 1/0 with points pointtype 7 pointsize 0.9 linecolor rgb red title 'any order: several results', 1/0 with points pointtype 7 pointsize 0.9 linecolor rgb green title 'any order: 1 result'" . inside_key
    do for [i = 1:230] { unset label i }

    eval panel_x(0.66, 0.975)
    set title "The sum cut among threads, binary32"
    set xrange [0.9:80]
    set logscale x 2
    set xtics (1, 2, 4, 8, 16, 32, 64)
    set xlabel "threads" font label_font
    set yrange [bottom:top]
    set ytics nomirror out scale 0.6 textcolor rgb ink font small_font autofreq
    set ylabel "difference from one thread, in units of the last place" offset 0.8,0 font label_font
    if (has_slices) {
        set label 11 "one slice for each thread" at 1.1,graph 0.94 left textcolor rgb red font label_font
        set label 12 "in ulplab, any number of threads" at 70,(under ? -0.05 : 0.05) * height right textcolor rgb green font label_font
        plot 0 with lines linecolor rgb green linewidth 3, \
             csv using (of("slices", "fp32") ? column("number") : NaN):((column("value") - single) / spacing) with linespoints pointtype 7 pointsize 0.7 linecolor rgb red linewidth 1.5
    } else {
        set label 11 "not in this run: needs\n--datapath fp32 --slices 1,2,4" at graph 0.5,0.5 center textcolor rgb grey font label_font
        plot 0 with lines linecolor rgb green linewidth 3
    }
    eval figure_end
}
