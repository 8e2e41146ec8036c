# recipe.gp - learning curves of mixed-precision variants, and final loss and accuracy of every variant with fp32's band.
load "plots/style.gp"
csv = "results/recipe.csv"
eval figure_needs("recipe", csv)

all = "fp32 fp16 fp16-sums fp16-master fp16-recipe fp16-lowsums fp16-nomaster fp16-sr fp16-kahan bf16 bf16-recipe bf16-lowsums bf16-nomaster bf16-sr bf16-kahan fp8 fp8-loss fp8-now fp8-delayed"
ladder = "fp16 fp16-sums fp16-master fp16-recipe fp32"
label_of(v) = v eq "fp32" ? "binary32" : v eq "fp16" ? "everything in binary16" : v eq "fp16-sums" ? "+ sums in binary32" : v eq "fp16-master" ? "+ master weights" : \
    v eq "fp16-recipe" ? "+ loss scaling: the recipe" : v eq "fp16-lowsums" ? "recipe, but sums in binary16" : v eq "fp16-nomaster" ? "recipe, but no master weights" : \
    v eq "bf16" ? "everything in bfloat16" : v eq "bf16-recipe" ? "recipe without loss scaling" : v eq "bf16-lowsums" ? "the same, but sums in bfloat16" : v eq "bf16-nomaster" ? "the same, but no master weights" : \
    v eq "fp8" ? "no scale at all" : v eq "fp8-loss" ? "loss scaling" : v eq "fp8-now" ? "scales per tensor, just in time" : v eq "fp8-delayed" ? "scales per tensor, delayed" : \
    strstrt(v, "-sr") ? "… instead, weights rounded at random" : "… instead, Kahan update"
short(v) = v eq "fp16" ? "all binary16" : v eq "fp16-recipe" ? "+ loss scaling" : label_of(v)
tone(v) = v eq "fp32" ? black : v eq "fp16" ? red : v eq "fp16-sums" ? orange : v eq "fp16-master" ? green : v[1:4] eq "fp16" ? blue : v[1:4] eq "bf16" ? purple : sky
step_tone(v) = strstrt(" " . ladder . " ", " " . v . " ") ? tone(v) : v[1:4] eq "fp16" ? ink : tone(v)

# the rows with final results
ends = sprintf("< grep -E '^variant,|,final,' %s", csv)
final(v) = strcol("variant") eq v
chosen = ""
do for [v in all] {
    eval forget
    stats ends using (see(final(v), 1)) nooutput
    chosen = chosen . (hits ? v . " " : "")
}
if (strstrt(" " . chosen, " fp32 ") == 0 || words(chosen) < 2) {
    eval figure_refuse("recipe", "needs a run with fp32 and another one of --variants")
}
climbed = ""
do for [v in ladder] { climbed = climbed . (strstrt(" " . chosen, " " . v . " ") ? v . " " : "") }
# for each epoch the least, median and largest value over the seeds; end_of is the last median
curves(v) = sprintf("< awk -F, -v v=%s 'NR==1||/^#/{next} $1==\"variant\"{for(i=1;i<=NF;i++)at[$i]=i;next} $at[\"what\"]==\"epoch\"&&$1==v&&$at[\"loss\"]~/^[0-9.e+-]+$/{e=$at[\"epoch\"];x[e,++n[e]]=$at[\"loss\"]+0;if(e>last)last=e} END{print \"epoch,least,median,most\";for(e=1;e<=last;e++)if(n[e]){for(i=1;i<=n[e];i++)for(j=i+1;j<=n[e];j++)if(x[e,j]<x[e,i]){t=x[e,i];x[e,i]=x[e,j];x[e,j]=t}printf \"%%d,%%.9g,%%.9g,%%.9g\\n\",e,x[e,1],(x[e,int((n[e]+1)/2)]+x[e,int(n[e]/2)+1])/2,x[e,n[e]]}}' %s", v, csv)
end_of(v) = real("0" . system(sprintf("%s | tail -1 | cut -d, -f3", curves(v)[3:])))
C = words(climbed)
array last_loss[C]
do for [i = 1:C] { last_loss[i] = end_of(word(climbed, i)) }
epochs = int(option(csv, "epochs"))
seeds = int(option(csv, "seeds"))
seed = int(option(csv, "seed"))
N = words(chosen)

# the median of a column over the seeds; NaN if a run diverged
median_of(v, column) = real("0" . system(sprintf("awk -F, -v v=%s '$1==\"variant\"{for(i=1;i<=NF;i++)at[$i]=i;next} $1==v&&/,final,/{print $at[\"%s\"]}' %s | sort -g | awk '{x[NR]=$1} END{print (x[int((NR+1)/2)]+x[int(NR/2)+1])/2}'", v, column, csv)))

# the heights of the rows, with a gap before each family
array height[N]
array loss[N]
array right[N]
array place[N]
down = 0.0
do for [i = 1:N] {
    v = word(chosen, i)
    family(w) = w eq "fp32" ? "fp32" : w eq "fp16-lowsums" || w eq "fp16-nomaster" || w eq "fp16-sr" || w eq "fp16-kahan" ? "other" : w[1:3]
    gap = i > 1 && family(v) ne family(word(chosen, i - 1))
    down = down + (i == 1 ? 0 : gap ? 1.9 : 1)
    height[i] = -down
    place[i] = gap
    loss[i] = median_of(v, "loss")
    right[i] = 100 * median_of(v, "test_accuracy")
}
header(v) = family(v) eq "other" ? "binary16, one ingredient changed" : v[1:4] eq "fp16" ? "binary16, step by step" : v[1:4] eq "bf16" ? "bfloat16" : "e4m3 forward, e5m2 backward"
jitter(s) = seeds > 1 ? 0.34 * ((s - seed) / (seeds - 1.0) - 0.5) * 2 : 0

eval forget
stats ends using (see(final("fp32"), column("loss"))) nooutput
loss_low = least
loss_high = most
eval forget
stats ends using (see(final("fp32"), 100 * column("test_accuracy"))) nooutput
right_low = least
right_high = most
# the axis shows values near those of fp32; a mark at its edge stands for a value beyond
wall = 0
do for [i = 1:N] { wall = loss[i] == loss[i] && loss[i] < 30 * loss[1] && loss[i] > wall ? loss[i] : wall }
wall = wall * 1.6
floor_right = 100
eval forget
stats ends using (see(column("test_accuracy") > 0.7, 100 * column("test_accuracy"))) nooutput
floor_right = floor(least) - 1
# a value beyond the axis is moved far away; if it were NaN, gnuplot would warn about a plot of NaN alone
near(x) = x < wall ? x : 1000 * wall

holds = 0
do for [i = 1:N] { holds = holds + (word(chosen, i) eq "fp16-recipe" && loss[i] >= loss_low && loss[i] <= loss_high) }
# the number of variants that leave something out and end above all seeds of binary32
worse = 0
do for [i = 1:N] { worse = worse + (strstrt(" fp16-nomaster bf16-nomaster fp8 ", " " . word(chosen, i) . " ") && !(loss[i] <= loss_high)) }
headline = !holds ? "Where training ends, by what is kept and summed in few bits" \
    : epochs >= 150 && worse == 3 ? "Mixed precision ends where binary32 ends, but not without master weights or scales" \
    : worse ? "The recipe of mixed precision ends where binary32 ends; some that lack a part of it do not" : "The recipe of mixed precision ends where binary32 ends"

do for [file in figure_files] {
    eval figure_open("recipe", file, 1160, 780)
    set multiplot
    set label 1 headline at screen 0.02,0.965 font title_font textcolor rgb ink
    set label 2 sprintf("%s, %s, loss times 2^{%d}; lines and large marks: median of %d seeds; bands: least to greatest; small marks: seeds", \
        option(csv, "set") eq "mnist" ? "MNIST" : "Digits", option(csv, "net"), int(option(csv, "weight")), seeds) at screen 0.02,0.93 font label_font textcolor rgb grey

    # --- learning curves, from the point where they separate
    set lmargin at screen 0.08
    set rmargin at screen 0.345
    set tmargin at screen 0.855
    set bmargin at screen 0.085
    set title "The ladder"
    set xlabel "epoch"
    set ylabel "mean training loss of the epoch" offset 1.2,0
    set xrange [0.15 * epochs:epochs]
    set logscale y
    bottom = 0.8 * last_loss[C]
    top = 12 * bottom
    set yrange [bottom:top]
    set ytics (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
    set format y "%g"
    low = " "
    floor_y = 0.0
    do for [pass = 1:C] {
        best = 1e30
        do for [i = 1:C] { v = word(climbed, i); e = last_loss[i]; if (e > 0 && e < best && strstrt(low, " " . v . " ") == 0) { best = e; pick = v } }
        low = low . pick . " "
        h = best > floor_y ? best : floor_y
        set label 9 + pass short(pick) at graph 1.02,(log(h / bottom) / log(top / bottom)) left font label_font textcolor rgb tone(pick)
        floor_y = h * (top / bottom) ** 0.036
    }
    plot for [v in climbed] curves(v) using "epoch":"least":"most" with filledcurves linecolor rgb tint(tone(v), 0.16), \
         for [v in climbed] curves(v) using "epoch":"median" with lines linewidth (v eq "fp16-recipe" ? 6 : v eq "fp32" ? 1.6 : 2.4) linecolor rgb tone(v)
    do for [i = 1:20] { unset label i }

    # --- final loss of all variants
    set lmargin at screen 0.685
    set rmargin at screen 0.84
    set title "Training loss at the end"
    set xlabel ""
    unset ylabel
    unset logscale y
    set logscale x
    set xrange [0.75 * loss_low:wall]
    set xtics (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) format "%g"
    set yrange [-down - 0.8:0.8]
    unset ytics
    set border 1
    set grid noytics
    set object 1 rectangle from loss_low,graph 0 to loss_high,graph 1 fillcolor rgb pale fillstyle solid noborder behind
    do for [i = 1:N] {
        v = word(chosen, i)
        set label 20 + i label_of(v) at graph -0.04,first height[i] right font label_font textcolor rgb step_tone(v)
        if (place[i]) { set label 50 + i header(v) at graph -0.04,first height[i] + 0.95 right font small_font textcolor rgb grey }
        if (!(loss[i] < wall)) { far = loss[i] == loss[i] ? sprintf("%.2g →", loss[i]) : "diverged →"; set label 80 + i far at graph 0.99,first height[i] right font label_font textcolor rgb step_tone(v) }
    }
    plot for [i = 1:N] ends using (final(word(chosen, i)) ? near(column("loss")) : NaN):(height[i] + jitter(column("seed"))) with points pointtype 7 pointsize 0.35 linecolor rgb step_tone(word(chosen, i)), \
         for [i = 1:N] "+" using (near(loss[i])):(height[i]) every ::0::0 with points pointtype 7 pointsize 1.1 linecolor rgb step_tone(word(chosen, i))
    do for [i = 20:120] { unset label i }

    # --- final accuracy of all variants
    set lmargin at screen 0.865
    set rmargin at screen 0.97
    set title "Test accuracy (%)"
    unset logscale x
    set xrange [floor_right:100]
    set xtics floor_right,2,100 format "%g"
    set object 1 rectangle from right_low,graph 0 to right_high,graph 1 fillcolor rgb pale fillstyle solid noborder behind
    do for [i = 1:N] {
        if (right[i] < floor_right) { set label 80 + i sprintf("← %.0f %%", right[i]) at graph 0.02,first height[i] left font label_font textcolor rgb step_tone(word(chosen, i)) }
    }
    plot for [i = 1:N] ends using (final(word(chosen, i)) ? 100 * column("test_accuracy") : NaN):(height[i] + jitter(column("seed"))) with points pointtype 7 pointsize 0.35 linecolor rgb step_tone(word(chosen, i)), \
         for [i = 1:N] "+" using (right[i]):(height[i]) every ::0::0 with points pointtype 7 pointsize 1.1 linecolor rgb step_tone(word(chosen, i))
    unset multiplot
    unset output
    reset
    load "plots/style.gp"
}
