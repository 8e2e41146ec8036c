# curves.awk - writes the curves of a summary as a gnuplot script in which each curve is a datablock.
#
# awk -f plots/curves.awk -v quantities="least loss,loss" -v blocks=0 results/NAME.summary.csv
# The words of a line are the key of its curve and, last, the horizontal position x. A datablock has the columns x and
# the quantities. The string `groups` gets `curve`, the key, and the number of the datablock, as in groups.awk.
BEGIN {
    FS = ","
    columns = split(quantities, name, ",")
    for (i = 1; i <= columns; i++) column[name[i]] = i
}
$1 in column {
    words = split($2, word, " ")
    x = word[words]
    key = substr($2, 1, length($2) - length(x) - 1)
    if (!(key in number)) { number[key] = ++curves; curve[curves] = key }
    if (!((key, x) in value)) point[key, ++points[key]] = x
    value[key, x] = 1
    value[key, x, column[$1]] = $3
}
END {
    if (!blocks) printf "$rows00000 << EOF\nx,%s\nEOF\n", quantities
    for (c = 1; c <= curves; c++) {
        key = curve[c]
        printf "$rows%05d << EOF\nx,%s\n", blocks + c, quantities
        for (p = 1; p <= points[key]; p++) {
            printf "%s", point[key, p]
            for (i = 1; i <= columns; i++) printf ",%s", value[key, point[key, p], i]
            print ""
        }
        printf "EOF\ngroups = groups . \"curve %s=%05d|\"\n", key, blocks + c
    }
    printf "blocks = %d\n", blocks + curves
}
