# compare.awk - which rows changed beyond noise: awk -f compare.awk OLD.json NEW.json
#
# A row changed if the quartiles of its rate, q1 to q3, lie apart in the two files, and, where it is compared with memcpy, the
# peak, OpenBLAS, or a copy or binary32 of a device, the quartiles of this ratio lie apart in the same direction: a machine
# that is slower as a whole is no change. A file has one key or one row in a line.
BEGIN {
    path["old"] = ARGV[1]
    path["new"] = ARGV[2]
    keys = split("group what by threads n unit rate q1 q3 rounds beside relation ratio ratio_q1 ratio_q3 goal", key_of_row, " ")
}

# The value of a key in a line, without the quotes of a text; "" for null and for a line without the key.
function value(line, key,    at, rest) {
    at = index(line, "\"" key "\": ")
    if (!at) return ""
    rest = substr(line, at + length(key) + 4)
    if (substr(rest, 1, 1) == "\"") {
        match(rest, /^"([^"\\]|\\.)*"/)
        rest = substr(rest, 2, RLENGTH - 2)
        gsub(/\\"/, "\"", rest)
        return rest
    }
    sub(/[,}].*/, "", rest)
    return rest == "null" ? "" : rest
}

function refuse(side, why) {
    printf "bench-compare: %s is not a result of bench: %s\n", path[side], why >"/dev/stderr"
    refused = 1
    exit 2
}

# Whether a line is a row: it has every key, and its rate is a number.
function is_row(line,    i) {
    for (i = 1; i <= keys; i++) if (!index(line, "\"" key_of_row[i] "\": ")) return 0
    return value(line, "rate") + 0 > 0
}

# Takes the next line of a file. state[side] is "", "head", "rows", "tail" and "end"; head[side, key] gets the texts above the rows.
# Returns 1 if the line is a row.
function take(side, line) {
    if (state[side] == "") {
        if (line != "{") refuse(side, "its first line is not {")
        state[side] = "head"
    } else if (line == "  \"rows\": [") {
        if (head[side, "program"] != "bench") refuse(side, "it names another program, or none")
        state[side] = "rows"
    } else if (state[side] == "head") {
        if (!match(line, /"[a-z_]+": /)) refuse(side, "a line above the rows has no key")
        head[side, substr(line, RSTART + 1, RLENGTH - 4)] = value(line, substr(line, RSTART + 1, RLENGTH - 4))
    } else if (state[side] == "rows" && line == "  ]") {
        state[side] = "tail"
    } else if (state[side] == "tail") {
        state[side] = line == "}" ? "end" : "cut"
    } else if (state[side] == "rows") {
        if (!is_row(line)) refuse(side, "a row is damaged")
        rows[side]++
        return 1
    }
    return 0
}

function check(side) {
    if (refused) return
    if (state[side] != "end") refuse(side, "it is empty, or its end is missing")
    if (!rows[side]) refuse(side, "it has no rows")
}

# "round binary16 rne", with the library if it is not ulplab; threads, n, and the group
function work_of(line,    text) {
    text = value(line, "what")
    if (value(line, "of") != "") text = text " " value(line, "of")
    if (value(line, "mode") != "") text = text " " value(line, "mode")
    if (value(line, "by") != "ulplab") text = text " by " value(line, "by")
    return sprintf("%-44s %7s %8s", text, value(line, "threads"), value(line, "n")) "\t" value(line, "group")
}

# 1: b lies above a, -1: below, 0: they overlap
function apart(a, b, what) {
    if (q[b, what, 1] > q[a, what, 3]) return 1
    if (q[b, what, 3] < q[a, what, 1]) return -1
    return 0
}

FNR == 1 { side = NR == 1 ? "old" : "new" }
{
    if (!take(side, $0)) next
    work = work_of($0)
    here = side SUBSEP work
    if (!(here in seen)) {
        seen[here] = 1
        order[side, ++count[side]] = work
        unit[work] = value($0, "unit")
        rate[here] = value($0, "rate") + 0
        q[here, "rate", 1] = value($0, "q1") + 0
        q[here, "rate", 3] = value($0, "q3") + 0
    }
    beside = value($0, "beside")
    if (!(here in bound) && beside ~ /^(memcpy|peak|OpenBLAS|copy|native:fp32)$/) {
        bound[here] = beside
        q[here, "ratio", 1] = value($0, "ratio_q1") + 0
        q[here, "ratio", 3] = value($0, "ratio_q3") + 0
    }
}

function list(direction, title,    i, work, n, parts) {
    for (i = 1; i <= count["new"]; i++) {
        work = order["new", i]
        if (changed[work] != direction) continue
        if (!n++) printf "\n%s\n  %-44s %7s %8s %10s %10s %7s\n", title, "work", "threads", "n", "old", "new", "new/old"
        split(work, parts, "\t")
        printf "  %s %10.4g %10.4g %7.2f  %s, %s\n", parts[1], rate["old", work], rate["new", work], rate["new", work] / rate["old", work],
            unit[work], parts[2]
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
        work = order["new", i]
        a = "old" SUBSEP work
        b = "new" SUBSEP work
        if (!(a in seen)) { fresh++; continue }
        both++
        changed[work] = apart(a, b, "rate")
        if ((a in bound) && bound[a] == bound[b] && apart(a, b, "ratio") != changed[work]) changed[work] = 0
    }
    faster = list(1, "Faster, beyond noise:")
    slower = list(-1, "Slower, beyond noise:")
    for (i = 1; i <= count["old"]; i++) gone += !(("new" SUBSEP order["old", i]) in seen)
    printf "\n%d rows in both files: %d faster, %d slower, %d within noise. Only old: %d, only new: %d.\n", both, faster, slower,
        both - faster - slower, gone, fresh
}
