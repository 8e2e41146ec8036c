# harmonic.gp - the harmonic series by format: where sums to nearest stop, stochastic sums near the exact sum, two cures.
load "plots/style.gp"
eval figure_of("harmonic")

eval figure_groups(csv, "format mode cure what run")
formats = "binary32 binary16 tf32 bfloat16 e6m9 e4m3 e5m2"
limit = real(option(csv, "limit"))
harmonic_number(n) = log(n) + 0.5772156649 + 0.5 / n - 1 / (12.0 * n**2)
top = 2**23

# where the plain sums to nearest stopped, in the order of `formats`
array at[7]
array idle[7]
array predicted[7]
array predicted_stop[7]
has = ""
do for [c = 1:7] {
    plain = word(formats, c) . " rne plain"
    at[c] = summary(csv, "stop", plain)
    idle[c] = summary(csv, "idle term", plain)
    predicted[c] = summary(csv, "predicted term", plain)
    predicted_stop[c] = summary(csv, "predicted stop", plain)
    if (at[c] == at[c]) { has = has . sprintf(" %d", c) }
}
# if tf32 and binary16 have the same stop, they share a line; the caption says so
twins = strstrt(has, " 2") && strstrt(has, " 3") && at[2] == at[3]
lines = ""
do for [i in has] { if (!(int(i) == 3 && twins)) { lines = lines . " " . i } }

random = ""
do for [format in "e5m2 e4m3 bfloat16"] {
    eval measure(format . " sra plain spread -", "1", "column('n')")
    if (hits) { random = random . " " . format; terms = most }
}
# the rows drawn as a single run; with --paths 0 there are none, and the mean replaces them, hidden by its own line
single = int(option(csv, "paths")) > 0 ? "path" : "spread"
single_value = single eq "path" ? "value" : "mean"

path(format, cure) = format . " rne " . cure . " path 1"
spread(format) = rows(format . " sra plain spread -")
wandering(format) = single eq "path" ? rows(format . " sra plain path 1") : spread(format)
cures = "plain kahan master"
array cured[3]
array cured_idle[3]
cured_has = ""
do for [c = 1:3] {
    cured[c] = summary(csv, "stop", "bfloat16 rne " . word(cures, c))
    cured_idle[c] = summary(csv, "idle term", "bfloat16 rne " . word(cures, c))
    if (has_rows(path("bfloat16", word(cures, c)))) { cured_has = cured_has . sprintf(" %d", c) }
}
cure_text(c) = word("plain Kahan binary32_copy", c)
cure_colour(c) = value(word("red green blue", c))
if (words(has) + words(random) + words(cured_has) == 0) { eval figure_refuse("harmonic", "needs a run with --formats binary16,bfloat16,e4m3 and --modes rne,sra") }

powers = "('1' 1, '2^3' 8, '2^6' 64, '2^9' 512, '2^{12}' 4096, '2^{15}' 2**15, '2^{18}' 2**18, '2^{21}' 2**21)"

do for [file in figure_files] {
    eval figure_panels("harmonic", file, 1160, 560)
    headline = words(has) > 0 ? "The harmonic series grows for ever, but to nearest it stops: terms fall below half a spacing" : "The harmonic series, which grows for ever, in small formats"
    eval heading(0.95, headline, 0.897, "The sum of 1/1 to 1/n, with terms and sums rounded to the format. Left: the last sum, and in brackets the first term that is lost.")
    set samples 400
    set logscale x 2
    eval panel_y(0.125, 0.80)
    eval "set xtics " . powers
    set yrange [0:17]
    set ytics 0,4,16
    set xlabel "terms n" offset 0,0.3
    set ylabel "computed sum" offset 1.2,0

    eval panel_x(0.055, 0.37)
    set xrange [1:top]
    set title "To nearest: every format stops"
    do for [i in lines] {
        c = int(i)
        said = sprintf("%s: %.6g (1/%.0f)", word(formats, c), at[c], idle[c])
        if (c == 1) { set label 10 + c said at idle[c]/3,at[c]+0.5 right textcolor rgb binary32 font small_font } \
        else { set label 10 + c said at (c == 5 ? 2**20.5 : 0.85*top),at[c] + (c == 4 || c == 5 || c == 7 ? -0.55 : 0.5) right textcolor rgb value(word(formats, c)) font small_font }
        set arrow 10 + c from idle[c],at[c] to top,at[c] nohead front linecolor rgb value(word(formats, c)) linewidth 2
        if (predicted[c] == predicted[c]) { set label 30 + c "" at predicted[c],predicted_stop[c] point pointtype 6 pointsize 1.3 linewidth 1.8 linecolor rgb ink front }
        set label 40 + c "" at idle[c],at[c] point pointtype 7 pointsize 0.8 linecolor rgb value(word(formats, c)) front
    }
    if (words(lines) == 0) { set label 10 "not in this run:\nneeds --modes rne" at graph 0.68,0.25 center textcolor rgb grey font label_font }
    set key at graph 0.0,0.88 left top reverse Left samplen 1.4 font small_font
    if (words(lines) == 0) { plot harmonic_number(x) with lines linecolor rgb pale linewidth 8 title "exact sum" } else {
    plot harmonic_number(x) with lines linecolor rgb pale linewidth 8 title "exact sum", \
         for [i in lines] rows(path(word(formats, int(i)), "plain")) using "n":"value" with lines linecolor rgb value(word(formats, int(i))) linewidth 2, \
         1/0 with points pointtype 7 pointsize 0.8 linecolor rgb grey title "stop of the computed sum", \
         1/0 with points pointtype 6 pointsize 1.3 linewidth 1.8 linecolor rgb ink title "predicted stop (exact sum)"
    }
    do for [i = 1:50] { unset label i; unset arrow i }
    unset key

    eval panel_x(0.42, 0.67)
    set xrange [1:words(random) ? terms : 8192]
    set ylabel ""
    set title "Stochastic: right on average"
    set key at graph 0.02,0.99 left top reverse Left font small_font
    set label 12 "bands: 90 % of the runs\nthin lines: single runs\nblack: means" at graph 0.985,0.13 right textcolor rgb grey font small_font front
    if (words(random) == 0) { set label 10 "not in this run:\nneeds --modes sra" at graph 0.5,0.9 center textcolor rgb grey font label_font; unset label 12 }
    if (words(random) == 0) { plot harmonic_number(x) with lines linecolor rgb pale linewidth 8 } else {
    plot for [format in random] spread(format) using "n":"q05":"q95" with filledcurves linecolor rgb tint(value(format), 0.35) title format, \
         harmonic_number(x) with lines linecolor rgb pale linewidth 4, \
         for [format in random] wandering(format) using "n":(column(single_value)) with lines linecolor rgb value(format) linewidth 1, \
         for [format in random] spread(format) using "n":"mean" with lines linecolor rgb ink linewidth 2
    }
    do for [i = 1:20] { unset label i }

    eval panel_x(0.72, 0.985)
    set xrange [1:top]
    unset key
    set title "Cures in bfloat16, to nearest"
    do for [i in cured_has] {
        c = int(i)
        if (cured[c] == cured[c]) {
            set arrow 10 + c from cured_idle[c],cured[c] to top,cured[c] nohead front linecolor rgb cure_colour(c) linewidth 2
            if (c == 3) { set label 10 + c sprintf("binary32 copy: %.7g", cured[c]) at cured_idle[c]/3,cured[c]+0.5 right textcolor rgb cure_colour(c) font small_font } \
            else { set label 10 + c sprintf("%s: %.7g", cure_text(c), cured[c]) at 0.85*top,cured[c]-0.55 right textcolor rgb cure_colour(c) font small_font }
        }
    }
    if (words(cured_has) == 0) { set label 10 "not in this run:\nneeds --formats bfloat16" at graph 0.5,0.9 center textcolor rgb grey font label_font }
    if (words(cured_has) == 0) { plot harmonic_number(x) with lines linecolor rgb pale linewidth 8 } else {
    plot harmonic_number(x) with lines linecolor rgb pale linewidth 8, \
         for [j = 1:words(cured_has)] rows(path("bfloat16", word(cures, int(word(cured_has, words(cured_has) + 1 - j))))) using "n":"value" with lines linecolor rgb cure_colour(int(word(cured_has, words(cured_has) + 1 - j))) linewidth 2
    }
    eval figure_end
}
