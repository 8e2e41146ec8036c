# recipe.gp - how the runs of mixed-precision variants separate from binary32, and final loss and accuracy of every variant.
load "plots/style.gp"
eval figure_of_both("recipe")

all = "fp32 fp16 fp16-sums fp16-master fp16-recipe fp16-lowsums fp16-nomaster fp16-sr fp16-kahan bf16 bf16-recipe bf16-lowsums bf16-nomaster bf16-sr bf16-kahan fp8 fp8-loss fp8-now fp8-delayed amp"
ladder = "fp16 fp16-sums fp16-master fp16-recipe fp32"
parting = "bf16 fp16-sums fp16-master fp16-recipe"
label_of(v) = v eq "fp32" ? "binary32" : v eq "amp" ? "chosen by lists of operations" : v eq "fp16" ? "everything in binary16" : v eq "fp16-sums" ? "+ sums in binary32" : v eq "fp16-master" ? "+ master weights in binary32" : \
    v eq "fp16-recipe" ? "+ loss scaling = the recipe" : v eq "bf16" ? "everything in bfloat16" : v eq "bf16-recipe" ? "recipe without loss scaling" : v eq "fp8" ? "no scale at all" : \
    v eq "fp8-loss" ? "loss scaling" : v eq "fp8-now" ? "scales per tensor, of this step" : v eq "fp8-delayed" ? "scales per tensor, of the last 16 steps" : \
    strstrt(v, "-lowsums") ? "sums in " . (v[1:4] eq "fp16" ? "binary16" : "bfloat16") : strstrt(v, "-sr") ? "no master weights, stochastic rounding" : \
    strstrt(v, "-kahan") ? "no master weights, Kahan update" : "no master weights"
short(v) = v eq "fp16-sums" ? "binary16, sums in binary32" : v eq "fp16-master" ? "the same + master weights" : v eq "fp16-recipe" ? "the same + loss scaling" : label_of(v)
tone(v) = v eq "fp32" ? black : v eq "fp16" ? red : v eq "fp16-sums" ? orange : v eq "fp16-master" ? green : v[1:4] eq "fp16" ? blue : v[1:4] eq "bf16" ? purple : sky
step_tone(v) = strstrt(" " . ladder . " ", " " . v . " ") ? tone(v) : v[1:4] eq "fp16" ? ink : tone(v)

chosen = ""
do for [v in all] { chosen = chosen . (summary(csv, "loss over fp32", v) == summary(csv, "loss over fp32", v) ? v . " " : "") }
if (strstrt(" " . chosen, " fp32 ") == 0 || words(chosen) < 2) {
    eval figure_refuse("recipe", "needs a run with fp32 and another one of --variants")
}
climbed = ""
do for [v in parting] { climbed = climbed . (strstrt(" " . chosen, " " . v . " ") ? v . " " : "") }
# the loss divided by that of binary32 with the same seed: the least, median and largest value over the seeds at each epoch
eval figure_curves(csv, "least loss over fp32 at an epoch,loss over fp32 at an epoch,largest loss over fp32 at an epoch")
C = words(climbed)
epochs = int(option(csv, "epochs"))
seeds = int(option(csv, "seeds"))
seed = int(option(csv, "seed"))
N = words(chosen)
eval figure_groups(csv, "what variant")
eval figure_groups(csv, "what")

# the heights of the rows, with a gap before each family
array height[N]
array loss[N]
array low[N]
array high[N]
array right[N]
array place[N]
down = 0.0
do for [i = 1:N] {
    v = word(chosen, i)
    changed(w) = strstrt(w, "-lowsums") || strstrt(w, "-nomaster") || strstrt(w, "-sr") || strstrt(w, "-kahan")
    family(w) = w eq "fp32" ? "fp32" : w[1:3] . (changed(w) ? " changed" : "")
    gap = i > 1 && family(v) ne family(word(chosen, i - 1))
    down = down + (i == 1 ? 0 : gap ? 1.9 : 1)
    height[i] = -down
    place[i] = gap
    loss[i] = summary(csv, "loss over fp32", v)
    low[i] = summary(csv, "least loss over fp32", v)
    high[i] = summary(csv, "largest loss over fp32", v)
    right[i] = summary(csv, "test accuracy", v)
}
header(v) = changed(v) ? (v[1:4] eq "fp16" ? "binary16: the recipe, but with" : "bfloat16: unscaled recipe, but with") : \
    v[1:4] eq "fp16" ? "binary16: one ingredient after the other" : v[1:4] eq "bf16" ? "bfloat16" : v eq "amp" ? "automatic (--amp)" : "fp8: e4m3 forward, e5m2 backward"
jitter(s) = seeds > 1 ? 0.34 * ((s - seed) / (seeds - 1.0) - 0.5) * 2 : 0

right_low = summary(csv, "least test accuracy", "fp32")
right_high = summary(csv, "largest test accuracy", "fp32")
# the axis shows values near those of binary32; a text at its edge stands for a value beyond
wall = 1.02
floor_loss = 0.99
do for [i = 1:N] {
    wall = high[i] == high[i] && high[i] < 3 && high[i] > wall ? high[i] : wall
    floor_loss = low[i] < floor_loss ? low[i] : floor_loss
}
wall = 1 + 1.45 * (wall - 1)
eval measure("final", "column('test_accuracy') > 0.7", "100 * column('test_accuracy')")
floor_right = floor(least) - 1

headline = summary(csv, "share of claims that hold", "all") == 1 ? "Mixed precision ends where binary32 ends, but not without master weights or scales" \
    : "Where training ends, by what is kept and summed in few bits"

do for [file in figure_files] {
    eval figure_panels("recipe", file, 1160, 820)
    set label 1 headline at screen 0.02,0.965 font title_font textcolor rgb ink
    set label 2 sprintf("%s, network %s, loss times 2^{%d}. Lines and large dots: medians of %d seeds; bands, bars and small dots: all seeds", \
        option(csv, "set") eq "mnist" ? "MNIST" : "Digits", option(csv, "net"), int(option(csv, "weight")), seeds) at screen 0.02,0.93 font label_font textcolor rgb grey

    # --- learning curves
    eval panel(0.08, 0.315, 0.085, 0.855)
    set title "Loss during the training"
    set xlabel "epoch"
    set ylabel "training loss / that of binary32, same seed" offset 0.7,0
    set xrange [0:epochs]
    unset logscale y
    set yrange [floor_loss - 0.01:1 + 0.8 * (wall - 1)]
    set ytics autofreq
    set format y "%g"
    set key at graph 0.03,0.97 left top samplen 1.2 Left reverse font small_font
    if (C == 0) { plot 1 with lines linewidth 1 linecolor rgb black title "binary32: 1" } else {
    plot 1 with lines linewidth 1 linecolor rgb black notitle, \
         for [v in climbed] rows("curve " . v) using "x":"least loss over fp32 at an epoch":"largest loss over fp32 at an epoch" with filledcurves linecolor rgb tint(tone(v), 0.16) notitle, \
         for [v in climbed] rows("curve " . v) using "x":"loss over fp32 at an epoch" with lines linewidth 2.4 linecolor rgb tone(v) title short(v), \
         NaN with lines linewidth 1 linecolor rgb black title "binary32: 1"
    }
    unset key

    # --- final loss of all variants
    eval panel_x(0.62, 0.85)
    set title "Training loss at the end"
    set xlabel "loss / that of binary32"
    set ylabel ""
    set xrange [floor_loss:wall]
    step = wall > 2.2 ? 0.5 : wall > 1.6 ? 0.2 : 0.1
    set xtics 1,step format "%g"
    set yrange [-down - 0.8:0.8]
    unset ytics
    set border 1
    set grid noytics
    set arrow 1 from 1,graph 0 to 1,graph 1 nohead linewidth 1 linecolor rgb black back
    percent(x) = abs(x - 1) < 0.0005 ? "0.0 %%" : x > 3 ? sprintf("%.0f times →", x) : sprintf("%+.1f %%%%", 100 * (x - 1))
    do for [i = 1:N] {
        v = word(chosen, i)
        set label 20 + i label_of(v) at graph -0.04,first height[i] right font label_font textcolor rgb step_tone(v)
        if (place[i]) { set label 50 + i header(v) at graph -0.04,first height[i] + 0.9 right font "Helvetica-Bold,12" textcolor rgb ink }
        far = loss[i] == loss[i] ? sprintf(percent(loss[i])) : "diverged →"
        if (v ne "fp32" && high[i] < wall) { set label 80 + i far at (high[i] > 1 ? high[i] : 1),first height[i] left offset character 0.8,0 font small_font textcolor rgb step_tone(v) }
        if (!(high[i] < wall)) { set label 80 + i far at graph 0.99,first height[i] right font small_font textcolor rgb step_tone(v) }
    }
    plot for [i = 1:N] "+" using (loss[i]):(height[i]):(low[i]):(high[i]) every ::0::0 with xerrorbars pointtype 7 pointsize 0.9 linewidth 1.5 linecolor rgb step_tone(word(chosen, i))
    do for [i = 20:120] { unset label i }
    unset arrow 1

    # --- final accuracy of all variants
    eval panel_x(0.88, 0.975)
    set title "Test accuracy"
    set xlabel "%; grey: binary32"
    set xrange [floor_right:100]
    set xtics floor_right,2 * ceil((100 - floor_right) / 8.0),100 format "%g"
    set object 1 rectangle from right_low,graph 0 to right_high,graph 1 fillcolor rgb pale fillstyle solid noborder behind
    do for [i = 1:N] {
        if (right[i] < floor_right) { set label 80 + i sprintf("← %.0f %%", right[i]) at graph 0.02,first height[i] left font label_font textcolor rgb step_tone(word(chosen, i)) }
    }
    plot for [i = 1:N] rows("final " . word(chosen, i)) using (100 * column("test_accuracy")):(height[i] + jitter(column("seed"))) with points pointtype 7 pointsize 0.35 linecolor rgb step_tone(word(chosen, i)), \
         for [i = 1:N] "+" using (right[i]):(height[i]) every ::0::0 with points pointtype 7 pointsize 1.1 linecolor rgb step_tone(word(chosen, i))
    eval figure_end
}
