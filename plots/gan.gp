# gan.gp - the digits that each generator writes, with the verdict beside them, and the distance during the training.
load "plots/style.gp"
eval figure_of_both("gan")

all = "digits fp32 fp16-scaled bf16 fp8 bf16-all amp fp16 fp16-all"
label_of(v) = v eq "digits" ? "digits of the data set" : v eq "fp32" ? "binary32" : v eq "fp16-scaled" ? "mixed binary16\n+ loss scaling" : v eq "bf16" ? "mixed bfloat16" : \
    v eq "fp8" ? "fp8\n+ tensor scales" : v eq "bf16-all" ? "all in bfloat16\nbut sums" : v eq "amp" ? "automatic mixed\nprecision" : v eq "fp16" ? "mixed binary16\nwithout loss scale" : "all in binary16\nbut sums"
short(v) = v eq "fp16-scaled" ? "mixed binary16 + loss scaling" : v eq "fp8" ? "fp8 + tensor scales" : v eq "fp16" ? "mixed binary16 without loss scale" : v eq "amp" ? "automatic mixed precision" : v eq "bf16-all" ? "all in bfloat16 but sums" : v eq "fp16-all" ? "all in binary16 but sums" : label_of(v)
tone(v) = v eq "digits" ? grey : v eq "fp32" ? black : v eq "fp16-scaled" ? blue : v eq "bf16" ? red : v eq "fp8" ? orange : v eq "bf16-all" ? purple : v eq "fp16" ? sky : v eq "amp" ? fixed : green

chosen = ""
do for [v in all] { chosen = chosen . (summary(csv, "distance", v) == summary(csv, "distance", v) ? v . " " : "") }
eval figure_groups(csv, "what variant sample")
eval figure_groups(csv, "what")
trained = ""
do for [v in chosen] { trained = trained . (v eq "digits" ? "" : v . " ") }
N = words(chosen)
eval measure("pixel", "1", "column('sample')")
if (N == 0 || words(trained) == 0 || !hits) {
    eval figure_refuse("gan", "needs a run with one of --variants that are trained, and --shown of 1 or more")
}
shown = most + 1 < 13 ? most + 1 : 13
eval measure("pixel", "1", "column('x')")
width = most + 1
eval measure("pixel", "1", "column('y')")
height = most + 1
cell_x = 1.125 * width
cell_y = 1.125 * height
eval figure_curves(csv, "least distance at a step,distance at a step,largest distance at a step")
seeds = int(option(csv, "seeds"))
steps = int(option(csv, "steps"))
weight = int(option(csv, "weight"))
seed = int(option(csv, "seed"))

# the scale of the distance: from below the digits of the data set and the best generator to above the worst generator
eval measure("curve", "column('distance') > 0", "column('distance')")
top = hits ? 10 ** (1 + floor(log10(most))) : 1000
real_distance = summary(csv, "distance", "digits")
bottom = real_distance > 0 && !(least < real_distance) ? 10 ** floor(log10(real_distance)) : hits ? 10 ** floor(log10(least)) : 0.1
line_of_digits = real_distance > 0 ? sprintf(', %g with lines linewidth 1.4 dashtype (4,4) linecolor rgb grey title "digits of the data set"', real_distance) : ""
headline = summary(csv, "share of claims that hold", "all") == 1 ? "Two networks that train against each other learn in 16 and 8 bits, if no gradient vanishes" \
    : "Digits that generators in different arithmetic write"

# the runs that end at the last step, and those that stop before
whole = ""
stopped = ""
do for [v in trained] {
    if (summary(csv, "steps", v) < steps) { stopped = stopped . v . " " } else { whole = whole . v . " " }
}
W = words(whole)
S = words(stopped)
range_of(v, quantity, form) = summary(csv, "least " . quantity, v) == summary(csv, "largest " . quantity, v) ? "" : sprintf("(" . form . " to " . form . ")", summary(csv, "least " . quantity, v), summary(csv, "largest " . quantity, v))
# lines on top of each other become narrower
place_of_line(v) = (sum [i = 1:W] (word(whole, i) eq v ? i : 0))
wide(v) = v eq "fp16" ? 2.4 : place_of_line(v) > 4 ? 1.5 : 8.5 - 1.5 * place_of_line(v)
# the height of the figure in pixels, and a place on the screen so many pixels below its upper edge
row_height = 51
full_height = 452 + row_height * N
down(pixels) = 1 - pixels / (1.0 * full_height)
# what the label of a row says of a run that has stopped
end_of(v) = summary(csv, "steps before NaN", v) == 1 ? ":\nNaN after 1 step" : sprintf(":\nNaN after %.0f steps", summary(csv, "steps before NaN", v))
has_stopped(v) = strstrt(" " . stopped, " " . v . " ") > 0
number(x) = sprintf(x < 10 ? "%.1f" : "%.0f", x)

do for [file in figure_files] {
    eval figure_panels("gan", file, 1160, full_height)
    set label 1 headline at screen 0.02,down(28) font title_font textcolor rgb ink
    set label 2 sprintf("%s, %d steps, loss times 2^{%d}. The images are the first samples of seed %d, not selected. Numbers: medians of %d seeds (and all seeds).", \
        option(csv, "set") eq "mnist" ? "MNIST" : "Digits of 8 x 8 pixels", steps, weight, seed, seeds) at screen 0.02,down(54) font small_font textcolor rgb grey

    # --- the samples, one row of images per variant
    eval panel(0.155, 0.155 + 0.0441 * shown, down(103 + row_height * N), down(103))
    set xrange [-0.5:shown * cell_x - 0.5]
    set yrange [-N * cell_y + 0.5:0.5]
    unset border
    unset tics
    unset grid
    unset key
    unset colorbox
    set palette gray negative
    set cbrange [0:1]
    set label 3 "distance" at screen 0.8,down(88) center font small_font textcolor rgb ink
    set label 4 "classes of 10" at screen 0.885,down(88) center font small_font textcolor rgb ink
    set label 5 "sure" at screen 0.965,down(88) center font small_font textcolor rgb ink
    do for [i = 1:N] {
        v = word(chosen, i)
        middle = -(i - 1) * cell_y - 0.5 * (height - 1)
        name = label_of(v) . (has_stopped(v) ? end_of(v) : "")
        lines = strstrt(name, "\n") == 0 ? 1 : has_stopped(v) && strstrt(label_of(v), "\n") ? 3 : 2
        set label 10 + i name at screen 0.145,first middle right offset 0,0.4 * (lines - 1) font (lines == 3 ? small_font : label_font) textcolor rgb tone(v)
        if (has_stopped(v)) {
            set arrow 2 * i from first -0.5,middle - 0.5 * height to first shown * cell_x - cell_x + width - 0.5,middle + 0.5 * height nohead front linewidth 2 linecolor rgb tone(v)
            set arrow 2 * i + 1 from first -0.5,middle + 0.5 * height to first shown * cell_x - cell_x + width - 0.5,middle - 0.5 * height nohead front linewidth 2 linecolor rgb tone(v)
        }
        set label 30 + i number(summary(csv, "distance", v)) at screen 0.765,first middle right font label_font textcolor rgb tone(v)
        set label 50 + i range_of(v, "distance", summary(csv, "largest distance", v) < 10 ? "%.1f" : "%.0f") at screen 0.772,first middle left font small_font textcolor rgb tone(v)
        set label 70 + i sprintf("%g", summary(csv, "classes", v)) at screen 0.872,first middle right font label_font textcolor rgb tone(v)
        set label 90 + i range_of(v, "classes", "%g") at screen 0.879,first middle left font small_font textcolor rgb tone(v)
        set label 110 + i sprintf("%.0f %%", summary(csv, "sure", v)) at screen 0.985,first middle right font label_font textcolor rgb tone(v)
    }
    plot for [i = 1:N] for [k = 0:shown - 1] rows(sprintf("pixel %s %d", word(chosen, i), k)) using (column("x") + k * cell_x):(-column("y") - (i - 1) * cell_y):"value" with image pixels
    do for [i = 3:130] { unset label i }
    unset arrow

    # --- the distance during the training
    load "plots/style.gp"
    eval panel(0.085, 0.72, down(full_height - 65), down(162 + row_height * N))
    set title "Distance to the real digits during the training: median, and band over all seeds" offset 0,-0.4
    set xlabel "training step"
    set ylabel "Frechet distance of features" offset 0.6,0
    set xrange [0:steps]
    set xtics autofreq format "%g"
    set yrange [0.999 * bottom:1.001 * top] # the ticks at both ends are drawn
    set logscale y
    set ytics (0.01, 0.1, 1, 10, 100, 1000, 10000) format "%g"
    set key at screen 0.735,down(170 + row_height * N) left top samplen 1.4 Left reverse font small_font
    do for [i = 1:S] {
        v = word(stopped, i)
        set label 2 + i short(v) . end_of(v) at screen 0.74,down(full_height - 99 - 38 * (S - i)) left font small_font textcolor rgb tone(v)
    }
    if (W == 0) {
        set label 1 "no training reached its last step" at graph 0.5,0.5 center font label_font textcolor rgb grey
        plot 0.5 * bottom notitle @line_of_digits
    } else {
        plot for [v in whole] rows("curve " . v) using "x":"least distance at a step":"largest distance at a step" with filledcurves linecolor rgb tint(tone(v), 0.15) notitle, \
             for [v in whole] rows("curve " . v) using "x":"distance at a step" with lines linewidth wide(v) linecolor rgb tone(v) title short(v) @line_of_digits
    }
    eval figure_end
}
