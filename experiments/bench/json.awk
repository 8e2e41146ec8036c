# json.awk - functions that read results/bench.json: one key or one row in a line; for record.awk and compare.awk.

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

# Whether a line is a row of a file of `bench`: it has every key, and its rate is a number.
function is_row(line,    keys, count, i) {
    count = split("group what by threads n unit rate q1 q3 rounds beside relation ratio ratio_q1 ratio_q3 goal", keys, " ")
    for (i = 1; i <= count; i++) if (!index(line, "\"" keys[i] "\": ")) return 0
    return value(line, "rate") + 0 > 0
}

# Ends the program with exit status 2; path[file] is another name of the file for the message.
function refuse(file, why) {
    printf "%s: %s is not a result of bench: %s\n", program, (file in path) ? path[file] : file, why >"/dev/stderr"
    refused = 1
    exit 2
}

# Takes the next line of a file. state[file] is "", "head", "rows", "tail" and "end"; head[file, key] gets the texts above the rows.
# Returns 1 if the line is a row.
function take(file, line) {
    if (state[file] == "") {
        if (line != "{") refuse(file, "its first line is not {")
        state[file] = "head"
    } else if (line == "  \"rows\": [") {
        if (head[file, "program"] != "bench") refuse(file, "it names another program, or none")
        state[file] = "rows"
    } else if (state[file] == "head") {
        if (!match(line, /"[a-z_]+": /)) refuse(file, "a line above the rows has no key")
        head[file, substr(line, RSTART + 1, RLENGTH - 4)] = value(line, substr(line, RSTART + 1, RLENGTH - 4))
    } else if (state[file] == "rows" && line == "  ]") {
        state[file] = "tail"
    } else if (state[file] == "tail") {
        state[file] = line == "}" ? "end" : "cut"
    } else if (state[file] == "rows") {
        if (!is_row(line)) refuse(file, "a row is damaged")
        rows[file]++
        return 1
    }
    return 0
}

function check(file) {
    if (refused) return
    if (state[file] != "end") refuse(file, "it is empty, or its end is missing")
    if (!rows[file]) refuse(file, "it has no rows")
}

# "round binary16 rne", with the library if it is not ulplab
function work_of(line,    text, by) {
    by = value(line, "by")
    text = value(line, "what")
    if (value(line, "of") != "") text = text " " value(line, "of")
    if (value(line, "mode") != "") text = text " " value(line, "mode")
    return by == "ulplab" ? text : text " by " by
}
