#!/bin/sh
# gallery.sh - writes figures/index.html, one file with every figure, its caption, its claims and its data.
#
# Run from the project's root. For each plots/NAME.gp the page takes
#   plots/NAME.txt            `group: QUESTION`, `order: N`, other fields, an empty line, and the caption in paragraphs
#                             (`data: OTHER`: the figure is drawn from the results of OTHER)
#   figures/NAME.svg          the drawing
#   results/NAME.claims.tsv   a header row, then the columns kind, text, here, published, source. The kind is PASS, FAIL,
#                             SKIP, published, or run; the row of kind run has the command in the column here.
# The figures of a group stand together under the question of the group; the group with the least order comes first. The
# page shows the experiments that have a figure or results and the experiments in EXPERIMENTS (environment), and names
# missing parts. Below them stand the notebooks of python/examples with their questions, and links to their pages
# figures/notebooks/NAME.html. The page needs no network and no other file, except that its links to the CSV, the PNG and
# the notebooks are relative.
set -e
mkdir -p figures
out=figures/index.html
fresh=$out.tmp
trap 'rm -f "$fresh"' EXIT

. plots/captions.sh

# the paragraphs of plots/NAME.txt, each on a line of its own
paragraphs() { [ ! -f "plots/$1.txt" ] || awk -v RS= 'NR > 1 { gsub(/[ \n]+/, " "); sub(/ $/, ""); print }' "plots/$1.txt"; }
caption() { paragraphs "$1" | escape | raised | sed 's/.*/<p>&<\/p>/'; }

shown() { listed "$1" || [ -f "results/$1.csv" ] || [ -f "figures/$1.svg" ]; }

group() {
    g=$(field "$1" group)
    echo "${g:-More}"
}

# the claims, the published numbers and the command of a run as HTML
claims() {
    awk -F '\t' '
    function html(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); return s }
    FNR == 1 { next }
    { for (i = 1; i <= NF; i++) $i = html($i) }
    $1 == "published" {
        beside = beside "<tr><td>" $2 "</td><td>" $4 "</td><td>" $3 "</td><td>" $5 "</td></tr>\n"
        next
    }
    $1 == "run" { command = $3; next }
    {
        count[$1]++
        list = list "<li><b class=\"" tolower($1) "\">" $1 "</b> " $2 ($3 == "" ? "" : " <span>" $3 "</span>") "</li>\n"
    }
    END {
        if (beside != "")
            printf "<table>\n<tr><th>quantity</th><th>published</th><th>here</th><th>source</th></tr>\n%s</table>\n", beside
        total = count["PASS"] + count["FAIL"]
        if (total + count["SKIP"] > 0) {
            good = count["FAIL"] == 0
            printf "<details%s><summary><b class=\"%s\">%s</b> %d of %d claims hold%s</summary>\n<ul>\n%s</ul></details>\n",
                ((good && total > 6) ? "" : " open"), (good ? "pass" : "fail"), (good ? "PASS" : "FAIL"), count["PASS"], total,
                (count["SKIP"] ? sprintf(", %d not tested", count["SKIP"]) : ""), list
        }
        if (command != "") printf "<pre>%s</pre>\n", command
    }' "results/$1.claims.tsv"
}

figure() {
    name=$1
    data=$(field "$name" data)
    data=${data:-$name}
    printf '<section id="%s">\n<h3>%s' "$name" "$name"
    quick "$name" && printf ' <span class="quick">quick run: less data than the default</span>'
    printf '</h3>\n'
    printf '<figure>\n'
    if [ -f "figures/$name.svg" ]; then
        printf '<div class="drawing" role="img" aria-label="figure %s">\n' "$name"
        sed -n '/<svg/,$p' "figures/$name.svg" | grep -v '^<title>'
        printf '</div>\n'
    else
        printf '<p class="missing">No figure yet: <code>make figures/%s.svg</code> draws it.</p>\n' "$name"
    fi
    printf '<figcaption>\n%s\n</figcaption>\n</figure>\n' "$(caption "$name")"
    if [ -f "results/$data.claims.tsv" ]; then claims "$data"
    elif [ ! -f "results/$data.csv" ]; then printf '<p class="missing">No results yet: <code>build/bin/%s</code> computes them.</p>\n' "$data"; fi
    printf '<p class="links">'
    if [ -f "results/$data.csv" ]; then printf '<a href="../results/%s.csv">CSV</a> ' "$data"; else printf '<span class="missing">no CSV</span> '; fi
    [ -f "results/$data.run.json" ] && printf '<a href="../results/%s.run.json">record of the run</a> ' "$data"
    [ -f "figures/$name.png" ] && printf '<a href="%s.png">PNG</a> ' "$name"
    [ -f "figures/$name.svg" ] && printf '<a href="%s.svg">SVG</a>' "$name"
    printf '</p>\n</section>\n'
}

# the title and the question of a notebook stand in lines of their own in its first cell
title() { sed -n 's/^ *"# \(.*\)\\n",$/\1/p' "$1" | sed -n 1p | escape; }
question() { sed -n 's/^ *"\*\*Question\.\*\* \(.*\)\\n",$/\1/p' "$1" | sed -n 1p | escape; }
notebooks() {
    printf '<section id="notebooks">\n<h3>notebooks</h3>\n<table>\n'
    for notebook in python/examples/*.ipynb; do
        name=$(basename "$notebook" .ipynb)
        link=$(title "$notebook")
        if [ -f "figures/notebooks/$name.html" ]; then link="<a href=\"notebooks/$name.html\">$link</a>"; fi
        printf '<tr><td>%s</td><td>%s</td><td><code>%s</code></td></tr>\n' "$link" "$(question "$notebook")" "$notebook"
        [ -f "figures/notebooks/$name.html" ] || lacking=yes
    done
    printf '</table>\n'
    if [ -n "$lacking" ]; then printf '<p class="missing">A title without a link has no page yet: <code>make notebooks</code> writes it.</p>\n'; fi
    printf '</section>\n'
}
[ -f python/examples/rounding.ipynb ] && with_notebooks=yes || with_notebooks=

names=$(ordered shown)

{
    cat <<'HEAD'
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>ulplab: figures</title>
<style>
:root { --paper: #f6f6f4; --card: #fff; --ink: #222; --soft: #666; --rule: #ddd; --good: #00734f; --bad: #b03a00; --link: #005a96; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0f0f0f; --card: #1d1d1d; --ink: #e4e4e4; --soft: #a0a0a0; --rule: #333; --good: #4cc9a0; --bad: #ff8a50; --link: #7cc4f2; }
  .drawing svg { filter: invert(0.91) hue-rotate(180deg) brightness(1.25); }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem clamp(0.75rem, 3vw, 2.5rem) 4rem; max-width: 78rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, "Helvetica Neue", Helvetica, Arial, sans-serif; }
h1 { font-size: 1.7rem; margin: 0; font-weight: 600; }
h2 { font-size: 1.4rem; margin: 2.5rem 0 1rem; font-weight: 600; }
h3 { font-size: 1.2rem; margin: 0; font-weight: 600; }
nav { margin: 0.75rem 0 0; }
nav p { margin: 0.25rem 0; display: flex; flex-wrap: wrap; gap: 0.1rem 1.1rem; }
nav span { flex-basis: 24rem; }
table { border-collapse: collapse; margin: 0.8rem 0; font-size: 0.92rem; display: block; overflow-x: auto; }
th, td { text-align: left; padding: 0.15rem 1.2rem 0.15rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; color: var(--soft); }
a { color: var(--link); }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: clamp(0.8rem, 2.5vw, 2rem); margin: 0 0 2rem; }
figure { margin: 1rem 0; }
.drawing { overflow-x: auto; }
.drawing svg text { font-family: Helvetica, Arial, "Liberation Sans", sans-serif; }
.drawing svg { display: block; width: 100%; min-width: 34rem; height: auto; }
figcaption { margin-top: 0.75rem; max-width: 62rem; }
figcaption p { margin: 0.5rem 0; }
summary { cursor: pointer; }
ul { list-style: none; margin: 0.5rem 0; padding: 0; }
li { margin: 0.35rem 0; padding-left: 3.6rem; text-indent: -3.6rem; }
li span { color: var(--soft); }
b.pass, b.fail, b.skip { display: inline-block; width: 3.1rem; margin-right: 0.5rem; border-radius: 4px; font-size: 0.72rem; line-height: 1.5; letter-spacing: 0.04em;
  text-align: center; text-indent: 0; border: 1px solid; }
b.pass { color: var(--good); }
b.fail { color: var(--card); background: var(--bad); border-color: var(--bad); }
b.skip { color: var(--soft); }
pre { overflow-x: auto; margin: 1rem 0 0.3rem; padding: 0.6rem 0.8rem; background: var(--paper); border-radius: 6px; font-size: 0.86rem; }
.links { margin: 0.3rem 0 0; color: var(--soft); font-size: 0.86rem; }
.links a { margin-right: 0.8rem; }
.quick { margin-left: 0.6rem; padding: 0.1rem 0.5rem; border: 1px solid; border-radius: 4px; color: var(--bad); font-size: 0.8rem; font-weight: 400; }
.missing { color: var(--bad); }
@media print { body { max-width: none; } section { break-inside: avoid; border: 0; } details > * { display: block; } }
</style>
</head>
<body>
<h1>ulplab: figures</h1>
<nav>
HEAD
    # the questions, one per line, in the order of their first figures; the figures of a question keep their order
    groups=$(for name in $names; do group "$name"; done | awk '!seen[$0]++')
    of_group() { for name in $names; do if [ "$(group "$name")" = "$1" ]; then echo "$name"; fi; done; }
    echo "$groups" | while IFS= read -r question; do
        printf '<p><span>%s</span>' "$(printf '%s' "$question" | escape)"
        for name in $(of_group "$question"); do printf ' <a href="#%s">%s</a>' "$name" "$name"; done
        printf '</p>\n'
    done
    if [ -n "$with_notebooks" ]; then printf '<p><span>How do I compute this in Python?</span> <a href="#notebooks">notebooks</a></p>\n'; fi
    printf '</nav>\n'
    echo "$groups" | while IFS= read -r question; do
        printf '<h2>%s</h2>\n' "$(printf '%s' "$question" | escape)"
        for name in $(of_group "$question"); do figure "$name"; done
    done
    if [ -n "$with_notebooks" ]; then printf '<h2>How do I compute this in Python?</h2>\n' && notebooks; fi
    printf '</body>\n</html>\n'
} >"$fresh"
mv "$fresh" "$out"
echo "$out"
