#!/bin/sh
# slides.sh - writes figures/slides/NAME.svg, a slide of each figure, and figures/slides/index.html, a page that shows the slides.
#
# Run from the project's root. A slide holds the drawing figures/NAME.svg and the claim of plots/NAME.txt; the text to read
# aloud of plots/NAME.txt is its description (slide.awk). EXPERIMENTS (environment) names the figures; without EXPERIMENTS
# the script takes every figure that is there and has a claim. Figures of measured speed have no claim. The page holds all
# slides and needs no network and no other file. The licence of the slides is in plots/LICENSE.
set -e
folder=figures/slides
fresh=$folder/index.html.tmp
trap 'rm -f "$fresh" "$folder"/*.svg.tmp' EXIT

. plots/captions.sh

has_claim() { [ -n "$(field "$1" claim)" ]; }
shown() { if [ -n "$EXPERIMENTS" ]; then listed "$1"; else [ -f "figures/$1.svg" ] && has_claim "$1"; fi; }
names=$(ordered shown)

missing=0
refuse() {
    echo "$1" >&2
    missing=1
}
for name in $names; do
    [ -s "figures/$name.svg" ] || refuse "figures/$name.svg is missing: run make figures or make figures-quick"
    has_claim "$name" && [ -n "$(field "$name" aloud)" ] || refuse "plots/$name.txt needs a line with claim: and a line with aloud:"
done
[ -n "$names" ] || refuse "there are no figures: run make figures or make figures-quick"
[ $missing -eq 0 ] || exit 2

mkdir -p "$folder"
for name in $names; do
    note=
    if quick "$name"; then note='quick run: less data than the default'; fi
    NAME=$name CLAIM=$(field "$name" claim) ALOUD=$(field "$name" aloud) NOTE=$note awk -f plots/slide.awk "figures/$name.svg" >"$folder/$name.svg.tmp" || {
        echo "figures/$name.svg is no drawing of gnuplot, or it is cut off: delete it and run make figures" >&2
        exit 2
    }
    mv "$folder/$name.svg.tmp" "$folder/$name.svg"
done

{
    cat <<'HEAD'
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ulplab: slides</title>
<style>
* { box-sizing: border-box; }
:root { color-scheme: dark; }
body { margin: 0; background: #111; color: #ddd; font: 1.05rem/1.5 system-ui, Helvetica, Arial, "Liberation Sans", sans-serif; }
.slide { margin: 0 auto 2rem; padding: 0; width: min(100vw, 177.78vh); }
.slide > svg { display: block; width: 100%; height: auto; }
.slide p { margin: 0 auto; padding: 0.7rem 1rem; max-width: 62rem; font-size: 1.25rem; }
.shows .slide { display: none; margin-bottom: 0; }
.shows .slide.current { display: block; }
.shows .slide p { display: none; }
.shows.notes .slide p { display: block; }
.shows.notes .slide { width: min(100vw, 125vh); }
#stage { min-height: 100vh; display: flex; flex-direction: column; justify-content: center; position: relative; }
#bar { display: none; position: fixed; right: 0.6rem; bottom: 0.6rem; gap: 0.4rem; opacity: 0; }
#bar:hover, #bar:focus-within { opacity: 1; }
@media (hover: none) { #bar { opacity: 0.6; } }
.shows #bar { display: flex; }
button { font: inherit; padding: 0.2rem 0.8rem; border: 1px solid #888; border-radius: 6px; background: #222; color: #eee; cursor: pointer; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
main { margin: 0 auto; padding: 1rem; max-width: 62rem; }
main li { margin: 1rem 0; }
main p { margin: 0.2rem 0; }
a { color: #7cc4f2; }
kbd { padding: 0 0.4rem; border: 1px solid #888; border-radius: 4px; }
@page { size: 297mm 210mm; margin: 10mm; }
@media print {
  :root { color-scheme: light; }
  body { background: #fff; color: #000; }
  #stage { display: block; min-height: 0; }
  .slide, .shows .slide, .shows.notes .slide { display: block; width: 100%; margin: 0; break-inside: avoid; }
  .slide + .slide { break-before: page; }
  .slide p, .shows .slide p { display: block; font-size: 12pt; }
  main, .unseen, #bar, .shows #bar { display: none; }
}
</style>
</head>
<body>
<div id="stage" role="region" aria-label="slides">
HEAD
    for name in $names; do
        printf '<div class="slide" id="%s">\n' "$name"
        sed 1d "$folder/$name.svg"
        printf '<p>%s</p>\n</div>\n' "$(field "$name" aloud | escape | raised)"
    done
    cat <<'KEYS'
<p class="unseen" role="status" id="status"></p>
</div>
<div id="bar">
<button type="button" id="previous">previous</button>
<button type="button" id="next">next</button>
<button type="button" id="notes" aria-pressed="false">notes</button>
</div>
<main>
<h1>All slides and their texts</h1>
<p>Keys: <kbd>&rarr;</kbd> <kbd>&larr;</kbd> next and previous slide, <kbd>Home</kbd> <kbd>End</kbd> first and last slide,
<kbd>n</kbd> the text to read aloud. The corner at the bottom right has buttons. The page prints one slide on a sheet, with its text.</p>
<ol>
KEYS
    for name in $names; do
        printf '<li><a href="#%s">%s</a>\n' "$name" "$(field "$name" claim | escape | raised)"
        printf '<p>%s</p></li>\n' "$(field "$name" aloud | escape | raised)"
    done
    cat <<'TAIL'
</ol>
<p>Figures and slides: ulplab, licence CC BY 4.0 (Creative Commons Attribution 4.0 International).</p>
</main>
<script>
(function () {
  var slides = Array.prototype.slice.call(document.querySelectorAll(".slide")), at = 0, root = document.documentElement;
  function show(i) {
    at = Math.max(0, Math.min(slides.length - 1, i));
    slides.forEach(function (slide, j) { slide.classList.toggle("current", j === at); });
    document.getElementById("status").textContent = "Slide " + (at + 1) + " of " + slides.length + ": " + slides[at].querySelector("title").textContent;
    history.replaceState(null, "", "#" + slides[at].id);
    window.scrollTo(0, 0);
  }
  function named() {
    var i = slides.findIndex(function (slide) { return "#" + slide.id === location.hash; });
    show(i < 0 ? 0 : i);
  }
  function notes() {
    document.getElementById("notes").setAttribute("aria-pressed", String(root.classList.toggle("notes")));
  }
  var keys = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1, Home: -1e9, End: 1e9 };
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "n" || event.key === "N") { notes(); return; }
    if (!(event.key in keys)) return;
    event.preventDefault();
    show(at + keys[event.key]);
  });
  document.getElementById("next").addEventListener("click", function () { show(at + 1); });
  document.getElementById("previous").addEventListener("click", function () { show(at - 1); });
  document.getElementById("notes").addEventListener("click", notes);
  window.addEventListener("hashchange", named);
  root.classList.add("shows");
  named();
})();
</script>
</body>
</html>
TAIL
} >"$fresh"
mv "$fresh" "$folder/index.html"
echo "$folder/index.html"
