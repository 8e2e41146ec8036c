# groups.awk - writes a CSV as a gnuplot script in which the rows of each group are a datablock.
#
# awk -f plots/groups.awk -v columns="what format" -v blocks=0 results/NAME.csv
# A group is a combination of values in these columns. Its datablock has the header and the rows of the group. The
# string `groups` gets the key of the group, which is its values with spaces between them, and the number of the
# datablock. An empty value is `-` in a key. Numbers continue after `blocks`; $rows00000 has the header alone.
BEGIN { FS = ","; parts = split(columns, part, " ") }
/^#/ { next }
!rows++ { header = $0; for (i = 1; i <= NF; i++) place[$i] = i; next }
{
    key = ""
    for (i = 1; i <= parts; i++) {
        value = $place[part[i]]
        key = key (i > 1 ? " " : "") (value == "" ? "-" : value)
    }
    line[rows] = $0
    if (key in number) after[last[key]] = rows
    else {
        number[key] = ++count
        name[count] = key
        first[count] = rows
    }
    last[key] = rows
}
END {
    printf "$rows00000 << EOF\n%s\nEOF\n", header
    for (i = 1; i <= count; i++) {
        printf "$rows%05d << EOF\n%s\n", blocks + i, header
        for (r = first[i]; r; r = after[r]) print line[r]
        printf "EOF\ngroups = groups . \"%s=%05d|\"\n", name[i], blocks + i
    }
    printf "blocks = %d\n", blocks + count
}
