# units.gp - one dot product on every matrix unit: who agrees with whom, errors and drift of long sums, directed sums.
load "plots/style.gp"
eval figure_of_both("units")

paths = "fp32 a100-bf16 h100-bf16 mi100-bf16 mi250-bf16 mi300-bf16 avx512-bf16 amx-bf16 arm-bf16 arm-bf16-ebf riscv-bf16"
names = "'chain of FMA, fp32' 'NVIDIA A100' 'NVIDIA H100' 'AMD CDNA1' 'AMD CDNA2' 'AMD CDNA3' 'x86 AVX-512' 'x86 AMX' 'Arm, EBF = 0' 'Arm, EBF = 1' 'RISC-V, draft'"
colours = "black green green red red red blue blue orange orange purple"
purple = 0x8a4fa3
N = words(paths)
array agree[N * N]
array drift[N]
has = 0
do for [i = 1:N] {
    drift[i] = summary(csv, "drift", "positive " . word(paths, i))
    do for [j = 1:N] {
        agree[N * (i - 1) + j] = i == j ? 1 : i > j ? summary(csv, "agreement", word(paths, i) . " " . word(paths, j)) : NaN
    }
    has = has + (drift[i] == drift[i])
}
if (has < N) { eval figure_refuse("units", "it shows eleven machines: needs a run with the default --datapath") }

# the directed sums: what each machine makes of them
sums = "'1 + 2^-30' '1 - 2^-30' '1 and c = -2^-30' '2^10 + 2^-15 - 2^10' '-2^24 + 1 and c = 2^24' '2^-24 + 2^-24 and c = 1' '2^-130 x 2^10'"
heads = "'1 + 2^{-30}' '1 − 2^{-30}' '1, c = −2^{-30}' '2^{10} + 2^{-15} − 2^{10}' '−2^{24} + 1, c = 2^{24}' '2^{-24} + 2^{-24}, c = 1' '2^{-130} · 2^{10}'"
M = words(sums)
array got[N * M]
do for [s = 1:M] { do for [i = 1:N] { got[N * (s - 1) + i] = NaN } }
place(path) = sum [i = 1:N] (path eq word(paths, i) ? i : 0)
number(text) = sum [s = 1:M] (text eq word(sums, s) ? s : 0)
set_got(s, i, v) = s > 0 && i > 0 ? (got[N * (s - 1) + i] = v, 1) : 0
stats csv using (strcol("part") eq "directed" ? set_got(number(strcol("sum")), place(strcol("datapath")), column("result")) : 0) nooutput
text_of(v) = v != v ? "" : v == 0 ? "0" : v == 1 ? "1" : v == 1 + 2.0**-23 ? "1 + 2^{-23}" : v == 1 - 2.0**-24 ? "1 − 2^{-24}" : v == 2.0**-15 ? "2^{-15}" : v == 2.0**-13 ? "2^{-13}" : v == 2.0**-120 ? "2^{-120}" : sprintf("%.3g", v)
truth(s) = s <= 3 ? 1 : s == 4 ? 2.0**-15 : s == 5 ? 1 : s == 6 ? 1 + 2.0**-23 : 2.0**-120

do for [file in figure_files] {
    eval figure_panels("units", file, 1240, 940)
    eval heading(0.968, "One dot product, eleven machines: no two of them agree on every sum", 0.935, "All machines get products of the same bfloat16 numbers, and the same start values c. Models of published rules. EBF: Arm's setting FPCR.EBF.")
    # who agrees with whom
    eval panel(0.15, 0.60, 0.47, 0.87)
    set title sprintf("Per cent of %s sums of %s products with equal bits; darker: more often", option(csv, "sums"), option(csv, "products")) offset 0,0
    set xrange [0.5:N + 0.5]
    set yrange [N + 0.5:0.5]
    set xtics scale 0 ("" 1)
    set ytics scale 0 ("" 1)
    do for [i = 1:N] {
        set label 100 + i word(names, i) at 0.35,i right font small_font textcolor rgb value(word(colours, i))
        do for [j = 1:i] {
            share = agree[N * (i - 1) + j]
            if (i != j) {
                set object 1000 + N * i + j rectangle from j - 0.5,i - 0.5 to j + 0.5,i + 0.5 fillcolor rgb tint(blue, share < 0.45 ? 0.05 : 0.05 + 0.95 * (share - 0.45) / 0.55) fillstyle solid noborder
                set label 2000 + N * i + j sprintf(share >= 0.995 && share < 1 ? "%.1f" : "%.0f", 100 * share) at j,i center font small_font textcolor rgb (share > 0.8 ? 0xffffff : ink)
            } else {
                set label 2000 + N * i + j word(names, i) at j - 0.3,i left font small_font textcolor rgb value(word(colours, i))
            }
        }
    }
    unset border
    unset grid
    plot NaN notitle
    do for [i = 1:N] {
        unset label 100 + i
        do for [j = 1:i] { unset object 1000 + N * i + j; unset label 2000 + N * i + j }
    }
    # drift of long sums of positive products
    set border 1
    eval panel_x(0.70, 0.975)
    set title sprintf("Mean relative error, %s positive products", option(csv, "length")) offset 0,0
    set xrange [-3.2e-5:0.6e-5]
    set xtics scale 0.5 ("-3·10^{-5}" -3e-5, "-2·10^{-5}" -2e-5, "-10^{-5}" -1e-5, "0" 0)
    do for [i = 1:N] {
        set object 100 + i rectangle from (drift[i] < 0 ? drift[i] : 0),i - 0.3 to (drift[i] < 0 ? 0 : drift[i]),i + 0.3 fillcolor rgb value(word(colours, i)) fillstyle solid noborder
        set label 100 + i sprintf("%.1g", drift[i]) at (drift[i] < 0 ? 0.08e-5 : drift[i] + 0.08e-5),i left font small_font textcolor rgb value(word(colours, i))
        set label 200 + i word(names, i) at (drift[i] < -8e-6 ? drift[i] - 0.05e-5 : -0.08e-5 + (drift[i] < 0 ? drift[i] : 0)),i right font small_font textcolor rgb value(word(colours, i))
    }
    plot NaN notitle
    do for [i = 1:N] { unset object 100 + i; unset label 100 + i; unset label 200 + i }
    # directed sums
    unset border
    unset xlabel
    eval panel(0.15, 0.975, 0.03, 0.355)
    set title "What a sum becomes. Grey: the exact sum, rounded once to nearest. Black, bold: another number" offset 0,1.0
    set xrange [0.5:M + 0.5]
    set xtics scale 0 ("" 1)
    do for [i = 1:N] { set label 100 + i word(names, i) at 0.45,i right font small_font textcolor rgb value(word(colours, i)) }
    do for [s = 1:M] {
        set label 200 + s word(heads, s) at s,0.1 center font label_font textcolor rgb ink
        do for [i = 1:N] {
            v = got[N * (s - 1) + i]
            shown = v == truth(s) ? text_of(v) : "{/:Bold " . text_of(v) . "}"
            set label 1000 + N * s + i shown at s,i center font small_font textcolor rgb (v == truth(s) ? grey : ink)
        }
    }
    plot NaN notitle
    eval figure_end
}
