# print.awk - turns a page of the course from Markdown to HTML that prints on one sheet of A4 or letter paper.
#
# It knows what the pages use: headings, paragraphs, lists, tables, code, images, links, **bold**, *italics* and `code`.

# Replace each MARK...MARK by LEFT...RIGHT.
function pairs(text, mark, left, right,    out, from, to, n) {
    n = length(mark)
    while ((from = index(text, mark)) && (to = index(substr(text, from + n), mark)) > 1) {
        out = out substr(text, 1, from - 1) left substr(text, from + n, to - 1) right
        text = substr(text, from + n + to - 1 + n)
    }
    return out text
}
# Replace each [text](address), and with a ! before it each image.
function links(text,    out, label, address, image) {
    while (match(text, /!?\[[^]]*\]\([^)]*\)/)) {
        label = substr(text, RSTART, RLENGTH)
        image = label ~ /^!/
        address = label
        sub(/^!?\[[^]]*\]\(/, "", address)
        sub(/\)$/, "", address)
        sub(/^!?\[/, "", label)
        sub(/\]\(.*$/, "", label)
        if (!image) sub(/\.md$/, ".html", address)
        out = out substr(text, 1, RSTART - 1) (image ? "<img src=\"" address "\" alt=\"" label "\">" : "<a href=\"" address "\">" label "</a>")
        text = substr(text, RSTART + RLENGTH)
    }
    return out text
}
function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}
# Mark up a text; what stands between ` and ` stays as it is.
function inline(text,    part, n, i, out) {
    n = split(escaped(text), part, "`")
    for (i = 1; i <= n; i++) {
        if (i % 2 == 0) out = out "\001" i "\001"
        else out = out part[i]
    }
    out = pairs(pairs(links(out), "**", "<b>", "</b>"), "*", "<i>", "</i>")
    for (i = 2; i <= n; i += 2) {
        gsub(/&/, "\\\\&", part[i])
        sub("\001" i "\001", "<code>" part[i] "</code>", out)
    }
    return out
}
# Print the paragraph or the list item that is being read.
function finish() {
    if (held == "") return
    if (item == "") print "<p>" inline(held) "</p>"
    else if (item == "*") print "<ul><li>" inline(held) "</ul>"
    else print "<ol start=\"" item + 0 "\"><li>" inline(held) "</ol>"
    held = item = ""
}
function row(text,    cell, n, i, out) {
    gsub(/^\| *| *\|$/, "", text)
    n = split(text, cell, / *\| */)
    for (i = 1; i <= n; i++) out = out "<td>" inline(cell[i])
    print "<tr>" out
}

BEGIN {
    print "<!DOCTYPE html><meta charset=\"utf-8\"><style>" \
        "@page { size: auto; margin: 10mm 14mm } body { font: 9.4pt/1.28 Georgia, serif; max-width: 182mm; margin: auto }" \
        "h1 { font-size: 15pt; margin: 0 0 4pt } h2 { font-size: 11pt; margin: 7pt 0 2pt }" \
        "p, ul, ol, pre, table { margin: 3pt 0 } pre { background: #eee; padding: 3pt; font-size: 7.8pt; white-space: pre-wrap }" \
        "img { width: 62%; display: block; margin: auto } td { border: 1px solid #aaa; padding: 0 5pt }" \
        "table { border-collapse: collapse; font-size: 8.6pt }</style>"
}
/^```/ { finish(); code = !code; print code ? "<pre>" : "</pre>"; next }
code { print escaped($0); next }
/^\|/ { finish(); if (!table) print "<table>"; table = 1; if ($0 !~ /^\|[-|]*$/) row($0); next }
table { print "</table>"; table = 0 }
/^#/ { finish(); level = index($0, " ") - 1; sub(/^#+ /, ""); if (level == 1) print "<title>" escaped($0) "</title>"; print "<h" level ">" inline($0) "</h" level ">"; next }
/^$/ { finish(); next }
/^(\*|[0-9]+\.) / { finish(); item = $1; sub(/^[^ ]* /, "") }
{ sub(/^ +/, ""); held = held == "" ? $0 : held " " $0 }
END { finish(); if (table) print "</table>" }
