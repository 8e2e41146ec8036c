#!/bin/sh
# readme.sh - the README has at most 200 lines, its files exist and its `$` commands succeed; packages.sh --print works.
#
# packages.sh --print must print the names of the Debian packages and do nothing else.
# modes: release
root=$(pwd)
. tests/programs/support.sh

holds 'the README has at most 200 lines' [ "$(wc -l <"$root/README.md")" -le 200 ]
[ "$(awk '/^```/ { if (inside) exit; inside = 1; next } inside' "$root/README.md" | wc -l)" -eq 2 ]
verdict $? 'its first block of code has two commands'
for text in README.md CONTRIBUTING.md; do
    for file in $(grep -o '\](\([^)]*\))' "$root/$text" | sed 's/^](//; s/)$//'); do
        holds "$text: $file is there" [ -s "$root/$file" ]
    done
done

# the command of the first screen, "`COMMAND` prints `RESULT`"
mkdir build && ln -s "$BIN" build/bin && cp -r "$root/plots" .
line=$(grep -o '^`[^`]*` prints `[^`]*`' "$root/README.md")
command=$(printf %s "$line" | cut -d '`' -f 2) result=$(printf %s "$line" | cut -d '`' -f 4)
[ -n "$result" ] && [ "$(sh -c "$command")" = "$result" ]
verdict $? "the first command prints $result"

# the commands of "Ten minutes", and their output where the README shows it
sed -n '/^## Ten minutes/,/^## Where/p' "$root/README.md" | sed -n '/^```sh/,/^```/p' | sed '/^```/d' >session.txt
case ${MODE:-release} in
release) ;;
*) sed_file '/ --quick /d' session.txt ;; # a sanitizer needs minutes for a training; experiments_claims.sh skips it too
esac
command -v gnuplot >/dev/null || sed_file '/^\$ gnuplot/d' session.txt
sed -n 's/^\$ //p' session.txt | sed 's/  *# .*//' >commands.txt
sed '/^\$ /d' session.txt >want.txt
[ "$(wc -l <commands.txt)" -ge 8 ] && [ -s want.txt ]
verdict $? "it shows $(wc -l <commands.txt) commands"
: >all.txt
while IFS= read -r line; do
    sh -c "$line" </dev/null >out.txt 2>err.txt
    status=$?
    [ $status -eq 0 ] || sed 's/^/# /' err.txt
    verdict $status "$(printf %s "$line" | tr '\\\\' /)"
    cat out.txt >>all.txt
done <commands.txt
while IFS= read -r line; do
    holds "it prints $line" grep -qxF "$line" all.txt
done <want.txt

sh "$root/packages.sh" --print >out.txt && grep -qx gcc out.txt && ! grep -q ' ' out.txt && ! grep -qx clang out.txt
verdict $? 'packages.sh --print prints a list'
sh "$root/packages.sh" --all --print | grep -qx clang-format
verdict $? 'and with --all the optional packages'
prints 0 'packages.sh --help succeeds' '^usage: sh packages.sh' sh "$root/packages.sh" --help
exits 2 'packages.sh refuses an unknown option' sh "$root/packages.sh" --nonsense
for n in '' 0 3 x; do complains 2 ".ci/command '$n' is refused" 'allowed are 1 and 2' sh "$root/.ci/command" $n; done
complains 2 'run.sh names a test that is not there' 'ONLY=t_nonsense: there is no such test' sh -c "cd '$root' && TESTS='$work/none' ONLY=t_nonsense sh tests/run.sh programs"
exit $failed
