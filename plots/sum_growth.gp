# sum_growth.gp - errors of long sums against their length, to nearest and stochastic, with the bounds.
load "plots/style.gp"
eval figure_of("sum_growth")

formats = "binary16 bfloat16"
kinds = "positive dot-positive signed"
kind_titles = "'sums of U[0,1]' 'inner products of U[0,1]' 'sums of U[-1,1]'"
of(format, kind, mode) = strcol("format") eq format && strcol("data") eq kind && strcol("mode") eq mode
array found[6]
some = 0
do for [f = 1:2] {
    do for [k = 1:3] {
        found[3 * f + k - 3] = ""
        do for [mode in "rne sra"] {
            eval measure_all("of(word(formats, f), word(kinds, k), mode)", "column('n')")
            if (hits) { found[3 * f + k - 3] = found[3 * f + k - 3] . " " . mode; some = some + 1 }
        }
    }
}
if (some == 0) { eval figure_refuse("sum_growth", "it shows binary16 and bfloat16: needs a run with --formats binary16,bfloat16 --modes rne,sra") }
eval measure_all("1", "column('n')")
longest = most
bfloat16_stop = summary(csv, "stop", "bfloat16 rne positive")
stops = bfloat16_stop == bfloat16_stop && strstrt(found[4], "sra")
array level[2] # of the errors of stochastic sums
do for [f = 1:2] { level[f] = summary(csv, "level", word(formats, f) . " sra") }

line(format, kind, mode) = of(format, kind, mode) ? column("n") : NaN
below(v) = v > 0 && v < 4 ? v : NaN
array last_n[6] # the longest stochastic sums without overflow
do for [panel = 1:6] {
    eval measure_all("line(word(formats, panel > 3 ? 2 : 1), word(kinds, (panel - 1) % 3 + 1), 'sra') == column('n') && below(column('rms')) == column('rms')", "column('n')")
    last_n[panel] = most
}
has(panel, mode) = strstrt(found[panel], mode) > 0
wide = longest >= 9e4 # else there is no room for labels at the lines

do for [file in figure_files] {
    eval figure_panels("sum_growth", file, 1160, 760)
    eval heading(0.965, stops ? "To nearest, long sums of positive terms lose everything; the error of stochastic sums levels off" : "Errors of sums against their length", \
                 0.925, sprintf("Root mean square error of %s sums of n terms, relative to the sum of magnitudes. Broken lines: bounds that always hold (n u, γ_n) or likely hold.", option(csv, "runs")))
    set logscale xy 10
    set xrange [9.9:longest*1.01]
    set yrange [0.9e-4:4]
    set xtics ("10" 10, "10^2" 100, "10^3" 1000, "10^4" 1e4, "10^5" 1e5, "10^6" 1e6, "10^7" 1e7)
    do for [f = 1:2] {
        do for [k = 1:3] {
            panel = 3 * f + k - 3
            eval panel(0.075 + 0.315 * (k - 1), 0.075 + 0.315 * (k - 1) + 0.265, f == 1 ? 0.525 : 0.11, f == 1 ? 0.845 : 0.43)
            set title sprintf("%s: %s", word(formats, f), word(kind_titles, k)) offset 0,-0.4
            if (f == 2) { set xlabel "terms n" font label_font textcolor rgb ink offset 0,0.3 } else { set xlabel "" }
            if (k == 1) { set ylabel "relative error (rms)" font label_font textcolor rgb ink offset 1,0 } else { set ylabel "" }
            set ytics ("10^{-4}" 1e-4, "10^{-3}" 1e-3, "10^{-2}" 1e-2, "10^{-1}" 0.1, "1" 1)
            if (words(found[panel]) == 0) {
                set label 20 "not in this run" at graph 0.5,0.5 center textcolor rgb grey font label_font
                plot 1e-9 with lines
                unset label 20
                continue
            }
            if (wide && has(panel, "rne")) { set label 11 "n u" at (f == 1 ? 4e3 : 500),2.7 right textcolor rgb red font label_font }
            if (wide && has(panel, "rne")) { set label 16 "γ_n" at (f == 1 ? 620 : 105),1.1 right textcolor rgb red font label_font }
            # the probabilistic bounds start at the left; the bound of stochastic rounding is above that of nearest rounding
            start = f == 1 ? 1 : 8
            if (wide && has(panel, "sra")) { set label 12 "likely" at 10.8,start*(longest < 9e5 ? 0.036 : 0.047) left textcolor rgb blue font label_font }
            if (wide && has(panel, "rne")) { set label 17 "likely" at (f == 1 ? 45 : 26),(f == 1 ? 0.0066 : 0.034) left textcolor rgb red font label_font }
            stochastic = last_n[panel] < longest ? "stochastic,\nuntil overflow" : "stochastic"
            if (wide && k == 1) {
                if (level[f] == level[f]) {
                    set label 13 sprintf("2^{-p/2}: %.2g %%", 100 * level[f]) at longest*0.9,level[f]*1.8 right textcolor rgb blue font label_font
                    set label 14 stochastic at longest*0.9,level[f]*0.33 right textcolor rgb blue font label_font
                }
            }
            if (wide && k < 3 && has(panel, "rne")) { set label 15 "to nearest" at (k == 2 ? (f == 1 ? 7.5e3 : 2500) : f == 1 ? 6200 : 2000),(f == 1 ? 0.12 : 0.25) left textcolor rgb red font label_font }
            if (wide && k == 2 && has(panel, "sra")) { set label 14 stochastic at longest*0.9,level[f]*0.33 right textcolor rgb blue font label_font }
            if (!wide && panel == 3) { set key at graph 0.98,0.72 } else { set key at screen 2,2 }
            if (k == 3 && has(panel, "rne")) { set label 15 "to nearest" at 0.7*sqrt(10*longest),(f == 1 ? 7e-4 : 7e-3) right textcolor rgb red font label_font }
            if (k == 3 && has(panel, "sra")) { set label 13 "stochastic" at 1.4*sqrt(10*longest),(f == 1 ? 7e-4 : 7e-3) left textcolor rgb blue font label_font }
            flat = level[f]
            eval "plot " . (k < 3 && has(panel, "sra") ? "flat with lines linecolor rgb tint(blue, 0.5) linewidth 1 dashtype (2,3), " : "") \
              . (has(panel, "rne") ? "csv using (line(word(formats, f), word(kinds, k), 'rne')):(below(column('gamma'))) with lines linecolor rgb red linewidth 1.2 dashtype (2,3) title 'γ_n', csv using (line(word(formats, f), word(kinds, k), 'rne')):(below(column('linear'))) with lines linecolor rgb red linewidth 1.2 dashtype (6,4) title 'n u', csv using (line(word(formats, f), word(kinds, k), 'rne')):(below(column('likely'))) with lines linecolor rgb red linewidth 2 dashtype (9,3) title 'likely, to nearest', " : "") \
              . (has(panel, "sra") ? "csv using (line(word(formats, f), word(kinds, k), 'sra')):(below(column('likely'))) with lines linecolor rgb blue linewidth 1.2 dashtype (6,4) title 'likely, stochastic', " : "") \
              . (has(panel, "rne") ? "csv using (line(word(formats, f), word(kinds, k), 'rne')):(column('rms')) with linespoints pointtype 7 pointsize 0.35 linecolor rgb red linewidth 2 title 'to nearest', " : "") \
              . (has(panel, "sra") ? "csv using (line(word(formats, f), word(kinds, k), 'sra')):(below(column('rms'))) with linespoints pointtype 7 pointsize 0.35 linecolor rgb blue linewidth 2 title 'stochastic', " : "") . "1/0"
            do for [i = 11:17] { unset label i }
            unset label 1; unset label 2
        }
    }
    eval figure_end
}
