# style.gp - the common style of all figures: colours, fonts, grid, and the two terminals.
#
# A figure is drawn from a CSV in a loop over its files:
#     load "plots/style.gp"
#     eval figure_of("NAME")
#     do for [file in figure_files] {
#         eval figure_panels("NAME", file, 1080, 720)
#         eval panel(0.1, 0.5, 0.1, 0.9)
#         ...
#         eval figure_end
#     }
# `csv` is then results/NAME.csv.
# Sizes are in CSS pixels; the PNG has twice as many pixels, for print. The colours are those of Okabe and Ito (2008):
# people with any colour vision can distinguish them, and in grey print their lightness differs. A format has the same
# colour in every figure.

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN # a row that a filter leaves out is not a gap

figure_files = "svg png"
system("mkdir -p figures")
svg_terminal(name, w, h) = sprintf("set terminal svg name '%s' size %d,%d dynamic enhanced font 'Helvetica,14' fontscale 1.1 background rgb 'white'", name, w, h)
png_terminal(w, h) = sprintf("set terminal pngcairo size %d,%d enhanced font 'Helvetica,14' fontscale 1.75 linewidth 2 pointscale 2 dashlength 2 background rgb 'white'", 2 * w, 2 * h)
figure_open(name, file, w, h) = (file eq "svg" ? svg_terminal(name, w, h) : png_terminal(w, h)) . sprintf("; set output 'figures/%s.%s'", name, file)
figure_panels(name, file, w, h) = figure_open(name, file, w, h) . "; set multiplot"
figure_end = 'unset multiplot; unset output; reset; load "plots/style.gp"'
# for eval: the headline of a figure and the sentence below it, at heights of the figure
heading(y, headline, below, sentence) = (label_1 = headline, label_2 = sentence, sprintf("set label 1 label_1 at screen 0.02,%.17g font title_font textcolor rgb ink; set label 2 label_2 at screen 0.02,%.17g font label_font textcolor rgb grey", y, below))
# for eval: the sides of a panel, as shares of the figure
panel_x(left, right) = sprintf("set lmargin at screen %.17g; set rmargin at screen %.17g", left, right)
panel_y(low, high) = sprintf("set bmargin at screen %.17g; set tmargin at screen %.17g", low, high)
panel(left, right, low, high) = panel_x(left, right) . "; " . panel_y(low, high)

# For figures with many groups of rows: after `eval figure_groups(csv, "what format mode")`, which reads the CSV once,
# rows("path bfloat16 rne") is the datablock of the rows with these values in these columns, for plot and stats. Without
# such rows it has none. An empty value in the CSV is `-` in a key.
if (!exists("groups")) { groups = "|"; blocks = 0 } # a figure loads this file again after reset
figure_groups(csv, columns) = sprintf("load \"< awk -f plots/groups.awk -v columns='%s' -v blocks=%d '%s'\"", columns, blocks, csv)
# After `eval figure_curves(csv, "least loss,loss")`, which reads the summary beside the CSV, rows("curve q6.10 rne") is
# the datablock with the columns "x", "least loss" and "loss" of the summary's lines for `q6.10 rne 1`, `q6.10 rne 2`, ...
figure_curves(csv, quantities) = sprintf("load \"< awk -f plots/curves.awk -v quantities='%s' -v blocks=%d '%s.summary.csv'\"", quantities, blocks, csv[1:strlen(csv)-4])
place_of(key) = strstrt(groups, "|" . key . "=")
has_rows(key) = place_of(key) > 0
rows(key) = "$rows" . (has_rows(key) ? substr(groups, place_of(key) + strlen(key) + 2, place_of(key) + strlen(key) + 6) : "00000")

# A run with few formats or modes lacks rows of a figure. After `eval measure_all("chosen", "value")`, hits is the number
# of chosen rows of the CSV, and last, least, most and mean are those of their values, or NaN if there are none. STATS_
# variables would be undefined in this case. `eval measure(key, "chosen", "value")` does so with the rows of a group, and
# `eval scan(key, "action")` evaluates an expression for each row of a group.
hits = 0
see(chosen, v) = chosen ? (hits = hits + 1, last = v, most = hits == 1 || v > most ? v : most, least = hits == 1 || v < least ? v : least, total = (hits == 1 ? 0 : total) + v, mean = total / hits, 1) : 0
forget = "hits = 0; last = NaN; least = NaN; most = NaN; total = 0; mean = NaN"
scan(key, action) = has_rows(key) ? sprintf("stats '%s' using (%s) nooutput", rows(key), action) : ""
measure_all(chosen, value) = forget . sprintf("; stats csv using (see(%s, %s)) nooutput", chosen, value)
measure(key, chosen, value) = forget . "; " . scan(key, sprintf("see(%s, %s)", chosen, value))
# the value of an option in the CSV's header lines
option(csv, name) = system(sprintf("sed -n 's/^# %s: //p' %s", name, csv))
# a number that a claim computes, from the summary of the CSV: summary(csv, "stop", "bfloat16 rne plain"); NaN if the
# summary has no such number, or where there is no summary
summary_csv = ""
summary_load(csv) = (summary_csv = csv, summary_text = "\n" . system(sprintf("cat '%s.summary.csv' 2>/dev/null", csv[1:strlen(csv)-4])) . "\n")
summary_value(text) = real(text[1:strstrt(text, "\n")-1])
summary_find(row) = strstrt(summary_text, row) ? summary_value(summary_text[strstrt(summary_text, row)+strlen(row):strlen(summary_text)]) : NaN
summary(csv, quantity, of) = (csv eq summary_csv ? 0 : summary_load(csv), summary_find("\n" . quantity . "," . of . ","))
# for eval: prints why the figure cannot be drawn, draws this sentence as the figure, and ends the script
figure_refuse(name, why) = sprintf("print '%s.gp: %s'; do for [file in figure_files] { eval figure_open('%s', file, 1160, 160); unset border; unset tics; set label 1 '%s: no figure from this run' noenhanced at screen 0.02,0.7 font title_font textcolor rgb ink; set label 2 '%s' at screen 0.02,0.35 font label_font textcolor rgb ink; set xrange [0:1]; set yrange [0:1]; plot -1; unset output }; exit", name, why, name, name, why)

# Whether a CSV can be read: it has rows, all rows have as many fields as the header, and the last line has a line break.
csv_good(csv) = 1 == int(system(sprintf("{ tail -c 1 '%s' | od -An -c; awk -F, '/^#/ {next} {rows++; if (rows == 1) fields = NF; bad += NF != fields} END {print (rows > 1 && !bad)}' '%s'; } 2>/dev/null | awk 'NR == 1 {whole = $1 ~ /n/} END {print (whole && $1 == 1) + 0}'", csv, csv)))
# for eval, before the CSV is read: refuses the figure if the CSV cannot be read
figure_needs(name, csv) = csv_good(csv) ? "" : figure_refuse(name, sprintf("%s is missing or damaged: run build/bin/%s", csv, name))
figure_of(name) = (csv = "results/" . name . ".csv", figure_needs(name, csv))
# the same for a figure that shows nothing without its summary
figure_needs_summary(name, csv) = int(system(sprintf("[ -s '%s.summary.csv' ] && echo 1 || echo 0", csv[1:strlen(csv)-4]))) ? "" : figure_refuse(name, sprintf("%s.summary.csv is missing: run build/bin/%s", csv[1:strlen(csv)-4], name))
figure_of_both(name) = figure_of(name) . "; " . figure_needs_summary(name, csv)

# the colours of Okabe and Ito
black = 0x000000
orange = 0xE69F00
sky = 0x56B4E9
green = 0x009E73
yellow = 0xF0E442
blue = 0x0072B2
red = 0xD55E00
purple = 0xCC79A7
ink = 0x222222
grey = 0x707070
pale = 0xDDDDDD

# a colour mixed with white, and not transparent, so that it looks the same on screen and in print
part(c, shift, share) = int(255 - share * (255 - ((c >> shift) & 255)) + 0.5) << shift
tint(c, share) = part(c, 16, share) | part(c, 8, share) | part(c, 0, share)

# the colours of formats
binary32 = black
binary16 = blue
bfloat16 = red
tf32 = sky
e6m9 = green
e4m3 = orange
e5m2 = purple
fixed = 0x8C6D00

title_font = "Helvetica,19"
panel_font = "Helvetica,14"
label_font = "Helvetica,13"
small_font = "Helvetica,12"

set style fill solid noborder
set border 3 linewidth 1 linecolor rgb grey
set tics nomirror out scale 0.6 textcolor rgb ink font small_font
set grid linetype 1 linewidth 0.6 linecolor rgb pale
set key noautotitle font label_font textcolor rgb ink samplen 1.6 spacing 1.15
set title font panel_font textcolor rgb ink
set xlabel font label_font textcolor rgb ink
set ylabel font label_font textcolor rgb ink
set y2label font label_font textcolor rgb ink
