# compare.awk - which rows changed beyond noise: awk -f json.awk -f compare.awk OLD.json NEW.json
#
# A row changed if the quartiles of its rate, q1 to q3, lie apart in the two files, and, where it stands beside memcpy, the
# peak or OpenBLAS, the quartiles of this ratio lie apart in the same direction: a machine that is slower as a whole is no
# change.
BEGIN { program = "bench-compare"; path["old"] = ARGV[1]; path["new"] = ARGV[2] }

function key_of(line) {
    return sprintf("%-44s %7s %8s", work_of(line), value(line, "threads"), value(line, "n")) "\t" value(line, "group")
}

# 1: b lies above a, -1: below, 0: they overlap
function apart(a, b, what) {
    if (q[b, what, 1] > q[a, what, 3]) return 1
    if (q[b, what, 3] < q[a, what, 1]) return -1
    return 0
}

FNR == 1 { file++ }
{
    side = file == 1 ? "old" : "new"
    if (!take(side, $0)) next
    key = key_of($0)
    here = side SUBSEP key
    if (!(here in seen)) {
        seen[here] = 1
        if (side == "new" || !(("new" SUBSEP key) in seen)) order[side, ++count[side]] = key
        unit[key] = value($0, "unit")
        rate[here] = value($0, "rate") + 0
        q[here, "rate", 1] = value($0, "q1") + 0
        q[here, "rate", 3] = value($0, "q3") + 0
    }
    beside = value($0, "beside")
    if (!(here in bound) && (beside == "memcpy" || beside == "peak" || beside == "OpenBLAS")) {
        bound[here] = beside
        q[here, "ratio", 1] = value($0, "ratio_q1") + 0
        q[here, "ratio", 3] = value($0, "ratio_q3") + 0
    }
}

function list(direction, title,    i, key, n, o, parts) {
    for (i = 1; i <= count["new"]; i++) {
        key = order["new", i]
        if (changed[key] != direction) continue
        if (!n++) printf "\n%s\n  %-44s %7s %8s %10s %10s %7s\n", title, "work", "threads", "n", "old", "new", "new/old"
        split(key, parts, "\t")
        printf "  %s %10.4g %10.4g %7.2f  %s, %s\n", parts[1], rate["old", key], rate["new", key], rate["new", key] / rate["old", key],
            unit[key], parts[2]
    }
    return n + 0
}

function describe(side) {
    printf "%s: commit %s of %s, run %s, load average before it %s\n", side, head[side, "commit"], head[side, "commit_date"],
        head[side, "date"], head[side, "load_before"]
}

function differ(what, text) {
    if (head["old", what] != head["new", what])
        printf "The %s differ: %s and %s. Such rows are no measure of a change of the sources.\n", text, head["old", what], head["new", what]
}

END {
    if (refused) exit 2
    check("old")
    check("new")
    describe("old")
    describe("new")
    differ("processor", "processors")
    differ("isa", "instruction sets")
    differ("compiler", "compilers")
    differ("flags", "flags")
    for (i = 1; i <= count["new"]; i++) {
        key = order["new", i]
        a = "old" SUBSEP key
        b = "new" SUBSEP key
        if (!(a in seen)) { fresh++; continue }
        both++
        changed[key] = apart(a, b, "rate")
        if ((a in bound) && bound[a] == bound[b] && apart(a, b, "ratio") != changed[key]) changed[key] = 0
    }
    faster = list(1, "Faster, beyond noise:")
    slower = list(-1, "Slower, beyond noise:")
    for (i = 1; i <= count["old"]; i++) gone += !(("new" SUBSEP order["old", i]) in seen)
    printf "\n%d rows in both files: %d faster, %d slower, %d within noise. Only old: %d, only new: %d.\n", both, faster, slower,
        both - faster - slower, gone, fresh
}
