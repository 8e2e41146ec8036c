# fixed_point.gp - learning curves in 16-bit fixed point: rounding to nearest on the left, stochastic on the right.
load "plots/style.gp"
csv = "results/fixed_point.csv"
eval figure_needs("fixed_point", csv)

tone(format) = format eq "binary32" ? black : format eq "q2.14" ? sky : format eq "q4.12" ? orange : format eq "q6.10" ? green : fixed
chosen(format, mode) = strcol("what") eq "epoch" && strcol("format") eq format && (format eq "binary32" || strcol("mode") eq mode)
modes = ""
do for [mode in "rne sra"] {
    eval forget
    stats csv using (see(chosen("q2.14", mode) || chosen("q4.12", mode) || chosen("q6.10", mode) || chosen("q8.8", mode), 1)) nooutput
    modes = modes . (hits ? mode . " " : "")
}
if (words(modes) == 0) {
    eval figure_refuse("fixed_point", "needs --modes rne or sra and one of --formats q2.14,q4.12,q6.10,q8.8")
}
mnist = option(csv, "set") eq "mnist"
# the drawn quantity: MNIST is large enough to show differences of test errors
shown = mnist ? "test_error" : "loss"
epochs = int(option(csv, "epochs"))
seeds = int(option(csv, "seeds"))

# for each epoch the least, median and largest value over the seeds
curves(format, mode) = sprintf("< awk -F, -v f=%s -v m=%s -v c=%s 'NR==1||/^#/{next} $1==\"format\"{for(i=1;i<=NF;i++)at[$i]=i;next} $at[\"what\"]==\"epoch\"&&$1==f&&(f==\"binary32\"||$2==m)&&$at[c]~/^[0-9.e+-]+$/{e=$at[\"epoch\"];v[e,++n[e]]=$at[c]+0;if(e>last)last=e} END{print \"epoch,least,median,most\";for(e=1;e<=last;e++)if(n[e]){for(i=1;i<=n[e];i++)for(j=i+1;j<=n[e];j++)if(v[e,j]<v[e,i]){t=v[e,i];v[e,i]=v[e,j];v[e,j]=t}printf \"%%d,%%.9g,%%.9g,%%.9g\\n\",e,v[e,1],(v[e,int((n[e]+1)/2)]+v[e,int(n[e]/2)+1])/2,v[e,n[e]]}}' %s", format, mode, shown, csv)
end_of(format, mode) = real("0" . system(sprintf("%s | sed 1d | tail -1 | cut -d, -f3", curves(format, mode)[3:])))

drawn(mode) = (has("q2.14", mode) ? "q2.14 " : "") . (has("q4.12", mode) ? "q4.12 " : "") . (has("q8.8", mode) ? "q8.8 " : "") . (has("q6.10", mode) ? "q6.10 " : "") . "binary32"
has(format, mode) = end_of(format, mode) > 0
# values read from the figures of the paper, which has two networks; NaN if a figure has no such line
published(format, mode) = summary(csv, "published test error", format eq "binary32" ? format : format . " " . mode)
mark = published("binary32", "")
beside = mark == mark
headline = "In 16-bit fixed point, stochastic rounding keeps what nearest rounding loses"
lowest = beside ? mark : 10
highest = 0.0
do for [mode in modes] { do for [f in drawn(mode)] { v = end_of(f, mode); lowest = v > 0 && v < lowest ? v : lowest; highest = v > highest ? v : highest } }
bottom = (mnist ? 0.75 : 0.5) * lowest
top = !mnist ? 3 : highest > 10 ? 100 : 10 # a network that fails stays at 90 %

do for [file in figure_files] {
    eval figure_open("fixed_point", file, 1160, 620)
    set multiplot
    set label 1 headline at screen 0.02,0.955 font title_font textcolor rgb ink
    set label 2 sprintf("%s, network %s; median of %d seed%s, band: least to greatest%s", mnist ? "MNIST" : "the digits that ship with the project", option(csv, "net"), seeds, seeds == 1 ? "" : "s", \
        beside ? "; ticks: Gupta et al. 2015" : "") at screen 0.02,0.905 font label_font textcolor rgb grey noenhanced
    set logscale y
    set xrange [1:epochs]
    do for [panel = 1:words(modes)] {
        mode = word(modes, panel)
        left = 0.08 + 0.47 * (panel - 1)
        set lmargin at screen left
        set rmargin at screen left + 0.36
        set tmargin at screen 0.81
        set bmargin at screen 0.13
        set title (mode eq "rne" ? "rounded to nearest" : "rounded stochastically") offset 0,-0.4
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
            do for [f in list] { v = end_of(f, mode); if (v < best && strstrt(low, " " . f . " ") == 0) { best = v; pick = f } }
            low = low . pick . " "
            y = best > floor_y ? best : floor_y
            set label 9 + pass pick at graph 1.03,(log(y / bottom) / log(top / bottom)) left font label_font textcolor rgb tone(pick)
            floor_y = y * (top / bottom) ** 0.045
        }
        if (beside) { do for [i = 1:words(list)] { if (published(word(list, i), mode) == published(word(list, i), mode)) { set arrow i from graph 0.985,first published(word(list, i), mode) to graph 1.015,first published(word(list, i), mode) nohead linewidth 3 linecolor rgb tone(word(list, i)) front } } }
        plot for [f in list] curves(f, mode) using "epoch":"least":"most" with filledcurves linecolor rgb tint(tone(f), 0.25), \
             curves("binary32", mode) using "epoch":"median" with lines linewidth 5.5 linecolor rgb black, \
             for [k = 1:words(list) - 1] curves(word(list, k), mode) using "epoch":"median" with lines linewidth 2 linecolor rgb tone(word(list, k))
        unset arrow
        unset label 1
        unset label 2
    }
    unset multiplot
    unset output
}
