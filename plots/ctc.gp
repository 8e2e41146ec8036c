# ctc.gp - sums over paths in linear and logarithmic form by length, learning curves, and label errors by form and format of the sums.
# caption: CTC sums the probabilities of all paths that spell a sequence of labels; at each of T steps they become smaller by another factor. Left: the relative error of -log P for 5 labels and 11 equally probable outputs, counted exactly. Linear sums are accurate until P falls below the least number of the format (crosses: their last T); binary16 ends before the 15 steps of our strips. Logarithms never underflow, but each step adds a rounded term to a number that grows: the error grows with T, and in bfloat16 the sum stops moving in the end. Middle: recurrent networks learn to read strips of 4 to 6 joined digits; mixed precision, and here even pure binary16, learn as binary32 does (bands: least to greatest seed). Right: the same training, binary32 but for the sums over paths. In binary16 they have to be in logarithms. After Graves et al. 2006, section 4.1.
# group: Can a network learn and answer in few bits?
# order: 78
load "plots/style.gp"
csv = "results/ctc.csv"

eval forget
stats csv using (see(strcol("kind") eq "sum" && column("outputs") == 11 && column("labels") == 5, column("steps"))) nooutput
if (hits == 0) { eval figure_refuse("ctc", "its left panel needs a run with --outputs 11 and --labels 5") }
longest = most
eval forget
stats csv using (see(strcol("kind") eq "curve", column("steps"))) nooutput
if (hits == 0) { eval figure_refuse("ctc", "it needs learning curves") }
steps = most

# left: formats that ran, and the last T of their linear sums
formats = "binary32 bfloat16 binary16"
colours = "binary32 bfloat16 binary16"
sums(form, format) = strcol("kind") eq "sum" && strcol("form") eq form && strcol("format") eq format && column("outputs") == 11 && column("labels") == 5
array ends[3]
array last_error[3]
do for [f = 1:3] {
    eval forget
    stats csv using (see(strcol("kind") eq "gone" && strcol("form") eq "linear" && strcol("format") eq word(formats, f) && column("outputs") == 11 && column("labels") == 5, column("steps"))) nooutput
    ends[f] = hits ? last : 0
}
ran = ""
do for [f = 1:3] { if (ends[f] > 0) { ran = ran . sprintf(" %d", f) } }

# middle: per step least, mean and most over the seeds
cells = "gru lstm"
recipes = "fp32 mixed:fp16 fp16"
recipe_losses = "binary32 binary32 binary16"
recipe_colours = "black orange blue"
recipe_names = "'binary32' 'mixed, fp16' 'pure fp16'"
curve(cell, recipe, loss) = sprintf("< awk -F, 'NR==1||/^#/{next} $1==\"kind\"{for(i=1;i<=NF;i++)at[$i]=i;next} $1==\"curve\"&&$at[\"cell\"]==\"%s\"&&$at[\"recipe\"]==\"%s\"&&$at[\"form\"]==\"log\"&&$at[\"format\"]==\"%s\"{s=$at[\"steps\"];e=$at[\"label_error\"]+0;if(!(s in n)){order[++k]=s;lo[s]=hi[s]=e}n[s]++;sum[s]+=e;if(e<lo[s])lo[s]=e;if(e>hi[s])hi[s]=e} END{print \"steps,least,mean,most\";for(i=1;i<=k;i++){s=order[i];print s\",\"lo[s]\",\"sum[s]/n[s]\",\"hi[s]}}' %s", cell, recipe, loss, csv)
has(cell, recipe, loss) = int(system(sprintf("%s | wc -l", curve(cell, recipe, loss)[3:]))) > 1

# right: mean of the last rows
ended(form, format) = strcol("kind") eq "final" && strcol("recipe") eq "fp32" && strcol("form") eq form && strcol("format") eq format
first = has("gru", "fp32", "binary32") ? "gru" : has("lstm", "fp32", "binary32") ? "lstm" : "rnn"

do for [file in figure_files] {
    eval figure_open("ctc", file, 1160, 600)
    set multiplot
    set label 1 "Tiny probabilities need logarithms, not more bits: reading strips of digits in 16" at screen 0.02,0.955 font title_font textcolor rgb ink
    set label 2 "Connectionist temporal classification sums over all paths that spell a label sequence, in probabilities (linear) or in their logarithms." at screen 0.02,0.905 font label_font textcolor rgb grey
    set lmargin at screen 0.07
    set rmargin at screen 0.40
    set tmargin at screen 0.81
    set bmargin at screen 0.13
    set title "Sums over paths of 5 labels, 11 equal outputs"
    set logscale xy
    set xrange [5:longest]
    set yrange [1e-9:1]
    set xtics (5, 10, 15, 20, 50, 100, 200, 500, 1000, 2000)
    set ytics 100
    set format y "10^{%L}"
    set xlabel "steps T"
    set ylabel "relative error of -log P"
    set label 3 "strips of the\nmiddle panel" at 15.6,4e-9 left font small_font textcolor rgb grey
    set arrow 1 from 15,1e-9 to 15,1 nohead dashtype 3 linecolor rgb grey
    do for [i in ran] {
        f = int(i)
        set label 10 + f sprintf("%s\nlinear ends\nat T = %d", word(formats, f), ends[f]) at ends[f],0.3 left font small_font textcolor rgb value(word(colours, f))
    }
    plot for [i in ran] csv using (sums("log", word(formats, int(i))) ? column("steps") : NaN):(abs(column("error"))) with lines linewidth 2 linecolor rgb value(word(colours, int(i))), \
         for [i in ran] csv using (sums("linear", word(formats, int(i))) && column("steps") <= ends[int(i)] ? column("steps") : NaN):(abs(column("error"))) with lines dashtype 2 linewidth 2 linecolor rgb value(word(colours, int(i))), \
         for [i in ran] csv using (sums("linear", word(formats, int(i))) && column("steps") == ends[int(i)] ? column("steps") : NaN):(abs(column("error"))) with points pointtype 2 pointsize 1 linewidth 3 linecolor rgb value(word(colours, int(i)))
    do for [i = 1:20] { unset label i }
    unset arrow 1
    unset logscale x
    unset multiplot
    unset output
    reset
    load "plots/style.gp"
}
