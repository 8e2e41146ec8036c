# amp.gp - where automatic mixed precision ends, compared with binary32, the recipe by hand and everything in few bits, and what it saves.
load "plots/style.gp"
eval figure_of_both("amp")
eval figure_groups(csv, "net format way")

nets = ""
do for [net in "mlp small cnn resnet gru lstm own"] { nets = nets . (has_rows(net . " binary32 fp32") ? net . " " : "") }
N = words(nets)
formats = ""
listed = option(csv, "formats")
comma(text) = strstrt(text, ",") ? text[1:strstrt(text, ",") - 1] . " " . text[strstrt(text, ",") + 1:] : text
do for [i = 1:8] { listed = comma(listed) }
do for [f in listed] {
    some = 0
    do for [net in nets] { some = some || has_rows(net . " " . f . " amp") || has_rows(net . " " . f . " low") }
    formats = formats . (some && words(formats) < 2 ? f . " " : "")
}
F = words(formats)
if (F == 0) { eval figure_refuse("amp", "needs a format with the ways amp or low") }
ways = "amp recipe low"
W = 3
label_of(f, way) = (way eq "amp" ? "amp in " : way eq "recipe" ? "recipe by hand in " : "everything in ") . f
mark(way) = way eq "amp" ? 7 : way eq "recipe" ? 6 : 2
shown = "" # format and way, in the order of drawing
do for [f in formats] {
    do for [way in ways] {
        some = 0
        do for [net in nets] { some = some || has_rows(net . " " . f . " " . way) }
        shown = shown . (some ? sprintf("%s:%s ", f, way) : "")
    }
}
S = words(shown)
f_of(i) = word(shown, i)[1:strstrt(word(shown, i), ":") - 1]
way_of(i) = word(shown, i)[strstrt(word(shown, i), ":") + 1:]
key_of(n, i) = word(nets, n) . " " . f_of(i) . " " . way_of(i)
at(n, i) = n + 0.72 * ((i - 1) / (S > 1 ? S - 1.0 : 1) - 0.5)
tone(i) = value(f_of(i))
get(quantity, n, i) = summary(csv, quantity, key_of(n, i))
binary32_of(quantity, n) = summary(csv, quantity, word(nets, n) . " binary32 fp32")

floor_right = 100
wall = 3.4 # larger quotients are texts at the top
top_loss = 1.2
do for [n = 1:N] { do for [i = 1:S] {
    x = get("least accuracy", n, i)
    floor_right = x == x && x < floor_right ? x : floor_right
    y = get("largest loss over binary32", n, i)
    top_loss = y == y && y > top_loss ? (y < wall ? y : wall) : top_loss
} }
floor_right = 10 * floor((floor_right - 2) / 10) # no bar ends at the axis
# the left ends of the labels of the legend
array key_left[S + 1]
key_left[1] = 0.03
letters = 0
do for [i = 1:S] { letters = letters + strlen(label_of(f_of(i), way_of(i))) }
gap = (0.95 - 0.0063 * letters) / S < 0.05 ? (0.95 - 0.0063 * letters) / S : 0.05
do for [i = 1:S] { key_left[i + 1] = key_left[i] + 0.0063 * strlen(label_of(f_of(i), way_of(i))) + gap }
networks = "set xrange [0.45:N + 0.55]; set xtics scale 0 ('' 0); do for [n = 1:N] { set xtics add (word(nets, n) n) }"

do for [file in figure_files] {
    eval figure_panels("amp", file, 1160, 900)
    eval heading(0.97, "Lists of operations choose the formats: training ends as in binary32, with half the bytes of activations", 0.94, sprintf("Digits, %d steps, loss times 2^{%d}. Marks: means (losses: medians) over %d seeds; bars: all seeds. Grey and black: binary32", int(option(csv, "steps")), int(option(csv, "weight")), int(option(csv, "seeds"))))

    # the legends are labels with a point: a key is not wider than its panel; a label has the room of its letters
    do for [i = 1:S] {
        set label 200 + i label_of(f_of(i), way_of(i)) at screen key_left[i],0.9 left offset 1,0 point pointtype mark(way_of(i)) pointsize 0.9 linewidth 1.4 linecolor rgb tone(i) font small_font textcolor rgb ink
    }
    array bar[3] = ["activations and their gradients", "weights of all kinds and their gradients", "moved in a step"]
    array strength[3] = [0.9, 0.5, 0.22]
    array bar_left[3] = [0.17, 0.43, 0.75]
    do for [i = 1:3] {
        set label 210 + i bar[i] at screen bar_left[i],0.42 left offset 1,0 point pointtype 5 pointsize 1.3 linecolor rgb tint(value(word(formats, 1)), strength[i]) font small_font textcolor rgb ink
    }

    # --- accuracy
    eval panel(0.07, 0.49, 0.49, 0.83)
    set title "Accuracy on digits not seen in training"
    eval networks
    set yrange [floor_right:102]
    set ytics format "%g %%"
    do for [n = 1:N] {
        set object n rectangle from n - 0.46,binary32_of("least accuracy", n) to n + 0.46,binary32_of("largest accuracy", n) fillcolor rgb pale fillstyle solid noborder behind
        set arrow n from n - 0.46,binary32_of("accuracy", n) to n + 0.46,binary32_of("accuracy", n) nohead back linecolor rgb black linewidth 1.6
    }
    plot for [i = 1:S] for [n = 1:N] "+" using (at(n, i)):(get("accuracy", n, i)):(get("least accuracy", n, i)):(get("largest accuracy", n, i)) every ::0::0 with yerrorbars pointtype mark(way_of(i)) pointsize 0.9 linewidth 1.4 linecolor rgb tone(i)
    do for [n = 1:N] { unset object n; unset arrow n }
    do for [i = 1:S] { unset label 200 + i }

    # --- loss
    eval panel(0.565, 0.985, 0.49, 0.83)
    set title "Training loss at the end / that of binary32 with the same seed"
    set yrange [0.8:top_loss * 1.15]
    set logscale y
    set ytics (0.8, 0.9, 1, 1.2, 1.5, 2, 2.5, 3) format "%g"
    set arrow 1 from 0.45,1 to N + 0.55,1 nohead back linecolor rgb black linewidth 1.6
    do for [n = 1:N] { do for [i = 1:S] {
        far = get("loss over binary32", n, i)
        if (far > wall) { set label 100 + 10 * n + i sprintf(far < 1e6 ? "↑ %.0f times" : "↑ diverged", far) at at(n, i),wall center font small_font textcolor rgb tone(i) }
    } }
    set clip points
    plot for [i = 1:S] for [n = 1:N] "+" using (at(n, i)):(get("loss over binary32", n, i)):(get("least loss over binary32", n, i)):(get("largest loss over binary32", n, i)) every ::0::0 with yerrorbars pointtype mark(way_of(i)) pointsize 0.9 linewidth 1.4 linecolor rgb tone(i)
    unset logscale y
    unset arrow 1
    do for [n = 101:100 + 10 * N + S] { unset label n }

    # --- bytes and casts of the first format
    first = word(formats, 1)
    set yrange [0:1.2]
    set ytics 0,0.5,1 format "%g"
    set boxwidth 0.2
    do for [p = 1:2] {
        way = p == 1 ? "amp" : "low"
        eval panel(p == 1 ? 0.07 : 0.565, p == 1 ? 0.49 : 0.985, 0.06, 0.35)
        set title sprintf("%s: bytes / those of binary32", p == 1 ? "amp in " . first : "Everything in " . first)
        has(n) = has_rows(word(nets, n) . " " . first . " " . way)
        share(quantity, n) = summary(csv, quantity . " over binary32", word(nets, n) . " " . first . " " . way)
        do for [n = 1:N] {
            if (has(n)) { set label 20 + n sprintf("%d casts", int(summary(csv, "casts", word(nets, n) . " " . first . " " . way))) at n,1.09 center font small_font textcolor rgb ink }
        }
        set arrow 1 from 0.45,1 to N + 0.55,1 nohead front linecolor rgb black linewidth 1.2
        plot for [n = 1:N] "+" using (n - 0.22):(share("activations", n)) every ::0::0 with boxes linecolor rgb tint(value(first), strength[1]), \
             for [n = 1:N] "+" using (n):(share("weights", n)) every ::0::0 with boxes linecolor rgb tint(value(first), strength[2]), \
             for [n = 1:N] "+" using (n + 0.22):(share("moved", n)) every ::0::0 with boxes linecolor rgb tint(value(first), strength[3])
        do for [i = 1:3] { unset label 210 + i }
        unset arrow 1
        do for [n = 1:N] { unset label 20 + n }
    }
    eval figure_end
}
