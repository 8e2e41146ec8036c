#!/bin/sh
# gallery.sh - the page of figures has the captions of plots/NAME.txt and the claims of results/NAME.claims.tsv, and a slide
# has the drawing, the claim and the text to read aloud of plots/NAME.txt.
# modes: release

SOURCES=$(pwd)/experiments
. tests/programs/support.sh

mkdir gallery gallery/plots gallery/results && cp "$SOURCES"/../plots/*.gp "$SOURCES"/../plots/*.awk "$SOURCES"/../plots/*.txt \
    "$SOURCES"/../plots/*.sh gallery/plots
: >gallery/plots/powers.gp
printf '%s\n' 'group: How < much?' 'order: 1' '' '2^-25 2^{} 2^p. 2^(2p), n 2^(-p/2) 2^((1-p)/2)' '(w - 3)^2 -2^-(r+1) < 2^24.' '' 'Second.' >gallery/plots/powers.txt
printf '%s\t%s\t%s\t%s\t%s\n' kind text here published source PASS 'a < b' '1 & 2' '' '' FAIL 'no "such"' '' '' '' \
    published 'the sum' 4 5 'Wang' run command 'powers --quick' '' '' >gallery/results/powers.claims.tsv
names=$(cd gallery/plots && ls *.gp | sed '/^style/d; s/\.gp$//')
(cd gallery && EXPERIMENTS=$(echo $names) sh plots/gallery.sh) >out.txt
s() { printf '<sup>%s</sup>' "$1"; }
grep -qFx "<p>2$(s -25) 2^{} 2$(s p). 2$(s 2p), n 2$(s -p/2) 2$(s '(1-p)/2') (w - 3)$(s 2) -2$(s '-(r+1)') &lt; 2$(s 24).</p>" gallery/figures/index.html
verdict $? "powers in captions are superscripts"
! grep '^<p>' gallery/figures/index.html | grep -v '2^{}' | grep -qF '^'
verdict $? "no caption shows a raw one"
grep -qFx '<h2>How &lt; much?</h2>' gallery/figures/index.html && grep -qFx '<p>Second.</p>' gallery/figures/index.html
verdict $? "a caption has a group and paragraphs"
grep -qFx '<li><b class="pass">PASS</b> a &lt; b <span>1 &amp; 2</span></li>' gallery/figures/index.html &&
    grep -qFx '<li><b class="fail">FAIL</b> no "such"</li>' gallery/figures/index.html &&
    grep -qF '<b class="fail">FAIL</b> 1 of 2 claims hold' gallery/figures/index.html &&
    grep -qFx '<tr><td>the sum</td><td>5</td><td>4</td><td>Wang</td></tr>' gallery/figures/index.html &&
    grep -qFx '<pre>powers --quick</pre>' gallery/figures/index.html && grep -q '<h3>powers <span class="quick">' gallery/figures/index.html
verdict $? "claims, published numbers and the command come from the table"
for name in $(echo "$names" | sed '/^powers$/d'); do
    text=$SOURCES/../plots/$name.txt
    sed '1,/^$/d' "$text" >caption.txt
    sed -n 1p "$text" | grep -q '^group: .*?$' && sed -n 2p "$text" | grep -q '^order: [0-9]*$' && [ "$(wc -m <caption.txt)" -gt 80 ] &&
        [ "$(wc -m <caption.txt)" -le 950 ] && awk 'length > 120 { exit 1 }' "$text"
    verdict $? "$name has a caption of at most 950 characters in lines of 120"
    ! grep -q '^group: How fast' "$text" || continue # a measured speed has no claim
    field() { awk -v key="$1" -f gallery/plots/field.awk "$text"; }
    claim=$(field claim) words=$(field aloud | wc -w)
    [ ${#claim} -gt 40 ] && [ ${#claim} -le 110 ] && [ "${claim%.}" != "$claim" ] && [ "$words" -ge 40 ] && [ "$words" -le 80 ]
    verdict $? "$name has a claim of at most 110 characters and a text to read aloud of 40 to 80 words"
done

# notebooks: a title links to the page if it is there
grep -q 'notebooks' gallery/figures/index.html
[ $? -eq 1 ]
verdict $? 'without notebooks the page does not speak of them'
mkdir -p gallery/python/examples gallery/figures/notebooks && cp "$SOURCES"/../python/examples/*.ipynb gallery/python/examples
: >gallery/figures/notebooks/rounding.html
(cd gallery && EXPERIMENTS=powers sh plots/gallery.sh) >out.txt
grep -qFx "<tr><td><a href=\"notebooks/rounding.html\">Rounding</a></td><td>Which numbers does an 8-bit format have, and what becomes of all the others?</td><td><code>python/examples/rounding.ipynb</code></td></tr>" gallery/figures/index.html &&
    grep -q '^<tr><td>Stagnation</td><td>Add .*?</td>' gallery/figures/index.html && grep -q '<code>make notebooks</code> writes it' gallery/figures/index.html
verdict $? 'notebooks have titles and questions, a link to the page that is there, and the command for the others'
[ "$(grep -c '<tr><td>.*</td><td>[A-Z][^<]*?</td><td><code>python/examples/' gallery/figures/index.html)" -eq "$(ls gallery/python/examples/*.ipynb | wc -l)" ]
verdict $? 'every notebook has a row'

# slides: a tall and a wide drawing, one of a quick run
drawing() { # drawing NAME HEIGHT
    printf '%s\n' '<?xml version="1.0" encoding="utf-8"?>' '<svg ' ' viewBox="0 0 1160 '"$2"'"' ' xmlns="http://www.w3.org/2000/svg"' \
        ' xmlns:xlink="http://www.w3.org/1999/xlink"' '>' "<title>$1</title>" "<circle id='gpDot' r='2'/>" "<use xlink:href='#gpDot'/>" \
        "<use xlink:href='#gpDot' transform='scale(0.00)'/>" '</svg>' >"gallery/figures/$1.svg"
}
slides() { (cd gallery && EXPERIMENTS=$1 sh plots/slides.sh); }
printf '%s\n' 'group: How?' 'order: 1' 'claim: A sum of n < 3' '  terms & 2^(p+1) is "exact".' 'aloud: Read' '  this.' '' 'aloud: not this' >gallery/plots/powers.txt
drawing powers 500
drawing stagnation 1080
exits 2 'slides without a figure are refused' slides 'powers stagnation amp'
says '^figures/amp.svg is missing: run make figures or make figures-quick$' err.txt 'with its name'
holds 'and then no slide is written' [ ! -e gallery/figures/slides ]
exits 0 'slides of figures are written' slides 'powers stagnation'
cd gallery/figures/slides || exit 2
for name in powers stagnation; do
    # without the texts, whose lines break where they fit
    tr '\n' ' ' <"$name.svg" | sed 's/<title.*<\/desc>//; s/<[^>]*>/ /g; s/  */ /g' >text.txt
    grep -q ' viewBox="0 0 1280 720" width="1280" height="720"' "$name.svg" && grep -q " $name .*ulplab, CC BY 4.0" text.txt &&
        grep -q "<svg x=[^>]* viewBox=\"0 0 1160 [0-9]*\"" "$name.svg" && grep -q "id='$name-gpDot'" "$name.svg" && grep -q "href='#$name-gpDot'" "$name.svg" && ! grep -q 'scale(0.00)' "$name.svg" &&
        ! sed 's/ xmlns[:a-z]*="[^"]*"//g' "$name.svg" | grep -q 'http\|<script'
    verdict $? "the slide of $name is 16:9, holds the drawing and the credit, and refers to nothing outside"
    awk -F '"' '/<text/ && / font-weight="bold"/ { n++; bad += $8 < 30 || $6 > 680 } END { exit !n || bad }' "$name.svg"
    verdict $? "its claim has letters of 30 pixels or more"
done
grep -q 'a hundred additions of 0.01' text.txt && grep -q 'reaches 101 on average.</desc>' stagnation.svg && ! grep -q 'quick run' stagnation.svg
verdict $? 'the claim is the headline, and the text is the description'
grep -qF '>A sum of n &lt; 3 terms &amp; 2<tspan dy="-0.5em" font-size="70%">p+1</tspan><tspan dy="0.35em"> is "exact".</tspan></text>' powers.svg &&
    grep -qF '>quick run: less data than the default</text>' powers.svg
verdict $? 'a claim has superscripts, and a quick run is marked'
[ "$(grep -c '<div class="slide" id=' index.html)" -eq 2 ] && [ "$(grep -c '<p>Read this.</p>' index.html)" -eq 2 ] &&
    ! grep -q 'not this' index.html && ! sed 's/ xmlns[:a-z]*="[^"]*"//g' index.html | grep -q 'http\|<link\|src='
verdict $? 'the page of slides holds them with their texts and needs no other file'
if command -v xmllint >/dev/null 2>&1; then
    xmllint --noout powers.svg stagnation.svg
    verdict $? 'slides are well-formed'
else
    skip 'slides are well-formed' 'no xmllint'
fi
cd "$work" || exit 2
sed_file '$d' gallery/figures/powers.svg
complains 2 'a drawing that is cut off is refused' '^figures/powers.svg is no drawing of gnuplot, or it is cut off' slides powers
sed_file '/^claim/d' gallery/plots/powers.txt
complains 2 'a figure without a claim has no slide' '^plots/powers.txt needs a line with claim: ' slides powers
printf '%s\n' '# seed: 1' what,format,x end,e4m3,1 step,,2 end,e4m3,3 | awk -f gallery/plots/groups.awk -v columns='what format' -v blocks=4 >out.txt
printf '%s\n' '$rows00000 << EOF' what,format,x EOF '$rows00005 << EOF' what,format,x end,e4m3,1 end,e4m3,3 EOF \
    'groups = groups . "end e4m3=00005|"' '$rows00006 << EOF' what,format,x step,,2 EOF 'groups = groups . "step -=00006|"' 'blocks = 6' | cmp -s - out.txt
verdict $? "rows of a group are a datablock"
printf '%s\n' quantity,of,value 'least,q8.8 rne 1,2' 'most,q8.8 rne 1,4' 'mean,q8.8 rne 1,3' 'least,q8.8 rne 5,6' |
    awk -f gallery/plots/curves.awk -v quantities=least,most -v blocks=0 >out.txt
printf '%s\n' '$rows00000 << EOF' x,least,most EOF '$rows00001 << EOF' x,least,most 1,2,4 5,6, EOF 'groups = groups . "curve q8.8 rne=00001|"' 'blocks = 1' |
    cmp -s - out.txt
verdict $? "lines of a curve of the summary are a datablock"
if command -v gnuplot >/dev/null 2>&1; then
    "$BIN/counting" --quick --quiet --out gallery/results/counting.csv && (cd gallery && LC_ALL=C.UTF-8 gnuplot plots/counting.gp) 2>err.txt
    tr -d '\n' <gallery/figures/counting.svg | sed 's/<[^>]*>//g' >out.txt
    says 'in a floating-point format with p significant bits stops at exactly 2' out.txt "counting's figure says which formats stop at 2^p"
    (cd gallery && EXPERIMENTS=counting sh plots/gallery.sh) >out.txt
    grep -q '<h3>counting <span class="quick">quick run' gallery/figures/index.html &&
        grep -q '^<pre>.*counting --quick --quiet --out gallery/results/counting.csv</pre>$' gallery/figures/index.html
    verdict $? "a quick run of a program is marked as one, with its command"
    rm gallery/results/counting.summary.csv gallery/figures/counting.svg
    (cd gallery && LC_ALL=C.UTF-8 gnuplot plots/counting.gp) 2>err.txt
    [ -s gallery/figures/counting.svg ] && [ ! -s err.txt ] && ! grep -q 'stops at exactly' gallery/figures/counting.svg
    verdict $? "without a summary the figure has no such numbers"
else
    skip "counting's figure says which formats stop at 2^p" "no gnuplot"
    skip "a quick run of a program is marked as one, with its command" "no gnuplot"
    skip "without a summary the figure has no such numbers" "no gnuplot"
fi
exit $failed
