# mutants.awk - reads the tables tests/proofs/mutants/*.faults: lists the faults, checks that each still applies, or plants one.
#
# Variables: mode=list prints `NAME FILE TESTS`; mode=equal the faults that change no result; mode=check prints a line for each error and then the number of faults;
# mode=plant with name=NAME prints the file with the fault NAME in it; mode=text prints what the tables say of NAME. README.md describes the form of a table.

function complain(text) {
    printf "%s: %s\n", where, text
    errors++
}

# the whole text of a file
function text_of(file,    line, text) {
    if (file in texts) return texts[file]
    text = ""
    while ((getline line < file) > 0) text = text line "\n"
    close(file)
    return texts[file] = text
}

# how often `part` is in `text`
function times(part, text,    n, at) {
    for (n = 0; (at = index(text, part)) > 0; n++) text = substr(text, at + length(part))
    return n
}

# plants the fault that was read; sets `planted`, or complains and returns 0
function plant(    text, before, from, n) {
    text = text_of(file)
    before = ""
    if (text == "") { complain("there is no file '" file "'"); return 0 }
    if (at != "") {
        n = times(at, text)
        if (n != 1) { complain(file " has the place '" at "' " n " times, not once"); return 0 }
        from = index(text, at)
        before = substr(text, 1, from - 1)
        text = substr(text, from)
        # the place ends before the next line that begins with a brace
        n = index(text, "\n}")
        after = n > 0 ? substr(text, n) : ""
        if (n > 0) text = substr(text, 1, n - 1)
    } else after = ""
    n = times(old, text)
    if (n != 1) { complain(file " has the text '" old "' " n " times, not once"); return 0 }
    from = index(text, old)
    planted = before substr(text, 1, from - 1) new substr(text, from + length(old)) after
    return 1
}

# the end of a fault
function finish() {
    if (current == "") return
    where = current
    if (current in seen) complain("two faults have this name")
    seen[current] = 1
    if (fault == "" || file == "" || tests == "" || !olds || !news) complain("it needs a sentence and lines file, tests, - and +")
    else if (old == new) complain("the text does not change")
    else if (mode == "list") print current, file, tests
    else if (mode == "equal") { if (equal != "") print current ": " equal }
    else if (mode == "check") plant()
    else if (mode == "plant" && current == name) { found = 1; if (plant()) printf "%s", planted }
    count++
    current = ""
}

FNR == 1 { finish(); file = "" }
/^#/ || /^$/ { next }
mode == "text" {
    if ($1 == "file") place = $0
    if ($1 == "file" || $1 == "mutant") inside = $2 == name ":"
    if (inside) print $1 == "mutant" ? place "\n" $0 : $0
    next
}
{ key = $1; value = $0; sub(/^[^ ]+ ?/, "", value) }
key == "mutant" {
    finish()
    current = value
    sub(/:.*/, "", current)
    fault = substr(value, length(current) + 3)
    tests = at = equal = old = new = ""
    olds = news = 0
    next
}
key == "file" { finish(); file = value; next }
key == "tests" { tests = value; next }
key == "at" { at = value; next }
key == "equal" { equal = value; next }
key == "-" { old = olds++ ? old "\n" value : value; next }
key == "+" { new = news++ ? new "\n" value : value; next }
{ where = FILENAME ":" FNR; complain("no line begins with '" key "'") }
END {
    finish()
    if (mode == "check") print count " faults"
    if (mode == "plant" && !found) { where = name; complain("there is no such fault") }
    exit errors > 0
}
