/* t_course.c - the keys of `ulp course` equal MPFR's for 200 students, and right, almost right and wrong answers to
 * every question are marked as what they are, and counted. No page of the course shows the numbers of a question.
 *
 * BIN is the folder of the programs (default build/bin). */
#include "course_pages.h"
#include "course_questions.h"

#include <sys/stat.h>
#include <unistd.h>

enum { STUDENTS = 200, LABS = 7, QUESTIONS = 12, LINE = 4096 };

/* How to make an answer that is almost right. */
typedef enum almost { NONE, CODE, UP, PLUS, TWICE, TWICE_OR_HALF, HALF } almost;

typedef struct question {
    const char *name;
    double (*answer)(const char *text); /* NULL: MPFR has no say */
    almost almost;
    const char *format; /* of UP; NULL: the text names it after "in " */
    const char *words;  /* of a choice */
} question;

static const question table[] = {
    {"L0.1", code, CODE, "binary16", NULL},
    {"L0.2", decoded, UP, "bfloat16", NULL},
    {"L0.3", spacing, NONE, NULL, NULL},
    {"L0.4", ends, NONE, NULL, NULL},
    {"L0.5", ends, NONE, NULL, NULL},
    {"L0.6", count, PLUS, NULL, NULL},
    {"L0.7", tie, UP, "binary16", NULL},
    {"L0.8", overflow, NONE, NULL, "65504 inf"},
    {"L1.1", spacing_of_sum, NONE, NULL, NULL},
    {"L1.2", term, UP, "binary16", NULL},
    {"L1.3", hundred, UP, "binary16", NULL},
    {"L1.4", hundred, UP, "binary16", NULL},
    {"L1.5", least_change, TWICE_OR_HALF, NULL, NULL},
    {"L1.6", counting, PLUS, NULL, NULL},
    {"L1.7", harmonic, UP, NULL, NULL},
    {"L2.1", probability, NONE, NULL, NULL},
    {"L2.2", expectation, NONE, NULL, NULL},
    {"L2.3", kahan, UP, "binary16", NULL},
    {"L2.4", terms_first, UP, "binary16", NULL},
    {"L2.5", master, UP, "binary16", NULL},
    {"L2.6", chunks, NONE, NULL, NULL},
    {"L2.7", which_cure, NONE, NULL, "kahan terms both neither"},
    {"L3.1", gradient, UP, "binary16", NULL},
    {"L3.2", largest_lost, HALF, NULL, NULL},
    {"L3.3", gradients, PLUS, NULL, NULL},
    {"L3.4", gradients, PLUS, NULL, NULL},
    {"L3.5", significant, PLUS, NULL, NULL},
    {"L3.6", lost_update, TWICE_OR_HALF, NULL, NULL},
    {"L3.7", kind, NONE, NULL, "zero subnormal normal"},
    {"L4.1", smallest_scale, TWICE, NULL, NULL},
    {"L4.2", largest_scale, TWICE, NULL, NULL},
    {"L4.3", scaled, NONE, NULL, NULL},
    {"L4.4", dynamic, TWICE, NULL, NULL},
    {"L4.5", dynamic, PLUS, NULL, NULL},
    {"L4.6", master_weight, UP, "binary16", NULL},
    {"L4.7", NULL, NONE, NULL, "master scale accumulator"},
    {"L5.1", machine, NONE, NULL, NULL},
    {"L5.2", machine, NONE, NULL, NULL},
    {"L5.3", machine, NONE, NULL, NULL},
    {"L5.4", smallest_f, PLUS, NULL, NULL},
    {"L5.5", truncated, UP, "binary32", NULL},
    {"L5.6", nearest, UP, "binary32", NULL},
    {"L5.7", short_sum, NONE, NULL, NULL},
    {"L6.1", fixed, UP, "q4.4", NULL},
    {"L6.2", beyond, UP, "q4.4", NULL},
    {"L6.3", beyond, UP, "q4.4", NULL},
    {"L6.4", fp8, UP, "e4m3", NULL},
    {"L6.5", nearer, NONE, NULL, "e4m3 e5m2"},
    {"L6.6", block, TWICE, NULL, NULL},
    {"L6.7", block, NONE, NULL, NULL},
    {"L6.8", size, NONE, NULL, NULL},
};

enum { ROWS = COUNT_OF(table) };

static char folder[64];
/* The right marks: the first letter of the verdict, for each student, lab and question. */
static char expected[STUDENTS][LABS][QUESTIONS + 1];
/* The text and the key of each question. */
static char *asked[STUDENTS][ROWS], *keys_of[STUDENTS][ROWS];

static const char *program(void) {
    static char path[512];
    const char *bin = getenv("BIN");
    snprintf(path, sizeof path, "%s/ulp", bin && *bin ? bin : "build/bin");
    return path;
}

/* Open a pipe from `ulp course ARGUMENTS`. */
static FILE *run(const char *arguments) {
    char command[LINE];
    snprintf(command, sizeof command, "'%s' course %s", program(), arguments);
    FILE *pipe = popen(command, "r");
    if (!pipe) fail_msg("%s", command);
    return pipe;
}

static int index_in(const char *words, const char *word) {
    int i = 0;
    for (; *words; i++, words += *words == ' ') {
        const size_t n = strcspn(words, " ");
        if (strlen(word) == n && strncmp(word, words, n) == 0) return i;
        words += n;
    }
    fail_msg("'%s' is no word of the question", word);
    return -1;
}

/* The value of the key that the program prints: of a choice the index, of a code its value. */
static double key_value(const question *q, const char *key) {
    if (q->words) return index_in(q->words, key);
    return q->almost == CODE ? oracle_decode((unsigned)strtoul(key, NULL, 16), oracle_named(q->format))
                             : oracle_value(key);
}

static void expect_key(const question *q, const char *text, const char *key) {
    if (!q->answer) return;
    const double want = q->answer(text), got = key_value(q, key);
    if (want != got || signbit(want) != signbit(got))
        fail_msg("%s %s: key %s, MPFR has %.17g", q->name, text, key, want);
}

/* The format of a question about the harmonic series. */
static const char *format_in(const char *text) {
    static char name[WORD];
    if (sscanf(text, "Add 1 + 1/2 + 1/3 + ... in %63[a-z0-9]", name) != 1) fail_msg("no format in: %s", text);
    return name;
}

static void number(char *to, double x) { snprintf(to, WORD, "%.17g", x); }

/* The number beside x: the next larger one, or, at the end of e4m3, the next smaller one; of a zero the other zero. */
static double beside(double x, const char *format) {
    if (strcmp(format, "q4.4") == 0) return x + 0.0625;
    if (x == 0) return -x;
    const double unit = oracle_power(oracle_quantum_at(x, oracle_named(format)));
    return strcmp(format, "e4m3") == 0 && x == 448 ? x - unit : x + unit;
}

/* Write an answer of the wanted verdict; returns the first letter of the verdict that it should get. */
static char make_answer(char *to, const question *q, const char *text, const char *key, int way) {
    const double x = key_value(q, key);
    snprintf(to, WORD, "%s", key);
    if (way == 1) { /* wrong */
        if (q->words) snprintf(to, WORD, "%.*s", (int)strcspn(q->words, " "), q->words);
        else if (q->almost == CODE) snprintf(to, WORD, "%04lx", strtoul(key, NULL, 16) ^ 0x1a5);
        else snprintf(to, WORD, "98765.4321");
        return q->words && x == 0 ? 'r' : 'w';
    }
    if (way == 3) { /* right, in another form */
        if (q->words) {
            for (char *c = to; *c; c++) *c = (char)toupper((unsigned char)*c);
        } else if (q->almost == CODE) snprintf(to, WORD, "0x%s", key);
        else snprintf(to, WORD, "%a", x);
        return 'r';
    }
    if (way == 0 || q->almost == NONE) return 'r';
    if (q->almost == CODE) snprintf(to, WORD, "%04lX", strtoul(key, NULL, 16) + 1);
    if (q->almost == UP) number(to, beside(x, q->format ? q->format : format_in(text)));
    if (q->almost == PLUS) number(to, x + 1);
    if (q->almost == TWICE) number(to, 2 * x);
    if (q->almost == HALF) number(to, x / 2);
    if (q->almost == TWICE_OR_HALF) {
        /* an odd significand makes a tie go up, so that half of the spacing changes the number */
        char at[WORD], name[WORD] = "binary16";
        const char *number_at = strstr(text, "the number ");
        if (number_at) sscanf(number_at, "the number %63s", at);
        else if (sscanf(text, "A weight of %63s is %63s", name, at) == 2) at[strlen(at) - 1] = '\0';
        const double unit = oracle_power(oracle_quantum_at(oracle_value(at), oracle_named(name)));
        const int is_odd = fmod(oracle_value(at) / unit, 2) == 1;
        number(to, is_odd ? 2 * x : x / 2);
    }
    return 'a';
}

/* Read one file of a key, up to the id of the next student, and write the answers of the student. */
static int read_student(FILE *pipe, int student, char *line) {
    char text[LINE] = "", answer[WORD], path[192], id[WORD];
    int row = 0;
    while (strncmp(line, "id,", 3) != 0)
        if (!fgets(line, LINE, pipe)) return -1;
    assert_int_equal(sscanf(line, "id,%63s", id), 1);
    snprintf(path, sizeof path, "%s/%s.csv", folder, id);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(line, to);
    while (fgets(line, LINE, pipe) && strncmp(line, "id,", 3) != 0) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#') {
            const int first = line[2] == 'L' && isdigit((unsigned char)line[3]) && line[4] == '.';
            if (first) text[0] = '\0';
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", text[0] ? " " : "",
                     line + (first ? 8 : 2));
        } else if (strncmp(line, "sheet ", 6) == 0) fprintf(to, "%s\n", line);
        else if (line[0]) {
            const question *q = &table[row];
            char *key = strchr(line, ',');
            assert_non_null(key);
            *key++ = '\0';
            if (row == ROWS || strcmp(line, q->name) != 0)
                fail_msg("the table of the test has no %s in its place", line);
            expect_key(q, text, key);
            asked[student][row] = strdup(text);
            keys_of[student][row] = strdup(key);
            char *marks = expected[student][line[1] - '0'];
            marks[atoi(line + 3) - 1] = make_answer(answer, q, text, key, (student + row) % 4);
            fprintf(to, "%s,%s\n", line, answer);
            row++;
        }
    }
    assert_int_equal(row, ROWS);
    fclose(to);
    return row;
}

TEST(keys) {
    char *ids = malloc(STUDENTS * 8), arguments[STUDENTS * 8 + 32], line[LINE] = "";
    ids[0] = '\0';
    for (int i = 0; i < STUDENTS; i++) snprintf(ids + strlen(ids), 8, "%ss%03d", i ? "," : "", i);
    snprintf(arguments, sizeof arguments, "key --id %s", ids);
    FILE *pipe = run(arguments);
    int keys = 0;
    for (int i = 0; i < STUDENTS; i++) keys += read_student(pipe, i, line);
    assert_int_equal(pclose(pipe), 0);
    assert_int_equal(keys, STUDENTS * ROWS);
    free(ids);
}

/* Compare a row LAB,ID,SCORE,MAX,... of the class with the marks that its answers should have. */
static void expect_row(char *line) {
    char *field[32], *at = line;
    int n = 0, student = STUDENTS;
    for (; n < 32 && at; n++) {
        field[n] = at;
        at = strchr(at, ',');
        if (at) *at++ = '\0';
    }
    assert_true(n >= 23);
    assert_int_equal(sscanf(field[1], "s%d", &student), 1);
    assert_in_range(student, 0, STUDENTS - 1);
    assert_string_equal(field[10], "\"\"");
    const char *want = expected[student][field[0][1] - '0'];
    double points = 0;
    for (size_t i = 0; i < strlen(want); i++) {
        if (field[11 + i][0] != want[i])
            fail_msg("%s of %s, question %zu: %s, should be %c...", field[0], field[1], i + 1, field[11 + i], want[i]);
        points += want[i] == 'r' ? 1 : want[i] == 'a' ? 0.5 : 0;
    }
    assert_true(atof(field[2]) == points && (size_t)atoi(field[3]) == strlen(want));
}

TEST(marks) {
    char arguments[128], line[LINE];
    int rows = 0;
    snprintf(arguments, sizeof arguments, "grade %s", folder);
    FILE *pipe = run(arguments);
    assert_non_null(fgets(line, sizeof line, pipe));
    assert_int_equal(strncmp(line, "assignment,student_id,score,max_score,", 38), 0);
    for (; fgets(line, sizeof line, pipe); rows++) expect_row(line);
    assert_int_equal(pclose(pipe), 0);
    assert_int_equal(rows, STUDENTS * LABS);
    /* of each question with almost right answers, there are right, almost right and wrong ones */
    for (int row = 0; row < ROWS; row++) {
        int seen[3] = {0};
        for (int i = 0; i < STUDENTS; i++) {
            const char *at = strchr("raw", expected[i][table[row].name[1] - '0'][atoi(table[row].name + 3) - 1]);
            seen[at - "raw"]++;
        }
        if (!seen[0] || !seen[2] || (table[row].almost != NONE && !seen[1]))
            fail_msg("%s: no answers of a kind", table[row].name);
    }
}

/* The rows of the questions of the class have the numbers of the marks that the answers should have. */
TEST(questions) {
    char arguments[128], line[LINE], want[LINE];
    snprintf(arguments, sizeof arguments, "grade --questions %s", folder);
    FILE *pipe = run(arguments);
    assert_non_null(fgets(line, sizeof line, pipe));
    for (int row = 0; row < ROWS; row++) {
        const char *name = table[row].name;
        int right = 0, near = 0, wrong = 0;
        for (int i = 0; i < STUDENTS; i++) {
            const char mark = expected[i][name[1] - '0'][atoi(name + 3) - 1];
            right += mark == 'r', near += mark == 'a', wrong += mark == 'w';
        }
        snprintf(want, sizeof want, "%.2s,%s,%d,%d,%d,%d,0,0,%.3f,", name, name, STUDENTS, right, near, wrong,
                 (right + 0.5 * near) / (double)STUDENTS);
        assert_non_null(fgets(line, sizeof line, pipe));
        const size_t length = strlen(want);
        if (strncmp(line, want, length) != 0) fail_msg("%s should be %s...", line, want);
        /* an answer that is not right gets a hint, and no hint gets more answers than there are */
        const int hinted = atoi(line + length);
        if (hinted < (near + wrong > 0) || hinted > near + wrong) fail_msg("%s: the number of hints", line);
    }
    assert_null(fgets(line, sizeof line, pipe));
    assert_int_equal(pclose(pipe), 0);
}

/* The token `at` of a question of a student; "" if there is none. */
static const char *token_at(const tokens *t, int at) { return at < t->count ? t->text[at] : ""; }

/* Whether a page has all numbers and words of a question that differ between students, and one of them is telling. */
static int is_on_page(const tokens *page, const tokens *text, const int *drawn) {
    int told = 0;
    for (int i = 0; i < text->count; i++) {
        if (!drawn[i]) continue;
        if (is_telling(text->text[i])) told |= has_token(page, text->text[i]) ? 1 : 2;
        else if (isalpha((unsigned char)text->text[i][0]) && !has_token(page, text->text[i])) told |= 2;
    }
    return told == 1;
}

/* No page shows the numbers of a question of its lab, and no page and not the README an answer, but for answers of few
 * bits. */
TEST(pages) {
    static tokens page, texts[STUDENTS];
    for (int row = 0; row < ROWS; row++) {
        int drawn[TOKENS_MAX] = {0};
        char lab[3] = {table[row].name[0], table[row].name[1], '\0'};
        for (int i = 0; i < STUDENTS; i++) {
            texts[i].count = 0;
            add_tokens(&texts[i], asked[i][row]);
            for (int at = 0; at < texts[i].count; at++)
                drawn[at] |= strcmp(token_at(&texts[i], at), token_at(&texts[0], at)) != 0;
        }
        read_page(&page, lab);
        if (strcmp(lab, "L1") == 0) assert_true(has_token(&page, "100") && has_token(&page, "0.01"));
        for (int i = 0; i < STUDENTS; i++)
            if (is_on_page(&page, &texts[i], drawn))
                fail_msg("course/%s.md has the numbers of: %s", lab, asked[i][row]);
        add_file_tokens(&page, "course/README.md", NULL);
        for (int i = 0; i < STUDENTS; i++) {
            tokens key = {.count = 0};
            add_tokens(&key, keys_of[i][row]);
            if (is_long_number(token_at(&key, 0)) && has_token(&page, key.text[0]) &&
                !has_token(&texts[i], key.text[0]))
                fail_msg("course/%s.md or README.md has the answer %s to: %s", lab, keys_of[i][row], asked[i][row]);
        }
    }
}

static int start(void **state) {
    (void)state;
    oracle_start();
    snprintf(folder, sizeof folder, "/tmp/t_course.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    char path[128];
    for (int i = 0; i < STUDENTS; i++) {
        snprintf(path, sizeof path, "%s/s%03d.csv", folder, i);
        remove(path);
        for (int row = 0; row < ROWS; row++) {
            free(asked[i][row]);
            free(keys_of[i][row]);
        }
    }
    oracle_stop();
    return rmdir(folder);
}

TESTS(start, end)
