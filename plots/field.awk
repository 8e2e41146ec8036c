# field.awk - prints one field of the head of plots/NAME.txt: awk -v key=claim -f plots/field.awk plots/NAME.txt
#
# The head ends at the first empty line. A field is a line `KEY: VALUE`; lines that begin with two spaces continue it.
/^$/ { exit }
/^  / {
    if (found) { sub(/^ +/, ""); value = value " " $0 }
    next
}
{ found = 0 }
index($0, key ":") == 1 {
    found = 1
    value = substr($0, length(key) + 2)
    sub(/^ +/, "", value)
}
END { if (value != "") print value }
