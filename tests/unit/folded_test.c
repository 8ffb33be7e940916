// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A frame's name makes no other frame and no other line. */
#include "output/folded.h"

#include <string.h>

#include "support/test.h"

static void check(const char *name, const char *frame, size_t size, const char *expected)
{
	struct buffer line = { 0 };

	folded__append_frame(&line, "root", 4);
	folded__append_frame(&line, frame, size);
	folded__end(&line, 12);
	buffer__append_char(&line, '\0');
	test__same(name, line.data, expected);
	buffer__free(&line);
}

#define CHECK(name, frame, expected) check(name, frame, sizeof(frame) - 1, expected)

int main(void)
{
	CHECK("a name as it is", "std::vector<int>::at(unsigned long)",
	      "root;std::vector<int>::at(unsigned long) 12\n");
	CHECK("a semicolon", "a;b", "root;a\\x3bb 12\n");
	CHECK("semicolons at the ends", ";a;;", "root;\\x3ba\\x3b\\x3b 12\n");
	CHECK("a newline", "a\nb 5", "root;a\\x0ab 5 12\n");
	CHECK("a blank at the beginning", " a", "root;\\x20a 12\n");
	CHECK("a blank alone", " ", "root;\\x20 12\n");
	CHECK("a backslash", "a\\x3b", "root;a\\x5cx3b 12\n");
	CHECK("an escape of a terminal", "\033[2J", "root;\\x1b[2J 12\n");
	CHECK("no name", "", "root; 12\n");
	return test__done();
}
