# block_fma.gp - errors of matrix products against n, by unit and by format of the result, and their bounds.
load "plots/style.gp"
eval figure_of_both("block_fma")

paths = "serial:fp16:rne v100-fp16-fp16 v100-fp16 a100-fp16 h100-fp16 block4:binary32:rne"
names = "'binary16, one by one' 'V100, binary16 result' 'V100, binary32 result' 'A100' 'H100' 'blocks of 4, to nearest'"
colours = "red orange blue sky green black"
is(data, path) = strcol("data") eq data && strcol("datapath") eq path
has = ""
array ends[6] # of the lines of positive data, where their names stand
array bound[3] # error per product: of binary16 sums, of binary16 results, of binary32 results
eval measure_all("1", "column('n')")
longest = most
shortest = least
if (shortest == longest) { eval figure_refuse("block_fma", "it shows errors against n: needs a run with several --sizes") }
do for [b = 1:3] { bound[b] = NaN }
do for [i = 1:6] {
    ends[i] = summary(csv, "largest error at the largest n", "positive " . word(paths, i))
    if (ends[i] == ends[i]) {
        has = has . sprintf(" %d", i)
        bound[i < 3 ? i : 3] = summary(csv, "bound per n", word(paths, i))
    }
}
bounds = ""
do for [b = 1:3] { if (bound[b] == bound[b]) { bounds = bounds . sprintf(" %d", b) } }
if (words(has) == 0) { eval figure_refuse("block_fma", "needs a run with some of --datapath serial:fp16:rne,v100-fp16-fp16,v100-fp16,a100-fp16,h100-fp16") }
kinds = "positive signed"
sum_of(k, i) = is(word(kinds, k), word(paths, i)) ? column("n") : NaN
# the labels lie along the bounds: their slope in pixels, and their place
slope = 180 / pi * atan2(0.71 * 620 / 9 * log10(2), 0.325 * 1160 * log(2) / log(longest / shortest))
middle = sqrt(shortest * longest)
bound_colours = "red orange blue"
colour(i) = value(word(colours, i))
powers = "('2^4' 2**4, '2^6' 2**6, '2^8' 2**8, '2^{10}' 2**10, '2^{12}' 2**12, '2^{14}' 2**14, '2^{16}' 2**16)"

do for [file in figure_files] {
    eval figure_panels("block_fma", file, 1160, 620)
    eval heading(0.955, words(has) == 6 ? "Results in binary32 keep a product accurate; rounding to nearest would keep it more accurate still" : "Errors of matrix products against the number of products in a sum", \
                 0.905, "Largest |computed - exact| / (|A| |B|) of C = A B in binary16, with n products in every sum. Dashed: bounds, u_{16} = 2^{-11}, u_{32} = 2^{-24}.")
    set logscale x 2
    set logscale y 10
    set xrange [shortest:1.001*longest]
    set yrange [2e-8:20]
    eval "set xtics " . powers
    set ytics ("10^{-8}" 1e-8, "10^{-7}" 1e-7, "10^{-6}" 1e-6, "10^{-5}" 1e-5, "10^{-4}" 1e-4, "10^{-3}" 1e-3, "10^{-2}" 1e-2, "10^{-1}" 0.1, "1" 1, "10" 10)
    set xlabel "n, products in a sum" font label_font
    titles = "'Positive data, U[0,1]' 'Data of both signs, U[-1,1]'"
    do for [k = 1:2] {
        eval panel(k == 1 ? 0.075 : 0.64, k == 1 ? 0.40 : 0.965, 0.11, 0.82)
        set title word(titles, k)
        if (k == 1) { set ylabel "largest relative error" offset 0.6,0 font label_font } else { set ylabel "" }
        do for [b in bounds] {
            i = int(b)
            set label 10 + i word("'n u_{16}' 'n u_{16} / 4' 'n u_{32}'", i) at middle,2.3*middle*bound[i] center rotate by slope textcolor rgb value(word(bound_colours, i)) font small_font
        }
        if (k == 2) { set label 20 "colours as on the left" at graph 0.97,0.27 right textcolor rgb grey font small_font }
        if (k == 1) {
            do for [i in has] {
                j = int(i)
                set label 20 + j word(names, j) at 1.15*longest,ends[j]*(j == 1 ? 1.6 : j == 2 ? 0.62 : j == 3 ? 1.45 : j == 5 ? 0.78 : 1) left textcolor rgb colour(j) font label_font
            }
        }
        plot [shortest:longest] for [b in bounds] bound[int(b)] * x with lines linecolor rgb tint(value(word(bound_colours, int(b))), b eq "2" ? 0.8 : 0.7) dashtype (4,4) linewidth 1.5, \
             for [i in has] csv using (sum_of(k, int(i))):"max_error" with linespoints pointtype 7 pointsize 0.45 linecolor rgb colour(int(i)) linewidth 2
        do for [i = 1:30] { unset label i }
    }
    eval figure_end
}
