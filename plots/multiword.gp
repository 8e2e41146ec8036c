# multiword.gp - products of binary32 matrices by several narrow words: errors against the length of the sums.
load "plots/style.gp"
eval figure_of_both("multiword")

paths = "b200-bf16 mi100-bf16 h100-e5m2 b200-e5m2 mi300-e5m2fnuz"
names = "'NVIDIA B200' 'AMD CDNA1' 'NVIDIA H100' 'NVIDIA B200' 'AMD CDNA3'"
colours = "green red sky green red"
lists = "'1 2 3' '1 2 3' '1 4 6' '1 4 6' '1 4 6'"
lengths = "14384 162377 1000000"
of(path, w) = strcol("datapath") eq path && column("words") == w ? column("n") : NaN
some = 0
longest = 0
do for [p = 1:words(paths)] {
    do for [w in word(lists, p)] {
        eval measure_all("of(word(paths, p), w) == column('n')", "column('n')")
        if (hits > 1) { some = some + 1; longest = most > longest ? most : longest }
    }
}
if (some < 15) { eval figure_refuse("multiword", "it shows five units: needs a run with the default --datapath and --words, and two --lengths") }

# the published points, and the last errors of the run
set print $published
print "unit,words,n,error"
do for [p = 1:words(paths)] {
    do for [w in word(lists, p)] {
        do for [n in lengths] {
            if (real(n) <= longest) { print sprintf("%d,%s,%s,%g", p, w, n, summary(csv, "published error", word(paths, p) . " " . w . " " . n)) }
        }
    }
}
unset print
array last_error[5 * 7]
array at[7]
array text[7]
array colour[7]
do for [p = 1:5] {
    do for [w in word(lists, p)] {
        eval measure_all("of(word(paths, p), w) == longest", "column('truncated')")
        last_error[7 * (p - 1) + int(w)] = last
    }
}

do for [file in figure_files] {
    eval figure_panels("multiword", file, 1160, 640)
    eval heading(0.962, "More words make a product more exact; long sums gain only on a unit that rounds them to nearest", 0.915, "Each operand is a sum of words, rounded toward zero. Lines: this run. Crosses: published errors of other random matrices.")
    set logscale xy 10
    set xrange [9:longest * 25]
    set xtics ("10" 10, "10^2" 100, "10^3" 1000, "10^4" 1e4, "10^5" 1e5, "10^6" 1e6)
    set xlabel "products of a sum, n" font label_font textcolor rgb ink
    eval panel_y(0.12, 0.83)
    do for [panel = 1:2] {
        eval panel_x(panel == 1 ? 0.085 : 0.58, panel == 1 ? 0.485 : 0.98)
        set title (panel == 1 ? "words of bfloat16 (8 bits)" : "words of FP8, e5m2 (3 bits)") offset 0,-0.3
        set yrange [3e-9:5e-2]
        set ytics ("10^{-8}" 1e-8, "10^{-7}" 1e-7, "10^{-6}" 1e-6, "10^{-5}" 1e-5, "10^{-4}" 1e-4, "10^{-3}" 1e-3, "10^{-2}" 1e-2)
        if (panel == 1) { set ylabel "error, divided by the norms of A and B" font label_font textcolor rgb ink offset 0.5,0 } else { set ylabel "" }
        first = panel == 1 ? 1 : 3
        end = panel == 1 ? 2 : 5
        labels = 1
        at[1] = last_error[7 * (first - 1) + 1]
        text[1] = "1 word,\nevery unit"
        colour[1] = "ink"
        do for [p = first:end] {
            v = word(lists, p)[3:3]
            w = word(lists, p)[5:5]
            y = last_error[7 * (p - 1) + int(v)]
            z = last_error[7 * (p - 1) + int(w)]
            near = y / z < 1.4 && z / y < 1.4 # one label for both lines
            labels = labels + 1
            at[labels] = y * 1.15
            text[labels] = sprintf(near ? "%s,\n%s and %s words" : "%s,\n%s words", word(names, p), v, w)
            colour[labels] = word(colours, p)
            if (!near) {
                labels = labels + 1
                at[labels] = z * 1.15
                text[labels] = sprintf("%s,\n%s words", word(names, p), w)
                colour[labels] = word(colours, p)
            }
        }
        # from the top down, each label at least its height below the one before
        under = 1
        do for [i = 1:labels] {
            top = 0
            do for [j = 1:labels] { if (at[j] > top) { top = at[j]; next = j } }
            y = i > 1 && top > under / 3.6 ? under / 3.6 : top
            named = colour[next]
            shown = text[next]
            set label 900 + i shown at longest * 1.35,y left font small_font textcolor rgb value(named)
            under = y
            at[next] = 0
        }
        if (panel == 1) { set label 201 "2 words" at 12,9e-6 left font small_font textcolor rgb grey; set label 202 "3 words" at 12,1.4e-7 left font small_font textcolor rgb grey }
        if (panel == 2) { set label 201 "4 words" at 130,1.1e-5 left font small_font textcolor rgb grey; set label 202 "6 words" at 12,4.5e-8 left font small_font textcolor rgb grey }
        drawn = ""
        do for [p = first:end] {
            do for [w in word(lists, p)] {
                drawn = drawn . sprintf("csv using (of(word(paths, %d), %s)):(column('truncated')) with linespoints pointtype 7 pointsize 0.4 linewidth 2 linecolor rgb %s notitle, ", p, w, w eq "1" ? "ink" : word(colours, p))
            }
            drawn = drawn . sprintf("$published using (column(1) == %d ? column(3) : NaN):(column(4)) with points pointtype 2 pointsize 0.9 linewidth 1.4 linecolor rgb %s notitle, ", p, word(colours, p))
        }
        eval "plot " . drawn . "1/0 notitle"
        do for [i = 900:911] { unset label i }
        unset label 201; unset label 202
        unset label 1; unset label 2
    }
    eval figure_end
}
