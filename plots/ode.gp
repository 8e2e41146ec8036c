# ode.gp - Euler's method: errors against the number of steps, and the paths of one revolution.
load "plots/style.gp"
eval figure_of("ode")

eval figure_groups(csv, "kind format mode")
of(kind, format, mode) = kind . " " . format . " " . mode
formats = "bfloat16 binary16"
array has[4]  # decay: bfloat16 rne, sra, binary16 rne, sra
some = 0
do for [i = 1:4] {
    eval measure(of("decay", word(formats, (i + 1) / 2), word("rne sra", 2 - i % 2)), "1", "column('n')")
    has[i] = hits
    if (hits) { some = some + 1; longest = most }
}
if (some == 0) { eval figure_refuse("ode", "it shows bfloat16 and binary16: needs a run with --formats bfloat16,binary16 --modes rne,sra") }
# whether all steps to nearest vanish because there are too many steps
stuck = summary(csv, "rows that move", "decay bfloat16 rne") == 0
circle_stuck = summary(csv, "rows that move", "circle bfloat16 rne") == 0
exactly(n) = error_times_n / n
error_times_n = summary(csv, "error times n", "decay exact")
paths = "100 1000 10000"
way(mode) = rows(of("path", "bfloat16", mode))

array scans[2]
array ways[3]
do for [f = 1:2] {
    scans[f] = has_rows(of("scan", word(formats, f), "rne"))
}
do for [k = 1:3] {
    ways[k] = 0
    do for [mode in "rne sra"] {
        eval measure(of("path", "bfloat16", mode), "column('n') == int(word(paths, k))", "1")
        ways[k] = ways[k] + hits
    }
}

left(k) = 0.075 + 0.322 * (k - 1)
do for [file in figure_files] {
    eval figure_panels("ode", file, 1160, 800)
    eval heading(0.965, stuck && has[2] ? "To nearest, small steps vanish and Euler's method stops; stochastic rounding keeps them" : "Euler's method with rounded steps", \
                 0.927, sprintf("Errors after n steps of size 1/n, every operation rounded; stochastic: %s runs. Small dots: every n, rounded to nearest.", option(csv, "runs")))
    set logscale xy 10
    set xrange [9.5:longest*1.05]
    set xtics ("10" 10, "10^2" 100, "10^3" 1000, "10^4" 1e4, "10^5" 1e5, "10^6" 1e6, "10^7" 1e7)
    eval panel_y(0.56, 0.86)
    set xlabel "steps n" offset 0,0.5 textcolor rgb ink
    set yrange [4e-7:0.04]
    set ytics ("10^{-6}" 1e-6, "10^{-5}" 1e-5, "10^{-4}" 1e-4, "10^{-3}" 1e-3, "10^{-2}" 1e-2)
    do for [f = 1:2] {
        name = word(formats, f)
        eval panel_x(left(f), left(f) + 0.26)
        set title sprintf("y' = -y, y(0) = 2^{-6}, in %s", name) offset 0,-0.3
        if (f == 1) { set ylabel "|y(1) - exact|" offset 1,0 textcolor rgb ink font label_font } else { set ylabel "" }
        if (has[2 * f - 1] + has[2 * f] == 0) {
            set label 20 sprintf("not in this run:\nneeds --formats %s", name) at graph 0.5,0.5 center textcolor rgb grey font label_font
            plot 1e-9 with lines
            unset label 20
            continue
        }
        if (has[2 * f - 1]) { set label 11 "to nearest" at longest,0.0175 right textcolor rgb red font label_font }
        # the figure of a short run has no room at the right
        short = longest < 5e4
        if (has[2 * f]) { set label 12 (short ? "one run" : "one run, rms") at longest,(f == 1 ? 9e-4 : 3.4e-4) right textcolor rgb blue font label_font }
        if (has[2 * f]) { set label 13 (short ? "mean" : "mean of runs") at longest,(short ? 6e-6 : 1.3e-6) right textcolor rgb sky font label_font }
        if (f == 1 && longest > 9e3) { set label 14 "exact arithmetic" at 2000,6.5e-7 right textcolor rgb grey font label_font }
        eval "plot exactly(x) with lines linecolor rgb grey dashtype (3,3) linewidth 1.2, " \
          . (scans[f] == 0 ? "" : "rows(of('scan', name, 'rne')) using 'n':(abs(column('mean'))) with points pointtype 7 pointsize 0.12 linecolor rgb tint(red, 0.45), ") \
          . (has[2 * f] ? "rows(of('decay', name, 'sra')) using 'n':(abs(column('mean'))) with linespoints pointtype 7 pointsize 0.4 linecolor rgb sky linewidth 1.2, rows(of('decay', name, 'sra')) using 'n':'rms' with linespoints pointtype 7 pointsize 0.4 linecolor rgb blue linewidth 2, " : "") \
          . (has[2 * f - 1] ? "rows(of('decay', name, 'rne')) using 'n':'rms' with linespoints pointtype 7 pointsize 0.4 linecolor rgb red linewidth 2, " : "") . "1/0"
        do for [i = 11:15] { unset label i }
        unset label 1; unset label 2
    }

    eval panel_x(left(3), left(3) + 0.26)
    set title "The circle: farthest from the solution" offset 0,-0.3
    set ylabel "distance" offset 1.7,0 textcolor rgb ink font label_font
    set yrange [3.5e-3:8]
    set ytics ("0.01" 0.01, "0.1" 0.1, "1" 1)
    if (has[1] || has[3]) { set label 11 "to nearest" at longest,3.4 right textcolor rgb red font label_font }
    if (has[2] || has[4]) { set label 12 "stochastic" at longest*(short ? 0.75 : 1),(short ? 0.35 : 0.017) right textcolor rgb blue font label_font }
    set label 13 "solid: bfloat16\ndashed: binary16" at 11,0.012 left textcolor rgb grey font label_font
    ran(f, m) = has[2 * f - 2 + m] ? sprintf("rows(of('circle', '%s', '%s')) using 'n':'rms' with linespoints pointtype %d pointsize 0.5 linecolor rgb %s linewidth %g dashtype %s, ", word(formats, f), word("rne sra", m), f == 1 ? 7 : 6, m == 1 ? "red" : "blue", f == 1 ? 2 : 1.3, f == 1 ? "1" : "(6,3)") : ""
    eval "plot " . ran(1, 1) . ran(1, 2) . ran(2, 1) . ran(2, 2) . "1/0"
    do for [i = 11:13] { unset label i }
    unset logscale

    eval panel_y(0.01, 0.44)
    set xlabel ""
    set ylabel ""
    unset xtics; unset ytics; unset border
    set size ratio -1
    set xrange [-1.4:1.4]
    set yrange [-1.35:1.35]
    do for [k = 1:3] {
        n = int(word(paths, k))
        eval panel_x(left(k) - 0.01, left(k) + 0.27)
        set title sprintf("The circle in bfloat16, n = %d", n) offset 0,-0.5
        if (ways[k] == 0 || has[1] + has[2] == 0) {
            set label 20 sprintf("not in this run:\nneeds --paths %d", n) at 0,0 center textcolor rgb grey font label_font
            set parametric
            set trange [0:2*pi]
            plot cos(t), sin(t) with lines linecolor rgb pale linewidth 6
            unset parametric
            unset label 20
            continue
        }
        if (k == 1) {
            set label 11 "grey: the solution" at 0,0.2 center textcolor rgb grey font label_font
            if (has[1]) { set label 12 "to nearest" at 0,0 center textcolor rgb red font label_font }
            if (has[2]) { set label 13 "stochastic" at 0,-0.2 center textcolor rgb blue font label_font }
        }
        if (k == 3 && circle_stuck) { set label 11 "stops here" at 0.9,-0.25 right textcolor rgb red font label_font }
        set parametric
        set trange [0:2*pi]
        set samples 200
        drawn_in(mode, c, w) = sprintf(", way('%s') using (column('n') == n ? column('u') : NaN):'v' with lines linecolor rgb %s linewidth %g, way('%s') using (column('n') == n && column('step') == n ? column('u') : NaN):'v' with points pointtype 7 pointsize 0.6 linecolor rgb %s", mode, c, w, mode, c)
        eval "plot cos(t), sin(t) with lines linecolor rgb pale linewidth 6" . (has[2] ? drawn_in("sra", "blue", 1.5) : "") . (has[1] ? drawn_in("rne", "red", 2) : "") . ", '+' using (1):(0) every ::::0 with points pointtype 7 pointsize 0.8 linecolor rgb ink"
        unset parametric
        do for [i = 11:13] { unset label i }
    }
    eval figure_end
}
