# record.awk - a section of tests/golden/bench.md: awk -f json.awk -f record.awk results/bench.json OLD.md > NEW.md
#
# The section of this processor, instruction set and compiler replaces the section of the same name, or follows the last one.
BEGIN { program = "bench-record"; json = ARGV[1] }

function spread(line, a, b, c) { return sprintf("%.3g (%.3g to %.3g)", value(line, a), value(line, b), value(line, c)) }

function goal_of(line,    goal, ratio, is_time) {
    if (value(line, "goal") == "") return ""
    goal = value(line, "goal") + 0
    ratio = value(line, "ratio") + 0
    is_time = value(line, "relation") == "time"
    return sprintf("%s %g: %s", is_time ? "at most" : "at least", goal, (is_time ? ratio <= goal : ratio >= goal) ? "met" : "missed")
}

function add_row(line,    work, first, relation) {
    if (value(line, "what") == "dot") return # the loops in C are there in the ratios to them
    if (value(line, "group") != group) {
        group = value(line, "group")
        body = body "\n### " toupper(substr(group, 1, 1)) substr(group, 2) "\n\n| work | threads | n | " value(line, "unit") \
            " | beside | ratio | goal |\n|---|---|---|---|---|---|---|\n"
        last = ""
    }
    work = sprintf("%s | %s | %s | %s", work_of(line), value(line, "threads"), value(line, "n"), spread(line, "rate", "q1", "q3"))
    first = work != last
    last = work
    relation = value(line, "beside") == "" ? " | " : value(line, "relation") " / " value(line, "beside") " | " spread(line, "ratio", "ratio_q1", "ratio_q3")
    body = body "| " (first ? work : " | | | ") " | " relation " | " goal_of(line) " |\n"
    if (goal_of(line) ~ /met$/) met++
    if (goal_of(line) ~ /missed$/) missed++
}

FNR == NR {
    if (take(json, $0)) add_row($0)
    next
}
FNR == 1 {
    check(json)
    name = "## " head[json, "processor"] ", " head[json, "isa"] ", " head[json, "compiler"]
    section = name "\n\nCommit " head[json, "commit"] " of " head[json, "commit_date"] "; threads: " head[json, "threads"] \
        "; run " head[json, "date"] ", load average before it " head[json, "load_before"] "; goals met: " met + 0 ", missed: " missed + 0 ".\nFlags: `" head[json, "flags"] "`\n" body
}
/^## / { place = ++sections; names[place] = $0 }
{ old[place + 0] = old[place + 0] $0 "\n" }
END {
    if (refused) exit 2
    if (name == "") { check(json); exit 2 }
    for (place = 0; place <= sections; place++) {
        if (place && names[place] == name) { old[place] = section; written = 1 }
        sub(/\n+$/, "\n", old[place])
        printf "%s%s", place ? "\n" : "", old[place]
    }
    if (!written) printf "\n%s", section
}
