# trees.gp - the order in which ten machines add 16 products: a tree for each.
load "plots/style.gp"
eval figure_of("trees")

paths = "fp32 a100-fp16 h100-fp16 riscv-bf16 mi100-fp16 mi250-fp16 mi300-fp16 avx512-bf16 amx-bf16 arm-bf16"
names = "'chain of FMA' 'NVIDIA A100' 'NVIDIA H100' 'RISC-V, draft' 'AMD CDNA1' 'AMD CDNA2' 'AMD CDNA3' 'x86 AVX-512' 'x86 AMX' 'Arm BFDOT'"
N = words(paths)
array highest[N]
some = 0
do for [i = 1:N] {
    eval measure_all("strcol('datapath') eq word(paths, i)", "column('height')")
    highest[i] = most
    some = some + (hits > 0)
}
if (some < N || option(csv, "products") ne "16") { eval figure_refuse("trees", "it shows ten machines: needs a run with the default --datapath and --products") }

is(i, kind) = strcol("datapath") eq word(paths, i) && strcol("over") eq kind
array kinds[N] # of the sums of each tree
do for [i = 1:N] {
    kinds[i] = ""
    do for [kind in "addition fused exact"] {
        eval measure_all("is(i, kind)", "column('line')")
        if (hits) { kinds[i] = kinds[i] . " " . kind }
    }
}
do for [file in figure_files] {
    eval figure_panels("trees", file, 1240, 860)
    eval heading(0.968, "Ten machines add c and the same 16 products in nine different orders", 0.93, "From left to right. Thin: two numbers are added and rounded. Blue: many terms at once, aligned and cut. Orange: many terms exactly, then one rounding.")
    unset border
    unset grid
    set xtics scale 0 ("" -1)
    set ytics scale 0 ("" -1)
    set yrange [17.2:-0.8]
    do for [i = 1:N] {
        x = (i - 1) % 5
        eval panel(0.035 + 0.195 * x, 0.035 + 0.195 * x + 0.165, i <= 5 ? 0.48 : 0.04, i <= 5 ? 0.86 : 0.42)
        set title word(names, i) offset 0,-0.5 textcolor rgb ink
        h = highest[i]
        set xrange [-0.16 * h:1.12 * h]
        drawn = ""
        do for [kind in "addition fused exact"] {
            if (strstrt(kinds[i], kind)) {
                wide = kind eq "addition" ? 1.3 : 4
                colour = kind eq "addition" ? ink : kind eq "fused" ? blue : red
                drawn = drawn . sprintf("csv using (is(i, '%s') ? column('height') : NaN):(column('line')):(column('over_height') - column('height')):(0) with vectors nohead linewidth 1.3 linecolor rgb %d notitle, ", kind, colour)
                drawn = drawn . sprintf("csv using (is(i, '%s') ? column('over_height') : NaN):(column('line')):(0):(column('over_line') - column('line')) with vectors nohead linewidth %g linecolor rgb %d notitle, ", kind, wide, colour)
            }
        }
        eval "plot " . drawn . "csv using (strcol('datapath') eq word(paths, i) && strcol('over') eq '' ? column('height') : NaN):(column('line')):(0.09 * h):(0) with vectors nohead linewidth 1.3 linecolor rgb ink notitle, csv using (strcol('datapath') eq word(paths, i) && strcol('term') ne '' ? -0.03 * h : NaN):(column('line')):(strcol('term')) with labels right font small_font textcolor rgb grey notitle"
        unset label 1; unset label 2
    }
    eval figure_end
}
