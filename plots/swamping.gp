# swamping.gp - sums that stop growing, by chunk size, to nearest and stochastic, and their errors.
load "plots/style.gp"
eval figure_of("swamping")

ran(mode, chunk) = strcol("format") eq "e6m9" && strcol("mode") eq mode && column("chunk") == chunk
eval measure_all("ran('rne', 0)", "column('n')")
if (hits == 0) { eval figure_refuse("swamping", "it shows e6m9: needs a run with --formats e6m9") }
longest = most
if (longest < 2**14) { eval figure_refuse("swamping", "its sums are too short: needs a run with --longest 14 or more") }
eval measure_all("ran('rne', 0)", "column('seed')")
seed = least

# the chunk sizes of this run, of the five in the figure; the last sums of the first seed; where all sums to nearest stop
sizes = "1 8 32 64 256"
colours = "red orange green sky blue"
modes = "rne sra"
array has[2]
array ends[10]
array stop[5]
do for [c = 1:5] { stop[c] = summary(csv, "stop", "e6m9 rne " . word(sizes, c)) }
do for [m = 1:2] {
    has[m] = ""
    do for [c = 1:5] {
        eval measure_all("ran(word(modes, m), int(word(sizes, c))) && column('seed') == seed && column('n') == longest", "column('sum')")
        ends[5 * (m - 1) + c] = last
        if (hits) { has[m] = has[m] . sprintf(" %d", c) }
    }
}
if (words(has[1]) + words(has[2]) == 0) { eval figure_refuse("swamping", "needs a run with --chunks 1,8,32,64,256 and --modes rne,sra") }

precision = summary(csv, "significant bits", "e6m9")
follows = summary(csv, "largest error in deviations", "e6m9 sra") <= 4 # NaN: no
line(mode, chunk) = ran(mode, chunk) && column("seed") == seed ? column("n") : NaN
label_of(c) = c == 1 ? "no chunks" : sprintf("chunks of %s", word(sizes, c))
colour(c) = value(word(colours, c))
top = 2 * longest
powers = "('2^4' 16, '2^6' 64, '2^8' 256, '2^{10}' 1024, '2^{12}' 4096, '2^{14}' 16384, '2^{16}' 65536, '2^{18}' 262144, '2^{20}' 1048576, '2^{22}' 2**22, '2^{24}' 2**24)"

do for [file in figure_files] {
    eval figure_panels("swamping", file, 1160, 540)
    headline = stop[1] == stop[1] ? sprintf("To nearest, sums stop: at exactly %.0f without chunks, later in chunks; stochastic sums go on", stop[1]) : "Where sums of positive-mean numbers stop, and what moves the stop"
    eval heading(0.95, headline, 0.895, sprintf("Sums of n numbers of mean 1 and standard deviation 1, each addition rounded to e6m9%s. Wide grey line: the exact sum.", precision == precision ? sprintf(" (%g significant bits)", precision) : ""))
    set logscale xy 2
    set xrange [256:1.001*longest]
    set yrange [128:top]
    eval "set xtics " . powers
    eval "set ytics " . powers
    set xlabel "terms n"
    titles = "'To nearest' 'Stochastic'"
    do for [m = 1:2] {
        eval panel(m == 1 ? 0.062 : 0.455, m == 1 ? 0.30 : 0.675, 0.12, 0.80)
        set title word(titles, m)
        if (m == 1) { set ylabel "computed sum" offset 0.8,0 } else { set ylabel "" }
        if (m == 1) {
            do for [i in has[1]] {
                c = int(i)
                at = ends[c]
                note = stop[c] == stop[c] ? sprintf("%s:\nstops at %.0f", label_of(c), stop[c]) : label_of(c)
                set label 10 + c note at 1.2*longest,at*(c == 2 ? 1 : c == 3 ? 0.88 : c == 4 ? 1.07 : 1.25) left textcolor rgb colour(c) font label_font
            }
            if (words(has[1]) == 0) { set label 11 "not in this run:\nneeds --modes rne" at 400,120000 left textcolor rgb grey font label_font }
        } else {
            if (follows) { set label 11 "all sizes of\nchunks follow\nthe exact sum" at 400,120000 left textcolor rgb ink font label_font }
            if (words(has[2]) == 0) { set label 11 "not in this run:\nneeds --modes sra" at 400,120000 left textcolor rgb grey font label_font }
        }
        if (words(has[m]) == 0) { plot x with lines linecolor rgb pale linewidth 8 } else {
        plot csv using (line("rne", 0)):"exact" with lines linecolor rgb pale linewidth 8, \
             for [i in has[m]] csv using (line(word(modes, m), int(word(sizes, int(i))))):"sum" with lines linecolor rgb colour(int(i)) linewidth 2
        }
        do for [i = 1:20] { unset label i }
    }
    eval panel_x(0.765, 0.985)
    set title sprintf("Error of the sum of 2^{%.0f} terms", log(longest) / log(2))
    unset logscale x
    set logscale y 10
    set xrange [0.4:5.6]
    set yrange [0.003:2000]
    set xtics scale 0 ("none" 1, "8" 2, "32" 3, "64" 4, "256" 5)
    set ytics ("below" 0.004, "0.01 %%" 0.01, "0.1 %%" 0.1, "1 %%" 1, "10 %%" 10, "100 %%" 100)
    set xlabel "terms in a chunk"
    set ylabel "|computed - exact| / exact" offset 0.6,0 font label_font
    set key at graph 0.02,0.98 left top reverse Left samplen 0.5
    place(mode, c, shift) = ran(mode, int(word(sizes, c))) && column("n") == longest ? c + shift : NaN
    size(x) = abs(column("error")) < 4e-5 ? 0.004 : 100 * abs(column("error"))
    dots(m) = words(has[m]) ? sprintf("for [i in has[%d]] csv using (place('%s', int(i), %g)):(size(0)) with points pointtype %d pointsize 0.55 linecolor rgb %s, 1/0 with points pointtype %d pointsize 0.55 linecolor rgb %s title '%s', ", \
        m, word(modes, m), m == 1 ? -0.13 : 0.13, m == 1 ? 7 : 6, m == 1 ? "red" : "blue", m == 1 ? 7 : 6, m == 1 ? "red" : "blue", m == 1 ? "to nearest, each seed" : "stochastic, each seed") : ""
    eval "plot " . dots(1) . dots(2) . "1/0"
    eval figure_end
}
