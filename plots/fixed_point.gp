# fixed_point.gp - learning curves in 16-bit fixed point: rounding to nearest on the left, stochastic on the right.
load "plots/style.gp"
eval figure_of_both("fixed_point")

tone(format) = format eq "binary32" ? black : format eq "q2.14" ? sky : format eq "q4.12" ? orange : format eq "q6.10" ? green : fixed
# the least, median and largest value over the seeds at each epoch
eval figure_curves(csv, "least at an epoch,median at an epoch,largest at an epoch")
curve(format, mode) = "curve " . format . " " . (format eq "binary32" ? "-" : mode)
only(format, mode) = has_rows(curve(format, mode)) ? format . " " : ""
fixed_point(mode) = only("q2.14", mode) . only("q4.12", mode) . only("q8.8", mode) . only("q6.10", mode)
drawn(mode) = fixed_point(mode) . only("binary32", mode)
modes = ""
do for [mode in "rne sra"] { modes = modes . (fixed_point(mode) eq "" ? "" : mode . " ") }
if (words(modes) == 0) {
    eval figure_refuse("fixed_point", "needs --modes rne or sra and one of --formats q2.14,q4.12,q6.10,q8.8")
}
mnist = option(csv, "set") eq "mnist"
epochs = int(option(csv, "epochs"))
seeds = int(option(csv, "seeds"))

# values read from the figures of the paper, which has two networks; NaN if a figure has no such line
published(format, mode) = summary(csv, "published test error", format eq "binary32" ? format : format . " " . mode)
mark = published("binary32", "")
beside = mark == mark
headline = "In 16-bit fixed point, stochastic rounding keeps what nearest rounding loses"
lowest = beside ? mark : 10
highest = 0.0
array ends[10] # the medians of the last epoch, for each mode in the order of drawn()
do for [m = 1:words(modes)] {
    mode = word(modes, m)
    do for [i = 1:words(drawn(mode))] {
        eval measure(curve(word(drawn(mode), i), mode), "1", "column('median at an epoch')")
        ends[5 * m + i - 5] = last
        lowest = last < lowest ? last : lowest
        highest = last > highest ? last : highest
    }
}
bottom = (mnist ? 0.75 : 0.5) * lowest
top = !mnist ? 3 : highest > 10 ? 100 : 10 # a network that fails stays at 90 %

do for [file in figure_files] {
    eval figure_panels("fixed_point", file, 1160, 620)
    set label 1 headline at screen 0.02,0.955 font title_font textcolor rgb ink
    set label 2 sprintf("%s, network %s; median of %d seed%s, band: least to greatest%s", mnist ? "MNIST" : "The digits that ship with the project", option(csv, "net"), seeds, seeds == 1 ? "" : "s", \
        beside ? "; ticks: Gupta et al. 2015" : "") at screen 0.02,0.905 font label_font textcolor rgb grey noenhanced
    set logscale y
    set xrange [1:epochs]
    do for [panel = 1:words(modes)] {
        mode = word(modes, panel)
        left = 0.08 + 0.47 * (panel - 1)
        eval panel(left, left + 0.36, 0.13, 0.81)
        set title (mode eq "rne" ? "Rounded to nearest" : "Rounded stochastically") offset 0,-0.4
        set xlabel "epoch"
        set ylabel (panel > 1 ? "" : mnist ? "test error (%)" : "mean training loss of the epoch")
        set yrange [bottom:top]
        if (mnist) { set ytics (0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10, 20, 50, 100) } else { set format y "10^{%L}"; set ytics 10 }
        list = drawn(mode)
        do for [i = 10:14] { unset label i }
        # labels at the right end, moved apart
        floor_y = 0.0
        low = " "
        do for [pass = 1:words(list)] {
            best = 1e30
            do for [i = 1:words(list)] { v = ends[5 * panel + i - 5]; if (v < best && strstrt(low, " " . word(list, i) . " ") == 0) { best = v; pick = word(list, i) } }
            low = low . pick . " "
            y = best > floor_y ? best : floor_y
            set label 9 + pass pick at graph 1.03,(log(y / bottom) / log(top / bottom)) left font label_font textcolor rgb tone(pick)
            floor_y = y * (top / bottom) ** 0.045
        }
        if (beside) { do for [i = 1:words(list)] { if (published(word(list, i), mode) == published(word(list, i), mode)) { set arrow i from graph 0.985,first published(word(list, i), mode) to graph 1.015,first published(word(list, i), mode) nohead linewidth 3 linecolor rgb tone(word(list, i)) front } } }
        plot for [f in list] rows(curve(f, mode)) using "x":"least at an epoch":"largest at an epoch" with filledcurves linecolor rgb tint(tone(f), 0.25), \
             rows(curve("binary32", mode)) using "x":"median at an epoch" with lines linewidth 5.5 linecolor rgb black, \
             for [k = 1:words(list) - 1] rows(curve(word(list, k), mode)) using "x":"median at an epoch" with lines linewidth 2 linecolor rgb tone(word(list, k))
        unset arrow
        unset label 1
        unset label 2
    }
    unset multiplot
    unset output
}
