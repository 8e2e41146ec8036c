/* t_texts.c - texts of the command line: the progress line, lists, similar words, quoting, wrapping, names of files. */
#include "test.h"

#include "experiments/harness/cli/progress.h"

TEST(progress) {
    static const char says[] = "123 points, 456 min left";
    for (int columns = 1; columns <= 120; columns++) {
        ulp_text line = {0};
        ulp_progress_line(&line, "quantized_inference", 0.42, says, columns);
        assert_true(columns < 12 || line.length > 0);
        assert_true(line.length < (size_t)columns);
        ulp_text_free(&line);
    }
    ulp_text line = {0};
    ulp_progress_line(&line, "toy", 0.5, says, 80);
    assert_string_equal(ulp_text_of(&line), "toy [###############...............]  50 %  123 points, 456 min left");
    ulp_text_free(&line);
    ulp_progress_line(&line, "toy", 0.5, says, 40);
    assert_string_equal(ulp_text_of(&line), "toy  50 %  123 points, 456 min left");
    ulp_text_free(&line);
    ulp_progress silent = ulp_progress_start(NULL, 0);
    ulp_progress_show(&silent, 0.5, "nothing");
    ulp_progress_clear(&silent);
}

TEST(texts) {
    ulp_text text = {0};
    char item[8], list[16] = "";
    const char *at = "a,bc,,d,longer-than-that";
    assert_int_equal(ulp_next_item(item, sizeof item, &at), 1);
    assert_int_equal(ulp_next_item(item, sizeof item, &at), 1);
    assert_string_equal(item, "bc");
    assert_int_equal(ulp_next_item(item, sizeof item, &at), -1);
    assert_int_equal(ulp_next_item(item, sizeof item, &at), 1);
    assert_int_equal(ulp_next_item(item, sizeof item, &at), -1);
    assert_int_equal(ulp_next_item(item, sizeof item, &at), 0);
    ulp_list_add(list, sizeof list, "%d", 12345);
    ulp_list_add(list, sizeof list, "%s", "abcdefghijkl");
    assert_string_equal(list, "12345, abcdefgh");
    assert_true(ulp_list_has("ab, c de", "c") && !ulp_list_has("ab, cde", "c") && !ulp_list_has("ab", ""));
    assert_string_equal(ulp_guess_of("abd", "abc xyz abe", 2, "", "").text, "; did you mean abc, abe?");
    assert_string_equal(ulp_guess_of("something", "abc xyz", 2, "", "").text, "");
    enum { LONG = 1 << 20 }; /* a long word costs no time: no word is near it */
    char *word = memset(ulp_grow(NULL, LONG + 1), 'a', LONG);
    word[LONG] = '\0';
    assert_string_equal(ulp_guess_of(word, "abc aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 2, "", "").text, "");
    free(word);
    assert_string_equal(ulp_guess_of("mdoe", "node mode", 1, "'", "'").text, "; did you mean 'mode'?"); /* one edit */
    ulp_text_quote(&text, "it's");
    assert_string_equal(ulp_text_of(&text), "'it'\\''s'");
    ulp_text_free(&text);
    ulp_text_quote(&text, "a b");
    assert_string_equal(ulp_text_of(&text), "'a b'");
    ulp_text_free(&text);
    ulp_text_wrap(&text, "one two three\nfour a,bb,ccc,dddd", 0, 2, 10);
    assert_string_equal(ulp_text_of(&text), "one two\n  three\n  four\n  a,bb,\n  ccc,dddd");
    ulp_text_free(&text);
    char *path = ulp_path_replace("x.csv", ".csv", ".run.json"), *other = ulp_path_replace("x", ".csv", ".tmp");
    assert_string_equal(path, "x.run.json");
    assert_string_equal(other, "x.tmp");
    free(path);
    free(other);
}

TESTS(NULL, NULL)
