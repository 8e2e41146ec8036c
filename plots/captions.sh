# captions.sh - for gallery.sh and slides.sh: the text of a figure, plots/NAME.txt, and the command of its run.
#
# The head of plots/NAME.txt has the fields group, order, claim and aloud (field.awk); after an empty line comes the caption.
# Read this file with `.` in the project's root.

escape() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'; }

# exponents (x^2, x^-r, x^(p+1), x^((1-p)/2), x^-(r+1)) become superscripts, without parentheses around the whole exponent
raised() { sed -E 's/\^\((([^()]|\([^()]*\))*)\)/<sup>\1<\/sup>/g; s/\^(-?([0-9]+|[a-z]+|\([^()]*\)))/<sup>\1<\/sup>/g'; }

# $(field NAME KEY): the value of a field of plots/NAME.txt
field() { [ ! -f "plots/$1.txt" ] || awk -v key="$2" -f plots/field.awk "plots/$1.txt"; }

listed() { case " $EXPERIMENTS " in *" $1 "*) true ;; *) false ;; esac; }
quick() { [ -f "results/$1.claims.tsv" ] && awk -F '\t' '$1 == "run" && ($3 " ") ~ / --quick / { q = 1 } END { exit !q }' "results/$1.claims.tsv"; }

# the order of an experiment on the page: 50 without an order line, 90 if it is not in EXPERIMENTS
order() {
    n=$(field "$1" order)
    if [ -z "$EXPERIMENTS" ] || listed "$1"; then echo "${n:-50}"; else echo "${n:-90}"; fi
}

# the names of plots/*.gp for which a command succeeds, in their order: $(ordered COMMAND)
ordered() {
    for plot in plots/*.gp; do
        name=$(basename "$plot" .gp)
        if [ "$name" != style ] && "$1" "$name"; then echo "$(order "$name") $name"; fi
    done | sort -k1,1n -k2 | sed 's/.* //'
}
