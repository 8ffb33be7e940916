// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/number.h"
#include "test.h"

#define SECOND 1000000000ULL
#define MICROSECOND 1000ULL
#define HOUR (3600 * SECOND)
#define UNTOUCHED 0xdeadbeefULL

struct number_case {
	const char *word;
	uint64_t min, max;
	int err;
	uint64_t value; /* without err */
};

static const struct number_case numbers[] = {
	{ "0", 0, UINT64_MAX, 0, 0 },
	{ "7", 0, UINT64_MAX, 0, 7 },
	{ "007", 0, UINT64_MAX, 0, 7 },
	{ "18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX },
	{ "18446744073709551616", 0, UINT64_MAX, -ERANGE, 0 },
	{ "99999999999999999999999999", 0, UINT64_MAX, -ERANGE, 0 },
	{ "99999999999999999999999999x", 0, UINT64_MAX, -EINVAL, 0 },
	{ "1", 1, 4194304, 0, 1 },
	{ "4194304", 1, 4194304, 0, 4194304 },
	{ "0", 1, 4194304, -ERANGE, 0 },
	{ "4194305", 1, 4194304, -ERANGE, 0 },
	{ "99999999", 1, 4194304, -ERANGE, 0 },
	{ "", 0, UINT64_MAX, -EINVAL, 0 },
	{ "abc", 0, UINT64_MAX, -EINVAL, 0 },
	{ "12x", 0, UINT64_MAX, -EINVAL, 0 },
	{ "x12", 0, UINT64_MAX, -EINVAL, 0 },
	{ "-1", 0, UINT64_MAX, -EINVAL, 0 },
	{ "+1", 0, UINT64_MAX, -EINVAL, 0 },
	{ " 1", 0, UINT64_MAX, -EINVAL, 0 },
	{ "1 ", 0, UINT64_MAX, -EINVAL, 0 },
	{ "1\n", 0, UINT64_MAX, -EINVAL, 0 },
	{ "0x10", 0, UINT64_MAX, -EINVAL, 0 },
	{ "1e3", 0, UINT64_MAX, -EINVAL, 0 },
	{ "1.0", 0, UINT64_MAX, -EINVAL, 0 },
	{ "1,000", 0, UINT64_MAX, -EINVAL, 0 },
	{ "\xd9\xa1", 0, UINT64_MAX, -EINVAL, 0 }, /* a digit, but not of these */
};

static const struct number_case sizes[] = {
	{ "0", 0, UINT64_MAX, 0, 0 },
	{ "4096", 4096, 1 << 30, 0, 4096 },
	{ "4K", 4096, 1 << 30, 0, 4096 },
	{ "16M", 4096, 1 << 30, 0, 16 << 20 },
	{ "1G", 4096, 1 << 30, 0, 1 << 30 },
	{ "4095", 4096, 1 << 30, -ERANGE, 0 },
	{ "3K", 4096, 1 << 30, -ERANGE, 0 },
	{ "2G", 4096, 1 << 30, -ERANGE, 0 },
	{ "17179869183G", 0, UINT64_MAX, 0, 17179869183ULL << 30 },
	{ "17179869184G", 0, UINT64_MAX, -ERANGE, 0 },
	{ "99999999999999999999K", 0, UINT64_MAX, -ERANGE, 0 },
	{ "", 0, UINT64_MAX, -EINVAL, 0 },
	{ "K", 0, UINT64_MAX, -EINVAL, 0 },
	{ "4k", 0, UINT64_MAX, -EINVAL, 0 },
	{ "4KB", 0, UINT64_MAX, -EINVAL, 0 },
	{ "4T", 0, UINT64_MAX, -EINVAL, 0 },
	{ "4 K", 0, UINT64_MAX, -EINVAL, 0 },
	{ "1.5M", 0, UINT64_MAX, -EINVAL, 0 },
	{ "-4K", 0, UINT64_MAX, -EINVAL, 0 },
	{ "99999999999999999999Kx", 0, UINT64_MAX, -EINVAL, 0 },
};

struct time_case {
	const char *word;
	uint64_t bare_unit, min, max;
	int err;
	uint64_t ns;
};

static const struct time_case times[] = {
	{ "0", SECOND, 0, UINT64_MAX, 0, 0 },
	{ "5", SECOND, 0, UINT64_MAX, 0, 5 * SECOND },
	{ "5", MICROSECOND, 0, UINT64_MAX, 0, 5 * MICROSECOND },
	{ "0.5", SECOND, 0, UINT64_MAX, 0, SECOND / 2 },
	{ ".5", SECOND, 0, UINT64_MAX, 0, SECOND / 2 },
	{ "0.5", MICROSECOND, 0, UINT64_MAX, 0, 500 },
	{ "500ms", SECOND, 0, UINT64_MAX, 0, SECOND / 2 },
	{ "2s", MICROSECOND, 0, UINT64_MAX, 0, 2 * SECOND },
	{ "1m", SECOND, 0, UINT64_MAX, 0, 60 * SECOND },
	{ "1h", SECOND, 0, UINT64_MAX, 0, HOUR },
	{ "1.5h", SECOND, 0, UINT64_MAX, 0, HOUR / 2 * 3 },
	{ "7us", SECOND, 0, UINT64_MAX, 0, 7000 },
	{ "7ns", SECOND, 0, UINT64_MAX, 0, 7 },
	{ "0.000000001", SECOND, 0, UINT64_MAX, 0, 1 },
	{ "0.0000000010", SECOND, 0, UINT64_MAX, 0, 1 },
	{ "0.0000000001", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "0.0000000015", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "1.5ns", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "1.0ns", SECOND, 0, UINT64_MAX, 0, 1 },
	{ "0.0005", MICROSECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "0.0000000000025h", SECOND, 0, UINT64_MAX, 0, 9 },
	{ "0.00000000000025h", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "0.33333333333333333333333333333333333333333s", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "18446744073709551615ns", SECOND, 0, UINT64_MAX, 0, UINT64_MAX },
	{ "18446744073.709551615", SECOND, 0, UINT64_MAX, 0, UINT64_MAX },
	{ "18446744073.709551616", SECOND, 0, UINT64_MAX, -ERANGE, 0 },
	{ "18446744074", SECOND, 0, UINT64_MAX, -ERANGE, 0 },
	{ "99999999999999999999h", SECOND, 0, UINT64_MAX, -ERANGE, 0 },
	{ "99999999999999999999y", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "1", SECOND, SECOND, 2 * SECOND, 0, SECOND },
	{ "2", SECOND, SECOND, 2 * SECOND, 0, 2 * SECOND },
	{ "0.999999999", SECOND, SECOND, 2 * SECOND, -ERANGE, 0 },
	{ "2.000000001", SECOND, SECOND, 2 * SECOND, -ERANGE, 0 },
	{ "", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "s", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ ".", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "5.", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ ".s", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "1.2.3", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "-1", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "+1", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "1 s", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "1S", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "1sec", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "1m30s", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "1e3", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "inf", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "nan", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
	{ "0x1", SECOND, 0, UINT64_MAX, -EINVAL, 0 },
};

static void check(const char *what, const char *word, int err, uint64_t value, int expected_err,
		  uint64_t expected)
{
	char name[128];

	snprintf(name, sizeof(name), "%s \"%s\"", what, word);
	for (char *c = name; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '_';
	if (expected_err)
		expected = UNTOUCHED;
	test__check(err == expected_err && value == expected, name,
		    "expected %d and %" PRIu64 ", saw %d and %" PRIu64, expected_err, expected, err,
		    value);
}

static void check_tables(void)
{
	uint64_t value;
	int err;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		value = UNTOUCHED;
		err = number__parse(numbers[i].word, numbers[i].min, numbers[i].max, &value);
		check("number", numbers[i].word, err, value, numbers[i].err, numbers[i].value);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		value = UNTOUCHED;
		err = number__parse_size(sizes[i].word, sizes[i].min, sizes[i].max, &value);
		check("size", sizes[i].word, err, value, sizes[i].err, sizes[i].value);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		value = UNTOUCHED;
		err = number__parse_time(times[i].word, times[i].bare_unit, times[i].min,
					 times[i].max, &value);
		check("time", times[i].word, err, value, times[i].err, times[i].ns);
	}
}

static void check_format(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0s" },
		{ 1, "1ns" },
		{ 999, "999ns" },
		{ 1000, "1us" },
		{ 1500, "1.5us" },
		{ 1500000, "1.5ms" },
		{ 1234567, "1234567ns" },
		{ 100 * MICROSECOND, "100us" },
		{ 250000000, "250ms" },
		{ SECOND, "1s" },
		{ 10 * SECOND, "10s" },
		{ 60 * SECOND, "1m" },
		{ 90 * SECOND, "90s" },
		{ HOUR, "1h" },
		{ HOUR / 2 * 3, "90m" },
		{ 1000 * HOUR, "1000h" },
		{ UINT64_MAX, "18446744073709551615ns" },
	};
	char buffer[32], name[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(name, sizeof(name), "format of %" PRIu64 "ns", cases[i].ns);
		test__same(name, number__format_time(cases[i].ns, buffer), cases[i].text);
	}
}

/* A number with a random count of significant bits and of zeros at its end. */
static uint64_t random_time(void)
{
	uint64_t number = (uint64_t)random() << 33 ^ (uint64_t)random() << 11 ^ (uint64_t)random();
	int zeros = (int)(random() % 15);

	number >>= random() % 64;
	for (; zeros && number <= UINT64_MAX / 10; zeros--)
		number *= 10;
	return number;
}

static void check_round_trip(void)
{
	char buffer[32];
	uint64_t ns, back;
	unsigned int nr = 0;
	size_t longest = 0;

	srandom(1);
	for (; nr < 200000; nr++) {
		ns = random_time();
		back = ~ns;
		number__format_time(ns, buffer);
		if (number__parse_time(buffer, 0, 0, UINT64_MAX, &back) || back != ns)
			break;
		if (strlen(buffer) > longest)
			longest = strlen(buffer);
	}
	test__check(nr == 200000, "what is formatted is read back", "%" PRIu64 " as \"%s\"", ns,
		    buffer);
	test__check(longest < sizeof(buffer), "a formatted time fits its buffer", "saw %zu bytes",
		    longest);
}

int main(void)
{
	check_tables();
	check_format();
	check_round_trip();
	return test__done();
}
