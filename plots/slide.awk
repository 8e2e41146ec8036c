# slide.awk - writes one slide, an SVG of 1280 x 720: the drawing of figures/NAME.svg, its claim as headline, and the credit.
#
#     NAME=... CLAIM=... ALOUD=... NOTE=... awk -f plots/slide.awk figures/NAME.svg
# The claim stands above the drawing or at its side; the drawing is larger in the layout that is chosen. NOTE is empty or
# a warning that stands beside the credit. The ids of the drawing get the prefix NAME-, so that a page can hold many slides.
BEGIN {
    name = ENVIRON["NAME"]
    claim = ENVIRON["CLAIM"]
    note = ENVIRON["NOTE"]
    width = 1280
    height = 720
    margin = 20
    column = 270 # the least width of a claim at the side
    least = 30   # the least size of the claim's letters
    small = 18   # the size of the credit's letters
}

function escaped(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); return s }
function min(a, b) { return a < b ? a : b }

# the width of a text in bold Helvetica of size 1, a little more than less
function extent(s,    i, c, sum) {
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        sum += c == "^" ? 0 : c ~ /[ijl.,:;' ]/ ? 0.3 : c ~ /[frt()-]/ ? 0.37 : c ~ /[mwMW%]/ ? 0.9 : c ~ /[A-Z]/ ? 0.74 : 0.61
    }
    return sum
}

# breaks the claim into lines[1 ... n] of at most this width and returns n; a word that is too wide gives n = 99
function broken(size, room,    word, words, i, n) {
    words = split(claim, word, / +/)
    n = 0
    for (i = 1; i <= words; i++) {
        if (i < words && word[i + 1] ~ /^%/) { # `5 %` stays on one line
            word[i + 1] = word[i] " " word[i + 1]
            continue
        }
        if (extent(word[i]) * size > room) return 99
        if (n > 0 && extent(lines[n] " " word[i]) * size <= room) lines[n] = lines[n] " " word[i]
        else lines[++n] = word[i]
    }
    return n
}

# a line of the claim, with x^2, x^-r and x^(p+1) as superscripts
function raised(s,    out, exponent, back) {
    while (match(s, /\^(\([^()]*\)|-?[0-9]+|-?[a-z]+)/)) {
        exponent = substr(s, RSTART + 1, RLENGTH - 1)
        gsub(/[()]/, "", exponent)
        out = out shifted(substr(s, 1, RSTART - 1), back) "<tspan dy=\"-0.5em\" font-size=\"70%\">" escaped(exponent) "</tspan>"
        s = substr(s, RSTART + RLENGTH)
        back = 1
    }
    return out shifted(s, back)
}
function shifted(s, back) { return back && s != "" ? "<tspan dy=\"0.35em\">" escaped(s) "</tspan>" : escaped(s) }

function put(x, y, size, colour, extra, s) {
    printf "<text xml:space=\"preserve\" x=\"%d\" y=\"%d\" font-size=\"%d\" fill=\"%s\"%s>%s</text>\n", x, y, size, colour, extra, s
}

# places the drawing of w x h and writes all that stands before it
function begin_slide(w, h,    n, size, top_scale, side_scale, x, y, across, scale, i, leading) {
    for (size = 40; size > least && broken(size, width - 2 * margin) > 2; size--) {}
    n = broken(size, width - 2 * margin)
    leading = 1.2
    y = margin + n * leading * size + 6
    top_scale = min((width - 2 * margin) / w, (height - 2 * small - 12 - y) / h)
    side_scale = min((width - 3 * margin - column) / w, (height - 2 * margin) / h)
    on_top = top_scale >= side_scale
    scale = on_top ? top_scale : side_scale
    if (on_top) {
        x = (width - scale * w) / 2
        across = width - 2 * margin
    } else {
        x = width - margin - scale * w
        y = (height - scale * h) / 2
        across = x - 2 * margin
        for (size = 40; size > least && (n = broken(size, across)) * leading * size > height - 10 * small; size--) {}
        n = broken(size, across)
    }
    printf "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\""
    printf " viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-labelledby=\"%s-claim\">\n", width, height, width, height, name
    printf "<title id=\"%s-claim\">%s</title>\n<desc>%s</desc>\n", name, escaped(claim), escaped(ENVIRON["ALOUD"])
    printf "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n<g font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n", width, height
    for (i = 1; i <= n; i++)
        put(margin, margin + (leading * (i - 1) + 0.9) * size, size, "#222222", " font-weight=\"bold\"", raised(lines[i]))
    credits()
    printf "</g>\n<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" viewBox=\"0 0 %s %s\" overflow=\"visible\">\n", x, y, scale * w, scale * h, w, h
}

# the credit below the drawing, or below the claim at the side
function credits(    i, rows, part) {
    if (on_top) {
        put(margin, height - 14, small, "#666666", "", name)
        if (note != "") put(width / 2, height - 14, small, "#b03a00", " text-anchor=\"middle\"", escaped(note))
        put(width - margin, height - 14, small, "#666666", " text-anchor=\"end\"", "ulplab, CC BY 4.0")
        return
    }
    rows = split(note, part, /: /) # the first row ends with the colon
    for (i = 1; i <= rows; i++)
        put(margin, height - 14 - 1.4 * (rows - i + 2) * small, small, "#b03a00", "", escaped(part[i]) (i < rows ? ":" : ""))
    put(margin, height - 14 - 1.4 * small, small, "#666666", "", name)
    put(margin, height - 14, small, "#666666", "", "ulplab, CC BY 4.0")
}

!begun {
    if ($0 ~ /^ *viewBox="/) split($0, box, /[" ]+/)
    if ($0 ~ /^>/) {
        for (i = 1; i in box; i++) if (box[i] == "viewBox=") break
        begin_slide(box[i + 3], box[i + 4])
        begun = 1
    }
    next
}
/^<(title|desc)>/ { next }
/^<\/svg>/ { ended = 1 }
{
    gsub(/<use [^>]*scale\(0\.00\)[^>]*>/, "") # librsvg draws no figure that has a point of size 0
    if (/id=|href=|url\(/) {
        gsub(/ id='/, "&" name "-")
        gsub(/ id="/, "&" name "-")
        gsub(/href='#/, "&" name "-")
        gsub(/href="#/, "&" name "-")
        gsub(/url\(#/, "&" name "-")
    }
    print
}
END {
    if (ended) print "</svg>"
    exit !ended
}
