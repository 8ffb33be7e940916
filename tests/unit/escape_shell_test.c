// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What escape__shell() writes is judged by a shell. */
#include "output/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "test.h"

#define NR_WORDS 2000
#define WORD_SIZE 40

static char words[NR_WORDS][WORD_SIZE];
static size_t sizes[NR_WORDS];

static const char *shell_of(const char *word, bool always_quote)
{
	static char out[256];

	out[escape__shell(out, word, strlen(word), always_quote)] = '\0';
	return out;
}

static void check_examples(void)
{
	test__same("a safe word stays", shell_of("--file=/tmp/a_b-c.d,e:f@g+h%1", false),
		   "--file=/tmp/a_b-c.d,e:f@g+h%1");
	test__same("unless quotes are asked for", shell_of("ls", true), "'ls'");
	test__same("an empty word", shell_of("", false), "''");
	test__same("a blank", shell_of("a b", false), "'a b'");
	test__same("letters beyond ASCII", shell_of("ä", false), "'ä'");
	test__same("what a shell would expand", shell_of("$(id)*", false), "'$(id)*'");
	test__same("a leading =", shell_of("=ls", false), "'=ls'");
	test__same("a leading %", shell_of("%1", false), "'%1'");
	test__same("a leading ~", shell_of("~", false), "'~'");
	test__same("a quote", shell_of("it's", false), "$'it\\x27s'");
	test__same("a new line", shell_of("a\nz", false), "$'a\\x0az'");
	test__same("a backslash", shell_of("\\n", false), "$'\\x5cn'");
	test__same("a digit after an escape", shell_of("\nAb\nz", false), "$'\\x0a'$'Ab\\x0az'");
	test__same("an invalid byte", shell_of("\xff", true), "$'\\xff'");
}

static void fill_words(void)
{
	static const char frequent[] = "\\\\''\"$`!~#&;|<>(){}[]*?=% \t\n0aAfgx\x1b\xc3\xa4\xff";

	srandom(1969);
	for (int i = 0; i < NR_WORDS; i++) {
		sizes[i] = random() % WORD_SIZE;
		for (size_t j = 0; j < sizes[i]; j++)
			words[i][j] = random() % 3 ? frequent[random() % (sizeof(frequent) - 1)] :
						     random() % 255 + 1;
	}
	/* Each byte once at least. */
	for (int i = 1; i < 256; i++) {
		words[i][0] = i;
		sizes[i] = 1;
	}
}

/* A script that prints each word with a NUL after it. */
static const char *write_script(bool always_quote)
{
	char *script = malloc(NR_WORDS * (sizeof("printf '%s\\0' \n") + 4 * WORD_SIZE + 4));
	const char *path;
	size_t size = 0;

	for (int i = 0; i < NR_WORDS; i++) {
		char *word = malloc(4 * sizes[i] + 4);
		size_t word_size = escape__shell(word, words[i], sizes[i], always_quote);

		size += sprintf(script + size, "printf '%%s\\0' ");
		memcpy(script + size, word, word_size);
		size += word_size;
		script[size++] = '\n';
		free(word);
	}
	path = scratch__write("script", script, size, 0644);
	free(script);
	return path;
}

/* Runs the script and compares. */
static void check_words(const char *name, const char *locale, bool always_quote)
{
	static char output[NR_WORDS * WORD_SIZE];
	char command[512];
	size_t size, at = 0;
	int wrong = 0, status;
	FILE *pipe;

	snprintf(command, sizeof(command), "LC_ALL=%s bash %s", locale, write_script(always_quote));
	pipe = popen(command, "r");
	size = pipe ? fread(output, 1, sizeof(output), pipe) : 0;
	status = pipe ? pclose(pipe) : -1;
	for (int i = 0; i < NR_WORDS; i++) {
		if (size - at <= sizes[i] || memcmp(output + at, words[i], sizes[i]) ||
		    output[at + sizes[i]]) {
			wrong++;
			break;
		}
		at += sizes[i] + 1;
	}
	test__check(!wrong && at == size && !status, name,
		    "status %d, %zu bytes, the first that differs is in the word at %zu", status,
		    size, at);
}

int main(void)
{
	check_examples();
	if (system("command -v bash >/dev/null")) {
		test__skip("bash reads the words back", "there is no bash");
		return test__done();
	}
	fill_words();
	check_words("bash reads the words back", "C", false);
	check_words("bash reads the words back in UTF-8", "C.UTF-8", false);
	check_words("bash reads quoted words back", "C", true);
	return test__done();
}
