# throughput.gp - training steps per second of a GPU, as multiples of those in binary32.
load "plots/style.gp"
csv = "results/throughput.csv"
eval figure_needs("throughput", csv)
eval figure_needs_summary("throughput", csv)

shown = ""
do for [v in "fp32 fp32-emulated tf32 fp16 fp16-mma fp16-emulated bf16 fp8"] {
    x = summary(csv, "steps per second over fp32", v)
    shown = shown . (x == x ? v . " " : "")
}
V = words(shown)
if (V < 2) { eval figure_refuse("throughput", "needs a run with fp32 and another one of --variants") }
times(i) = summary(csv, "steps per second over fp32", word(shown, i))
tone(v) = v[1:4] eq "fp16" ? binary16 : v[1:4] eq "fp32" ? binary32 : v eq "tf32" ? tf32 : v eq "bf16" ? bfloat16 : e4m3

do for [file in figure_files] {
    eval figure_open("throughput", file, 900, 480)
    set title "Training steps per second / those of native binary32" font title_font
    set label 1 sprintf("%s; network %s, batch %s", option(csv, "device"), option(csv, "net"), option(csv, "batch")) at graph 0,1.02 left font label_font textcolor rgb grey
    set xrange [0.4:V + 0.6]
    set xtics scale 0 ("" 0)
    do for [i = 1:V] {
        set xtics add (word(shown, i) i)
        set label 10 + i sprintf("%.2f", times(i)) at i,times(i) center offset 0,0.7 font label_font textcolor rgb ink
    }
    set yrange [0:*]
    set boxwidth 0.6
    set arrow 1 from 0.4,1 to V + 0.6,1 nohead front linecolor rgb black linewidth 1.2
    plot for [i = 1:V] "+" using (i):(times(i)) every ::0::0 with boxes linecolor rgb tint(tone(word(shown, i)), strstrt(word(shown, i), "emulated") ? 0.35 : 0.9)
    unset output
    reset
    load "plots/style.gp"
}
