# footprint.gp - bytes of a training step by purpose, and predicted times: roofline, what bounds them, speedups against published ones.
load "plots/style.gp"
eval figure_of_both("footprint")

eval figure_groups(csv, "what net policy")
kind(i) = i == 1 ? "activations" : i == 2 ? "activation gradients" : i == 3 ? "weights" : i == 4 ? "weight gradients" : i == 5 ? "optimizer state" : "master weights"
kind_tone(i) = i == 1 ? orange : i == 2 ? tint(orange, 0.45) : i == 3 ? blue : i == 4 ? sky : i == 5 ? green : purple
bound(k) = word("products bytes elementwise update", k)
bound_named(k) = k == 1 ? "products" : k == 2 ? "their bytes" : k == 3 ? "other operations" : "update"
bound_tone(k) = k == 1 ? 0x404040 : k == 2 ? 0x999999 : k == 3 ? tint(red, 0.75) : yellow
tone(p) = p eq "fp32" ? binary32 : p eq "tf32" ? tf32 : p eq "mixed-bf16" ? bfloat16 : p eq "fp8" ? e4m3 : binary16
bytes(net, p, k) = summary(csv, "bytes", net . " " . p . " " . k)
all_bytes(net, p) = summary(csv, "all bytes", net . " " . p)
took(net, p, machine, bound) = summary(csv, "predicted seconds", net . " " . p . " " . machine . " " . bound)
speedup(net, machine, p) = summary(csv, "predicted speedup", net . " " . machine . " " . p)
is(x) = x == x

bars = "fp32 mixed-fp16 fp8 fp16"
nets = ""
large = ""
do for [n in "mlp small cnn resnet gru lstm own alexnet vgg16 resnet50 bigru"] {
    some = is(all_bytes(n, "fp32"))
    nets = nets . (some ? n . " " : "")
    large = large . (some && strstrt(" alexnet vgg16 resnet50 bigru ", " " . n . " ") ? n . " " : "")
}
N = words(nets)
L = words(large)
if (N == 0) { eval figure_refuse("footprint", "needs a run with fp32 among --policies") }
named(n) = n eq "alexnet" ? "AlexNet" : n eq "vgg16" ? "VGG-16" : n eq "resnet50" ? "ResNet-50" : n eq "bigru" ? "BiGRU stack" : n
policy_named(p) = p eq "mixed-fp16" ? "mixed" : p eq "fp16" ? "all fp16" : p
size_of(b) = b >= 1e9 ? sprintf("%.1f GB", b / 1e9) : b >= 1e6 ? sprintf("%.1f MB", b / 1e6) : sprintf("%.0f kB", b / 1e3)
# the ends of the pieces of the bars, in percent: piece k of bar b of network i is from pile[place(i, b, k)] to the next one
pile_at(i, b, k) = 7 * (4 * (i - 1) + b - 1) + k
array pile[28 * N]
do for [i = 1:N] { do for [b = 1:4] { do for [k = 1:7] {
    pile[pile_at(i, b, k)] = k == 1 ? 0 : pile[pile_at(i, b, k - 1)] + 100 * bytes(word(nets, i), word(bars, b), kind(k - 1)) / all_bytes(word(nets, i), "fp32")
} } }
# the bars of this run: network and place
of_net = ""
of_bar = ""
do for [i = 1:N] { do for [b = 1:4] {
    if (is(all_bytes(word(nets, i), word(bars, b)))) { of_net = of_net . sprintf(" %d", i); of_bar = of_bar . sprintf(" %d", b) }
} }
net_of(q) = int(word(of_net, q))
bar_of(q) = int(word(of_bar, q))
# the same for the predicted time on a V100
time_at(i, b, k) = 5 * (2 * (i - 1) + b - 1) + k
array clock[10 * L + 1]
do for [i = 1:L] { do for [b = 1:2] { do for [k = 1:5] {
    n = word(large, i)
    clock[time_at(i, b, k)] = k == 1 ? 0 : clock[time_at(i, b, k - 1)] + took(n, word("fp32 mixed-fp16", b), "v100", bound(k - 1))
} } }
timed = L > 0 && is(clock[5]) ? (is(clock[time_at(1, 2, 5)]) ? 2 : 1) : 0 # bars per network

# --- the roofline: the first of these networks, on the machine of --roofline
machine = option(csv, "roofline")
roofed = ""
do for [n in "resnet50 vgg16 alexnet bigru " . nets] { roofed = roofed eq "" && has_rows("roof " . n . " fp32") ? n : roofed }
slope = summary(csv, "bandwidth", machine)
peak(t) = summary(csv, "peak", machine . " " . t)
balance(t) = summary(csv, "balance", machine . " " . t)
least_of(a, b) = a < b ? a : b
halved = has_rows("roof " . roofed . " mixed-fp16")

# --- predicted speedups: machine, policy, and the label of a bar
pairs = "v100:mixed-fp16 a100:mixed-fp16 h100:mixed-fp16 h100:fp8"
machine_of(pair) = pair[1:4]
policy_of(pair) = pair[6:]
pair_tone(k) = k == 1 ? tint(blue, 0.35) : k == 2 ? tint(blue, 0.65) : k == 3 ? blue : e4m3
pair_named(k) = k == 1 ? "V100: mixed over fp32" : k == 2 ? "A100: mixed over tf32" : k == 3 ? "H100: mixed over tf32" : "H100: fp8 over tf32"
height(i, k) = 5 - 5 * i - k
array known[4 * L + 1] # the lengths of the bars
of_large = ""
of_pair = ""
# published speedups of mixed precision (k = 1) and of training in fp16 alone (k = 2): their values and heights
array beside[2] = ["", ""]
array heights[2] = ["", ""]
do for [i = 1:L] {
    do for [k = 1:4] {
        known[4 * i - 4 + k] = speedup(word(large, i), machine_of(word(pairs, k)), policy_of(word(pairs, k)))
        if (is(known[4 * i - 4 + k])) { of_large = of_large . sprintf(" %d", i); of_pair = of_pair . sprintf(" %d", k) }
        do for [s = 1:3] {
            source = s == 1 ? "NVIDIA 2021 PyTorch" : s == 2 ? "NVIDIA 2020 TensorFlow" : "Sako and Ludwiczuk 2018"
            do for [p = 1:2] {
                of = sprintf("%s %s %s %s", word(large, i), machine_of(word(pairs, k)), p == 1 ? "mixed-fp16" : "fp16", source)
                v = k < 3 ? summary(csv, "published speedup", of) : NaN
                beside[p] = beside[p] . (is(v) ? sprintf(" %g", v) : "")
                heights[p] = heights[p] . (is(v) ? sprintf(" %g", height(i, k)) : "")
            }
        }
    }
}

do for [file in figure_files] {
    eval figure_panels("footprint", file, 1160, 1220)
    eval heading(0.977, "Mixed precision halves activations and gradients, and stores the weights twice", 0.953, sprintf("Bytes of one training step by purpose, as a machine stores them; SGD with momentum; large networks: batches of %d. Above: bytes under fp32.", int(option(csv, "large-batch"))))

    # --- memory
    eval panel(0.06, 0.985, 0.62, 0.885)
    set xrange [0.2:5 * N + 0.2]
    set yrange [0:112]
    set ytics 0,25,100 format "%g %%"
    set ylabel "bytes / those under fp32" offset 0.5,0
    set xtics scale 0 ("" 0)
    set border 3
    set grid noxtics
    do for [i = 1:N] {
        n = word(nets, i)
        set label 100 + i named(n) at first 5 * i - 2.4,graph -0.3 center font panel_font textcolor rgb ink
        set label 200 + i size_of(all_bytes(n, "fp32")) at first 5 * i - 2.5,first 105 center font small_font textcolor rgb grey
        do for [b = 1:4] {
            p = word(bars, b)
            if (is(all_bytes(n, p))) { set label 300 + 4 * i + b policy_named(p) at first 5 * i - 5 + b,graph -0.025 right rotate by 90 font small_font textcolor rgb ink }
        }
    }
    set key at screen 0.985,0.925 right horizontal samplen 0.9 width 1 maxrows 1 font label_font
    left(q) = 5 * net_of(q) - 5.4 + bar_of(q)
    plot for [k = 1:6] for [q = 1:words(of_net)] "+" using (left(q) + 0.4):(0):(left(q)):(left(q) + 0.8):(pile[pile_at(net_of(q), bar_of(q), k)]):(pile[pile_at(net_of(q), bar_of(q), k + 1)]) every ::0::0 with boxxyerror linecolor rgb kind_tone(k) title (q == 1 ? kind(k) : "")
    unset key
    do for [i = 100:400] { unset label i }
    unset label 1
    set label 2 "PREDICTIONS of a roofline, not measurements: each operation takes as long as its products at the peak of the data sheet,\nor as its bytes at the full bandwidth of the memory, whichever is longer." at screen 0.02,0.5 font label_font textcolor rgb grey

    # --- roofline
    eval panel(0.06, 0.325, 0.07, 0.435)
    set title sprintf("Operations of %s on a %s: predicted rate", named(roofed), machine eq "p100" ? "P100" : machine eq "v100" ? "V100" : machine eq "a100" ? "A100" : machine eq "h100" ? "H100" : "B200")
    set logscale xy
    set grid xtics ytics
    set xrange [3:3000]
    set yrange [slope * 3:(is(peak("fp16")) ? peak("fp16") : peak("fp32")) * 2.6]
    set xtics scale 0.6 auto
    set xtics (3, 10, 30, 100, 300, 1000, 3000)
    set ytics auto
    set ytics (1, 3, 10, 30, 100, 300, 1000, 3000) format "%g"
    set xlabel "operations per byte"
    set ylabel "10^{12} operations per second" offset 1.2,0
    set key at graph 0.97,0.05 bottom right samplen 0.8 font label_font
    set label 20 sprintf("fp32: %g", peak("fp32")) at first 2800,first (peak("fp32") * 1.18) right font small_font textcolor rgb binary32
    if (is(peak("fp16"))) { set label 21 sprintf("fp16: %g", peak("fp16")) at first 2800,first (peak("fp16") * 1.18) right font small_font textcolor rgb binary16 }
    set label 22 sprintf("memory: %.3g TB/s", slope) at first 4.1,first (slope * 7) left rotate by 63 font small_font textcolor rgb grey
    plot slope * x < peak("fp32") ? slope * x : peak("fp32") with lines linewidth 1.2 linecolor rgb binary32, \
         least_of(slope * x, is(peak("fp16")) ? peak("fp16") : peak("fp32")) with lines linewidth 1.2 linecolor rgb binary16, \
         rows("roof " . roofed . " fp32") using "intensity":"rate" with points pointtype 6 pointsize 0.75 linewidth 1.4 linecolor rgb binary32 title "fp32", \
         rows("roof " . roofed . (halved ? " mixed-fp16" : " fp32")) using "intensity":"rate" with points pointtype 6 pointsize 0.75 linewidth 1.4 linecolor rgb (halved ? binary16 : binary32) title (halved ? "mixed-fp16" : "")
    do for [i = 20:22] { unset label i }
    unset key
    unset logscale
    unset label 2

    # --- what bounds the time
    eval panel_x(0.405, 0.66)
    set title "V100: what bounds the predicted time" offset 0,0.2
    set grid noxtics
    set xrange [0.3:3 * (L > 0 ? L : 1)]
    set yrange [0:132]
    set ytics auto
    set ytics 0,25,100 format "%g %%"
    set xtics scale 0 ("" 0)
    set xlabel "left fp32, right mixed-fp16" offset 0,-0.3
    set ylabel "time / that under fp32" offset 0.5,0
    short(n) = n eq "bigru" ? "BiGRU" : named(n)
    do for [i = 1:L] { set label 100 + i short(word(large, i)) at first 3 * i - 1.5,graph -0.045 center font small_font textcolor rgb ink }
    set key at graph 0.5,0.995 center top maxrows 2 samplen 0.9 width -1 font small_font
    if (!timed) {
        set label 11 "not in this run" at graph 0.5,0.5 center textcolor rgb grey font label_font
        plot -100
        unset label 11
    } else {
        plot for [k = 1:4] for [i = 1:L] for [b = 1:timed] "+" using (3 * i - 3 + b):(0):(3 * i - 3.42 + b):(3 * i - 2.58 + b):(100 * clock[time_at(i, b, k)] / clock[time_at(i, 1, 5)]):(100 * clock[time_at(i, b, k + 1)] / clock[time_at(i, 1, 5)]) every ::0::0 with boxxyerror linecolor rgb bound_tone(k) title (i == 1 && b == 1 ? bound_named(k) : "")
    }
    do for [i = 100:110] { unset label i }
    unset key

    # --- speedups
    eval panel_x(0.755, 0.985)
    set title "Predicted speedups" offset 0,0.2
    set border 1
    set grid xtics noytics
    set logscale x 2
    set xrange [0.9:16]
    set xtics auto
    set xtics scale 0.6 (1, 2, 4, 8, 16)
    set yrange [-5 * (L > 0 ? L : 1) - 0.2:7]
    set ytics scale 0 ("" 0)
    do for [i = 1:L] { set ytics add (named(word(large, i)) 5 - 5 * i - 2.5) }
    set xlabel "times as fast" offset 0,0
    set ylabel ""
    set key at graph 1.0,0.995 right top samplen 0.7 font small_font
    if (words(of_large) == 0) {
        set label 11 "not in this run" at graph 0.5,0.5 center textcolor rgb grey font label_font
        plot -100
        unset label 11
    } else {
        do for [i = 1:L] {
            do for [k = 1:4] {
                v = known[4 * i - 4 + k]
                if (is(v)) { set label 100 + 10 * i + k sprintf("%.1f", v) at first 1.05,first height(i, k) left front font small_font textcolor rgb (k == 3 ? 0xFFFFFF : ink) }
            }
        }
        large_of(q) = int(word(of_large, q))
        pair_of(q) = int(word(of_pair, q))
        middle(q) = height(large_of(q), pair_of(q))
        shown(p) = words(beside[p])
        plot for [q = 1:words(of_large)] "+" using (1):(middle(q)):(1):(known[4 * large_of(q) - 4 + pair_of(q)]):(middle(q) - 0.4):(middle(q) + 0.4) every ::0::0 with boxxyerror linecolor rgb pair_tone(pair_of(q)) title (large_of(q) == large_of(1) ? pair_named(pair_of(q)) : ""), \
             for [p = 1:2] for [q = 1:shown(p)] "+" using (real(word(beside[p], q))):(real(word(heights[p], q))) every ::0::0 with points pointtype (p == 1 ? 13 : 12) pointsize (p == 1 ? 1.1 : 1) linewidth 1.6 linecolor rgb red title (q > 1 ? "" : p == 1 ? "published: mixed" : "published: all fp16")
        do for [i = 100:160] { unset label i }
    }
    eval figure_end
}
