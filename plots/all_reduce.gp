# all_reduce.gp - means of equal and random gradients over many ranks, the range of binary16, and trainings over ranks.
load "plots/style.gp"
eval figure_of("all_reduce")

eval figure_groups(csv, "data order mean mode format")
eval figure_groups(csv, "data reduction")
eval figure_groups(csv, "data")
group(data, order, mean, mode, format) = sprintf("%s %s %s %s %s", data, order, mean, mode, format)
after(data, order, mode, format) = group(data, order, "after", mode, format)
formats = ""
do for [f in "binary32 binary16 bfloat16 e5m2 e4m3"] { formats = formats . (has_rows(after("1", "ring", "rne", f)) && has_rows(after("1", "tree", "rne", f)) ? f . " " : "") }
if (words(formats) == 0) {
    eval figure_refuse("all_reduce", "needs rings and trees to nearest, divided after the sum, in formats of the default run")
}
eval measure("1", "1", "column('ranks')")
most = most == most ? most : 4096
overflowing = strstrt(formats, "e4m3") ? "e4m3" : ""
# the least number of ranks from which on the e4m3 tree of random gradients overflows
eval measure(after("uniform", "tree", "rne", "e4m3"), "strcol('value') eq 'nan' || strcol('value') eq '-nan'", "column('ranks')")
tree_ends = least
# the format of the panel about orders and modes, and the ways to sum that this run has
one = strstrt(formats, "bfloat16") ? "bfloat16" : word(formats, 1)
order_of(way) = way[1:strstrt(way, ":") - 1]
mode_of(way) = way[strstrt(way, ":") + 1:]
ways = ""
do for [w in "ring:rne ring:sra two-level:rne tree:rne tree:sra"] { ways = ways . (has_rows(after("uniform", order_of(w), mode_of(w), one)) ? w . " " : "") }
mark_of(way) = way eq "ring:rne" ? 7 : way eq "ring:sra" ? 6 : way eq "two-level:rne" ? 4 : way eq "tree:rne" ? 8 : 10
colour_of_way(way) = way eq "ring:rne" ? bfloat16 : way eq "ring:sra" ? purple : way eq "two-level:rne" ? green : way eq "tree:rne" ? blue : sky
# the reductions of the trainings, in the order of the file
reductions = ""
known(name) = strstrt(reductions . " ", " " . name . " ") > 0
note(name) = known(name) ? 0 : (reductions = reductions . " " . name, 1)
eval scan("training", "note(strcol('reduction'))")
eval measure("training", "1", "column('ranks')")
train_most = most == most ? most : 128
N = words(reductions)
array format_of[N + 1]
array kind_of[N + 1] # 1: ring, 2: tree or doubling, 3: two-level, 4: stochastic
array shown[N + 1]
part_of(name, i) = system(sprintf("echo %s | cut -d: -f%d", name, i))
do for [i = 1:N] {
    name = word(reductions, i)
    order = part_of(name, 1)
    format_of[i] = part_of(name, 2)
    kind_of[i] = part_of(name, 3) ne "rne" ? 4 : order eq "ring" ? 1 : order eq "two-level" ? 3 : 2
    shown[i] = format_of[i] . " " . order . (kind_of[i] == 4 ? " stochastic" : "")
}
mark(kind) = kind == 1 ? 7 : kind == 2 ? 8 : kind == 3 ? 4 : 6
dash(kind) = kind == 1 ? 1 : kind == 4 ? 4 : 2
colour_of(format) = strstrt("binary32 binary16 bfloat16 e5m2 e4m3", format) ? value(format) : green
ranks_axis(top) = sprintf("set logscale x 2; set xrange [1.6:%g]; set xtics ('2' 2, '8' 8, '32' 32, '128' 128, '512' 512, '2048' 2048); set xlabel 'ranks R'", top)

# --- binary16: what becomes of 64 and 2^-20 in a ring
cases = "64:after 64:before 64:half 2^-20:after 2^-20:before 2^-20:half"
data_of(i) = word(cases, i)[1:strstrt(word(cases, i), ":") - 1]
place_of_mean(i) = word(cases, i)[strstrt(word(cases, i), ":") + 1:]
range_rows(i) = rows(group(data_of(i), "ring", place_of_mean(i), "rne", "binary16"))
true_mean(i) = i <= 3 ? 64 : 2.0**-20
is_inf(x) = strcol("value") eq "inf"
is_exact(i) = !is_inf(0) && column("value") == true_mean(i)

do for [file in figure_files] {
    eval figure_panels("all_reduce", file, 1160, 1340)
    eval heading(0.978, "A ring adds the ranks one after another and stops in few bits; a tree adds sums of like size", 0.954, "R machines (ranks) average their gradients. Each partial sum is rounded to the format, to nearest even; the sum is divided by R at its end.")
    set label 3 "Left: equal gradients in binary16, in a ring, divided at three places. Right: the same numbers as above, in one format." at screen 0.02,0.635 font label_font textcolor rgb grey
    set label 4 "A network learns digits: each of R ranks has 1/R of the batch. Only the reduction of the gradients is not in binary32. Means over the seeds." at screen 0.02,0.318 font label_font textcolor rgb grey

    # --- equal gradients
    eval panel(0.085, 0.485, 0.702, 0.91)
    eval ranks_axis(6000)
    set title "Equal gradients: what is left of the mean"
    set logscale y 2
    set yrange [2.0**-10:3]
    set ytics ("1" 1, "1/4" 0.25, "1/16" 2.0**-4, "1/64" 2.0**-6, "1/256" 2.0**-8)
    set ylabel "share of the true mean" offset 0.6,0
    set key bottom left Left reverse samplen 1.6 font small_font
    set label 12 "trees: exact, until a sum in e4m3 exceeds 448 and overflows" at 1.8,1.75 left textcolor rgb grey font small_font
    plot for [f in formats] rows(after("1", "ring", "rne", f)) using "ranks":"value" with linespoints pointtype 7 pointsize 0.5 linewidth (f eq "binary32" ? 4.5 : 2.5) linecolor rgb value(f) title f . " ring", \
         for [f in formats] rows(after("1", "tree", "rne", f)) using "ranks":"value" with points pointtype 8 pointsize 1 linewidth 1.4 linecolor rgb value(f), \
         for [f in overflowing] rows(after("1", "tree", "rne", f)) using "ranks":(strcol("value") eq "1" ? 1e-30 : 1) with points pointtype 2 pointsize 1.5 linewidth 3 linecolor rgb value(f), \
         1e-30 with points pointtype 8 pointsize 1 linewidth 1.4 linecolor rgb ink title "tree", \
         1e-30 with points pointtype 2 pointsize 1.2 linewidth 3 linecolor rgb e4m3 title "tree, overflow"
    unset label 12

    # --- random gradients
    eval panel(0.57, 0.985, 0.702, 0.91)
    set title "Gradients from U[0,1]: error of the mean"
    set logscale y 10
    set yrange [1e-9:8]
    set ytics ("10^{-8}" 1e-8, "10^{-6}" 1e-6, "10^{-4}" 1e-4, "0.01" 0.01, "1" 1)
    set ylabel "root mean square, relative" offset 0.6,0
    set key at graph 0.3,0.4 right vertical Left reverse font small_font
    set label 12 "colours as at the left" at graph 0.34,0.48 left textcolor rgb grey font small_font
    if (tree_ends == tree_ends) { set label 13 sprintf("e4m3 tree: from R = %d on\na sum exceeds 448 (NaN)", tree_ends) at graph 0.34,0.42 left textcolor rgb grey font small_font }
    plot for [f in formats] rows(after("uniform", "ring", "rne", f)) using "ranks":"error" with linespoints pointtype 7 pointsize 0.5 linewidth 2.5 linecolor rgb value(f), \
         for [f in formats] rows(after("uniform", "tree", "rne", f)) using "ranks":"error" with linespoints pointtype 8 pointsize 0.9 linewidth 1.5 dashtype (5,4) linecolor rgb value(f), \
         1e-30 with linespoints pointtype 7 pointsize 0.5 linewidth 2.5 linecolor rgb ink title "ring", \
         1e-30 with linespoints pointtype 8 pointsize 0.9 linewidth 1.5 dashtype (5,4) linecolor rgb ink title "tree"

    unset label 12
    unset label 13

    # --- binary16
    eval panel(0.15, 0.485, 0.384, 0.57)
    set title "binary16: where to divide by R" offset 0,1.6
    unset logscale y
    set ylabel ""
    set yrange [-6.7:-0.3]
    set ytics scale 0 ("64, after" -1, "64, before" -2, "64, half" -3, "2^{-20}, after" -4, "2^{-20}, before" -5, "2^{-20}, half" -6)
    set key at graph 0.5,1.12 center horizontal Left reverse samplen 0.4 width -1 maxrows 1 font small_font
    plot for [i = 1:6] range_rows(i) using "ranks":(is_exact(i) ? -i : -100) with points pointtype 7 pointsize 0.9 linecolor rgb binary16, \
         for [i = 1:6] range_rows(i) using "ranks":(!is_exact(i) && !is_inf(0) && column("value") != 0 ? -i : -100) with points pointtype 6 pointsize 0.9 linewidth 1.5 linecolor rgb binary16, \
         for [i = 1:6] range_rows(i) using "ranks":(column("value") == 0 ? -i : -100) with points pointtype 4 pointsize 0.8 linewidth 1.5 linecolor rgb grey, \
         for [i = 1:6] range_rows(i) using "ranks":(is_inf(0) ? -i : -100) with points pointtype 2 pointsize 0.9 linewidth 2 linecolor rgb red, \
         -100 with points pointtype 7 pointsize 0.9 linecolor rgb binary16 title "exact", \
         -100 with points pointtype 6 pointsize 0.9 linewidth 1.5 linecolor rgb binary16 title "inexact", \
         -100 with points pointtype 4 pointsize 0.8 linewidth 1.5 linecolor rgb grey title "zero", \
         -100 with points pointtype 2 pointsize 0.9 linewidth 2 linecolor rgb red title "infinite"

    # --- orders and modes in bfloat16
    eval panel(0.57, 0.985, 0.384, 0.57)
    set title one . ", U[0,1]: orders and stochastic rounding"
    set yrange [4e-4:4000]
    set logscale y 10
    set ytics scale 0.6 ("0.001" 1e-3, "0.01" 0.01, "0.1" 0.1, "1" 1, "10" 10, "100" 100)
    set ylabel "root mean square, relative" offset 0.6,0
    set key at graph 0.02,0.99 left top vertical Left reverse maxrows 3 maxcols auto samplen 1.6 width -1 font small_font
    plot rows(after("uniform", "ring", "rne", one)) using "ranks":"bound" with lines linewidth 1.5 dashtype (3,4) linecolor rgb grey title "bound of the ring", \
         for [w in ways] rows(after("uniform", order_of(w), mode_of(w), one)) using "ranks":"error" with linespoints pointtype mark_of(w) pointsize 0.7 linewidth (w eq "ring:rne" ? 2.5 : 1.5) linecolor rgb colour_of_way(w) title order_of(w) . (mode_of(w) eq "rne" ? "" : ", stochastic")

    # --- trainings
    eval ranks_axis(train_most * 1.3)
    eval panel(0.085, 0.485, 0.055, 0.268)
    set title "Accuracy on digits not seen in training" offset 0,0
    unset logscale y
    unset key
    set yrange [88:98]
    set ytics 88,2,98 format "%g %%"
    set ylabel ""
    set label 11 "lines as at the right; guessing, 10 %, is far below" at graph 0.98,0.06 right textcolor rgb grey font small_font
    plot for [i = 1:N] rows("training " . word(reductions, i)) using "ranks":(100 * column("accuracy")) smooth unique with linespoints pointtype mark(kind_of[i]) pointsize 0.8 linewidth (kind_of[i] == 1 ? 2.5 : 1.5) dashtype dash(kind_of[i]) linecolor rgb colour_of(format_of[i])
    unset label 11

    eval panel(0.57, 0.8, 0.055, 0.268)
    set title "Distance from the weights of one rank"
    set yrange [5e-8:2]
    set logscale y 10
    set ytics ("10^{-7}" 1e-7, "10^{-5}" 1e-5, "0.001" 1e-3, "0.1" 0.1, "1" 1) format "%g"
    set ylabel "relative to the weights" offset 0.6,0
    set key at screen 0.985,0.268 right top vertical Left reverse maxrows 20 maxcols 1 samplen 1.6 width 0 font small_font
    plot for [i = 1:N] rows("training " . word(reductions, i)) using "ranks":"moved" smooth unique with linespoints pointtype mark(kind_of[i]) pointsize 0.8 linewidth (kind_of[i] == 1 ? 2.5 : 1.5) dashtype dash(kind_of[i]) linecolor rgb colour_of(format_of[i]) title shown[i]
    eval figure_end
}
