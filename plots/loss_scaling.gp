# loss_scaling.gp - accuracy and loss against the loss scale, dynamic scalers, other networks, and tensor scales.
load "plots/style.gp"
eval figure_of("loss_scaling")

# the networks of this run; the first one has the upper panels
eval figure_groups(csv, "what")
eval figure_groups(csv, "net what format scaler")
eval figure_groups(csv, "net what")
nets = ""
note_net(name) = strstrt(nets . " ", " " . name . " ") > 0 ? 0 : (nets = nets . " " . name, 1)
eval scan("final", "note_net(strcol('net'))")
N = words(nets)
net = word(nets, 1)
static(format) = sprintf("%s final %s static", net, format)
traced(format, scaler) = sprintf("%s step %s %s", net, format, scaler)
# the drawn formats of this run, and their scalers in the order of the file
formats = ""
do for [format in "binary16 e5m2 e4m3"] {
    formats = formats . (has_rows(static(format)) ? format . " " : "")
}
F = words(formats)
if (F == 0) {
    eval figure_refuse("loss_scaling", "needs a run with one of --formats fp16,e5m2,e4m3")
}
scalers = ""
found(name) = strstrt(scalers . " ", " " . name . " ") > 0
note(name) = (scalers = found(name) ? scalers : scalers . " " . name, 1)
eval scan("step", "note(strcol('scaler'))")
colour(name) = name eq "pytorch" ? blue : name eq "apex" ? orange : name eq "keras" ? green : name eq "megatron" ? purple : name eq "backoff" ? black : name eq "logmax" ? fixed : sky
width(format) = format eq "binary16" ? 6 : format eq "e5m2" ? 4 : 2
named(name) = name eq "backoff" ? "backoff (only halves)" : name

interval = int(option(csv, "interval"))
cut = interval ? sprintf("growth intervals are cut from 2000 good steps (megatron: 1000) to %d", interval) : "growth intervals are 2000 good steps (megatron: 1000)"

accuracy(net, run) = summary(csv, "accuracy", net . " " . run)
reference = accuracy(net, "binary32 none")
reference_loss = summary(csv, "loss", net . " binary32 none")
eval measure(net . " final", "strcol('scaler') eq 'static'", "column('static_log2')")
low = least
high = most
# scales at which some seed diverged; the lines of the loss leave them out
diverged = " "
ended(x) = (diverged = diverged . sprintf("%s:%s ", strcol("format"), strcol("static_log2")), 1)
is_nan(loss) = loss eq "nan" || loss eq "-nan" || loss eq "inf"
eval scan(net . " final", "strcol('scaler') eq 'static' && is_nan(strcol('loss')) ? ended(0) : 0")
survives(format) = strstrt(diverged, sprintf(" %s:%s ", format, strcol("static_log2"))) == 0

# the formats with such a scale at which other seeds do not diverge
marked = ""
do for [format in formats] {
    eval measure(static(format), "survives(format) == 0 && !is_nan(strcol('loss'))", "1")
    marked = marked . (hits ? format . " " : "")
}
circles = words(marked) == 0 ? "" : ', for [f = 1:words(marked)] rows(static(word(marked, f))) using (survives(word(marked, f)) ? NaN : column("static_log2")):"loss" with points pointtype 6 pointsize 0.8 linewidth 1.2 linecolor rgb value(word(marked, f))'

array left[F]
array right[F]
array before[F]
array wall[F] # the least scale from which on every seed diverges
do for [f = 1:F] {
    format = word(formats, f)
    eval measure(static(format), "column('test_accuracy') > 0.5", "column('static_log2')")
    left[f] = hits ? least : high
    right[f] = hits ? most : high
    eval measure(static(format), "column('static_log2') < left[f]", "column('static_log2')")
    before[f] = hits ? most : left[f]
    wall[f] = summary(csv, "log2 of the scale from which on all diverge", net . " " . format)
}
# A label ends at the left of a line, at the share h of the line's rise or fall. If there is no room at the left, the
# label begins at the right of the line.
cramped(f, h) = before[f] + h * (left[f] - before[f]) < low + 7
beside(f, h) = before[f] + h * (left[f] - before[f]) + (cramped(f, h) ? 1.2 : -0.8)
near(f, h) = cramped(f, h) ? "left" : "right"
eval measure("step", "1", "column('scale_log2')")
ceiling = most
do for [f = 1:F] { ceiling = wall[f] == wall[f] && wall[f] > ceiling ? wall[f] : ceiling }
eval measure("step", "1", "column('step')")
steps = most
bottom = accuracy(net, sprintf("%s 2^%d", word(formats, 1), low))

# --- all networks: the mean accuracy of binary32 in percent, the tolerance of "as binary32", and 8-bit gradients with tensor scales
array binary32_of[N]
array points_of[N] # how far below binary32 counts as the same
do for [n = 1:N] {
    binary32_of[n] = accuracy(word(nets, n), "binary32 none")
    points_of[n] = summary(csv, "points", word(nets, n))
}
strips = ""
do for [format in "binary16 e5m2 e4m3"] { strips = strips . (strstrt(formats . " ", format . " ") ? " " . format : "") }
R = words(strips)
place(list, name) = (sum [i = 1:words(list)] (word(list, i) eq name ? i : 0)) # 0: not there
n(x) = place(nets, strcol("net"))
is_static(x) = strcol("scaler") eq "static" && place(strips, strcol("format")) > 0
# the points of a network's formats lie around the tick of the network
array ran[N]
do for [i = 1:N] {
    ran[i] = ""
    do for [format in strips] {
        ran[i] = ran[i] . (has_rows(sprintf("%s final %s static", word(nets, i), format)) ? " " . format : "")
    }
}
row(x) = -(n(0) + (place(ran[n(0)], strcol("format")) - (words(ran[n(0)]) + 1) / 2.0) * 0.26)
lives(x) = !is_nan(strcol("loss"))
as_good(x) = lives(0) && 100 * column("test_accuracy") >= binary32_of[n(0)] - points_of[n(0)]
ways = "amax delayed16"
tensors_of(format, way) = strcol("format") eq format && strcol("scaler") eq way && lives(0)
beside_net(f, w) = n(0) + 0.36 * (f - 1.5) + 0.15 * (w - 1.5)
gained(x) = 100 * column("test_accuracy") - binary32_of[n(0)]
seen = ""  # formats with any way
pairs = "" # format and way
do for [format in "e5m2 e4m3"] {
    some = 0
    do for [way in ways] {
        eval measure("final", "tensors_of(format, way)", "1")
        some = some + hits
        pairs = pairs . (hits ? sprintf(" %s:%s", format, way) : "")
    }
    seen = seen . (some ? format . " " : "")
}
format_of(pair) = pair[:4]
way_of(pair) = place(ways, pair[6:])

do for [file in figure_files] {
    eval figure_panels("loss_scaling", file, 1160, 1340)
    set label 1 "Any loss scale between two walls is as good as binary32; dynamic scalers find one by themselves" at screen 0.02,0.978 font title_font textcolor rgb ink
    # a note above each row of panels
    set label 2 "Static scales: lines are means over the seeds, dots are seeds. The first infinite gradient ends a run, and all its answers count as wrong (0 %)." . (words(marked) ? "\nCircles are seeds at a scale where another seed diverged." : "") at screen 0.02,0.954 font label_font textcolor rgb grey
    set label 3 sprintf("Dynamic scalers: crosses are steps skipped after an overflow; %s.", cut) at screen 0.02,0.635 font label_font textcolor rgb grey
    set label 4 "Left: each mark is a run with a static scale. As good as binary32: at most four standard errors of the mean over the seeds below it." at screen 0.02,0.32 font label_font textcolor rgb grey
    set label 5 "Right: 8-bit gradients. Each tensor has its own scale, from its largest magnitude in this step (amax) or in the last 16 steps (delayed16)." at screen 0.02,0.303 font label_font textcolor rgb grey

    # --- accuracy
    eval panel(0.07, 0.485, 0.696, 0.898)
    set title sprintf("Network %s: accuracy on digits not seen in training", net)
    set xrange [low - 1:high + 1]
    set xtics ("2^{-24}" -24, "2^{-16}" -16, "2^{-8}" -8, "1" 0, "2^8" 8, "2^{16}" 16, "2^{24}" 24)
    set xlabel "loss scale"
    set yrange [-3:130]
    set ytics 0,20,100 format "%g %%"
    do for [f = 1:F] {
        h = 0.7 - 0.14 * f
        set label 10 + f word(formats, f) textcolor rgb value(word(formats, f)) font label_font
        eval sprintf("set label 10 + f at %g,%g %s", beside(f, cramped(f, h) ? 0.3 : h), cramped(f, h) ? 30 : 68 - 12 * f, near(f, h))
    }
    set label 14 sprintf("binary32: %.1f %%", reference) at low,104 left textcolor rgb ink font small_font
    set label 15 sprintf("← underflow: nothing learned, %.1f %%", bottom) at low,123 left textcolor rgb grey font small_font
    set label 16 "overflow: NaN, counts as 0 % →" at high + 0.8,109 right textcolor rgb grey font small_font
    set arrow 1 from low - 1,reference to high + 1,reference nohead linecolor rgb ink dashtype (3,4) linewidth 1.5
    set label 17 "guessing: 10 %" at 4.2,14 center textcolor rgb grey font small_font
    set arrow 2 from low - 1,10 to high + 1,10 nohead back linecolor rgb grey dashtype (1,4) linewidth 1.2
    plot for [f = 1:F] rows(static(word(formats, f))) using "static_log2":(100 * column("test_accuracy")) smooth unique with lines linecolor rgb value(word(formats, f)) linewidth width(word(formats, f)), \
         for [f = 1:F] rows(static(word(formats, f))) using "static_log2":(100 * column("test_accuracy")) with points pointtype 7 pointsize 0.4 linecolor rgb value(word(formats, f))
    do for [i = 1:17] { unset label i }
    unset arrow 1
    unset arrow 2

    # --- loss
    eval panel(0.57, 0.985, 0.696, 0.898)
    set title sprintf("Network %s: loss on the training digits at the end", net)
    set yrange [1e-4:60]
    set logscale y
    set ytics ("10^{-4}" 1e-4, "10^{-3}" 1e-3, "10^{-2}" 1e-2, "0.1" 0.1, "1" 1, "10" 10)
    do for [f = 1:F] {
        under = f == 2 && cramped(1, 0.4) # the first one's label is in the way
        h = under ? 0.75 : f == 3 ? 0.55 : 0.4
        set label 10 + f word(formats, f) textcolor rgb value(word(formats, f)) font label_font
        eval sprintf("set label 10 + f at %g,%g %s", beside(f, h), under ? 0.02 : 0.225, near(f, h))
    }
    set label 14 sprintf("binary32: %.2g", reference_loss) at high,reference_loss * 0.45 right textcolor rgb ink font small_font
    set label 15 "underflow" at low,7 left textcolor rgb grey font label_font
    set label 16 "overflow: NaN" at high,7 right textcolor rgb grey font label_font
    set arrow 1 from low - 1,reference_loss to high + 1,reference_loss nohead linecolor rgb ink dashtype (3,4) linewidth 1.5
    plot for [f = 1:F] rows(static(word(formats, f))) using (survives(word(formats, f)) ? column("static_log2") : NaN):"loss" smooth unique with lines linecolor rgb value(word(formats, f)) linewidth width(word(formats, f)), \
         for [f = 1:F] rows(static(word(formats, f))) using (survives(word(formats, f)) ? column("static_log2") : NaN):"loss" with points pointtype 7 pointsize 0.4 linecolor rgb value(word(formats, f)) @circles
    unset logscale y
    unset arrow 1
    do for [i = 11:16] { unset label i }

    # --- traces of the widest and the narrowest format
    set xrange [0:steps + 1]
    set xtics auto
    set xtics autofreq format "%g"
    set xlabel "training step"
    set yrange [0:ceiling + 17]
    set ytics 0,8,ceiling format "2^{%g}"
    set ylabel "loss scale" offset 0.6,0
    set key right top horizontal Left reverse samplen 1 width 1 maxcols 3 font small_font
    do for [c = 1:(F > 1 ? 2 : 1)] {
        at = c == 1 ? 1 : F
        format = word(formats, at)
        eval panel(c == 1 ? 0.07 : 0.57, c == 1 ? 0.485 : 0.985, 0.382, 0.594)
        set title sprintf("Network %s: dynamic scalers, %s gradients", net, format)
        if (c == 2) { unset key } # the colours are those of the left panel
        if (wall[at] == wall[at]) {
            set label 11 sprintf("dashed: static scales from 2^{%d} on diverge", wall[at]) at steps,ceiling + 1.8 right front textcolor rgb red font small_font
            set arrow 1 from 0,wall[at] to steps + 1,wall[at] nohead front linecolor rgb red dashtype (5,4) linewidth 2
        }
        plot for [s = 1:words(scalers)] rows(traced(format, word(scalers, s))) using "step":"scale_log2" with steps linecolor rgb colour(word(scalers, s)) linewidth (s == 1 ? 5 : 2) title named(word(scalers, s)), \
             rows("step") using (strcol("format") eq format && column("skipped") > 0 ? column("step") : NaN):"scale_log2":(colour(strcol("scaler"))) with points pointtype 2 pointsize 0.7 linecolor rgb variable
        unset label 11
        unset arrow 1
    }
    # --- networks: results of every static scale
    eval panel(0.07, 0.485, 0.055, 0.229)
    set ylabel ""
    set title "All networks: filled where as good as binary32" offset 0,2.3
    set key at graph 0.5,1.15 center horizontal Left reverse samplen 0.4 width -1 maxrows 1 font small_font
    set xrange [low - 2:high + 2]
    set xtics ("2^{-24}" -24, "2^{-16}" -16, "2^{-8}" -8, "1" 0, "2^8" 8, "2^{16}" 16, "2^{24}" 24)
    set xlabel "loss scale"
    set yrange [-N - 0.6:-0.4]
    set ytics scale 0 ("" 0)
    do for [n = 1:N] { set ytics add (word(nets, n) -n) }
    plot rows("final") using (is_static(0) && lives(0) && !as_good(0) ? column("static_log2") : NaN):(row(0)) with points pointtype 6 pointsize 0.6 linewidth 1.2 linecolor rgb grey, \
         rows("final") using (is_static(0) && as_good(0) ? column("static_log2") : NaN):(row(0)):(value(strcol("format"))) with points pointtype 7 pointsize 0.7 linecolor rgb variable, \
         rows("final") using (is_static(0) && !lives(0) ? column("static_log2") : NaN):(row(0)) with points pointtype 2 pointsize 0.6 linewidth 1.2 linecolor rgb red, \
         for [f = 1:R] -100 with points pointtype 7 pointsize 0.7 linecolor rgb value(word(strips, f)) title word(strips, f), \
         -100 with points pointtype 6 pointsize 0.6 linewidth 1.2 linecolor rgb grey title "worse", \
         -100 with points pointtype 2 pointsize 0.6 linewidth 1.2 linecolor rgb red title "diverged"

    # --- networks: tensor scales
    eval panel(0.57, 0.985, 0.055, 0.229)
    set key width 1
    set title "Scale per tensor: accuracy minus that of binary32" offset 0,2.3
    set xrange [0.4:N + 0.6]
    set xlabel ""
    set xtics scale 0 ("" 0)
    do for [n = 1:N] { set xtics add (word(nets, n) n) }
    set yrange [-4:4]
    set ytics scale 0.6 autofreq
    set ytics -4,2,4 format "%g"
    set ylabel "percentage points" offset 0.3,0
    set arrow 1 from 0.4,0 to N + 0.6,0 nohead back linecolor rgb ink dashtype (3,4) linewidth 1.5
    if (seen eq "") {
        set label 11 "not in this run: needs --scalers amax,delayed16" at graph 0.5,0.62 center textcolor rgb grey font label_font
        plot -100
    } else {
        set label 11 "pale, open: single seeds" at graph 0.02,0.07 left textcolor rgb grey font small_font
        plot for [p in pairs] rows("final") using (tensors_of(format_of(p), word(ways, way_of(p))) ? beside_net(place(seen, format_of(p)), way_of(p)) : NaN):(gained(0)) with points pointtype (way_of(p) == 1 ? 6 : 4) pointsize 0.5 linecolor rgb tint(value(format_of(p)), 0.6), \
             for [p in pairs] rows("final") using (tensors_of(format_of(p), word(ways, way_of(p))) ? beside_net(place(seen, format_of(p)), way_of(p)) : NaN):(gained(0)) smooth unique with points pointtype (way_of(p) == 1 ? 7 : 5) pointsize 1 linecolor rgb value(format_of(p)), \
             for [p in pairs] -100 with points pointtype (way_of(p) == 1 ? 7 : 5) pointsize 0.8 linecolor rgb value(format_of(p)) title format_of(p) . " " . word(ways, way_of(p))
    }
    eval figure_end
}
