// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	uint64_t ns;
} time_units[] = {
	{ "h", 3600000000000 }, { "m", 60000000000 }, { "s", 1000000000 },
	{ "ms", 1000000 },	{ "us", 1000 },	      { "ns", 1 },
};

#define NR_TIME_UNITS (sizeof(time_units) / sizeof(time_units[0]))

/*
 * A fraction of the largest unit, 2^2 * 3^2 * 10^11 ns, is a whole number of nanoseconds
 * only if it has at most 13 digits.
 */
#define FRACTION_DIGITS_MAX 13

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Reads the digits at *word and moves *word past them. 0, or -ERANGE when the number
 * does not fit (*word is moved all the same, so that what follows can be judged).
 */
static int read_digits(const char **word, uint64_t *value)
{
	int err = 0;

	*value = 0;
	for (; is_digit(**word); (*word)++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(**word - '0'), value))
			err = -ERANGE;
	return err;
}

static int in_range(int err, uint64_t value, uint64_t min, uint64_t max, uint64_t *out)
{
	if (err || value < min || value > max)
		return -ERANGE;
	*out = value;
	return 0;
}

int number__parse(const char *word, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t number;
	int err;

	if (!is_digit(*word))
		return -EINVAL;
	err = read_digits(&word, &number);
	if (*word)
		return -EINVAL;
	return in_range(err, number, min, max, value);
}

int number__parse_decimal(const char *word, unsigned int digits, uint64_t min, uint64_t max,
			  uint64_t *value)
{
	uint64_t number;
	int err;

	if (!is_digit(*word))
		return -EINVAL;
	err = read_digits(&word, &number);
	if (*word == '.' && !is_digit(*++word))
		return -EINVAL;
	for (; digits; digits--) {
		uint64_t digit = is_digit(*word) ? (uint64_t)(*word++ - '0') : 0;

		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, digit, &number))
			err = -ERANGE;
	}
	if (*word)
		return -EINVAL;
	return in_range(err, number, min, max, value);
}

int number__parse_size(const char *word, uint64_t min, uint64_t max, uint64_t *bytes)
{
	static const char suffixes[] = "KMG";
	uint64_t number, unit = 1;
	const char *suffix;
	int err;

	if (!is_digit(*word))
		return -EINVAL;
	err = read_digits(&word, &number);
	if (*word) {
		suffix = strchr(suffixes, *word);
		if (!suffix || word[1])
			return -EINVAL;
		unit <<= 10 * (suffix - suffixes + 1);
	}
	if (__builtin_mul_overflow(number, unit, &number))
		err = -ERANGE;
	return in_range(err, number, min, max, bytes);
}

/* The nanoseconds of a unit, or 0 when there is no such unit. */
static uint64_t unit_ns(const char *name, uint64_t bare_unit_ns)
{
	if (!*name)
		return bare_unit_ns;
	for (size_t i = 0; i < NR_TIME_UNITS; i++)
		if (!strcmp(name, time_units[i].name))
			return time_units[i].ns;
	return 0;
}

/*
 * The nanoseconds of the fraction digits[0..nr) of a unit: 0, or -EINVAL when that is not
 * a whole number of them.
 */
static int fraction_ns(const char *digits, size_t nr, uint64_t unit, uint64_t *ns)
{
	uint64_t scale = 1, value = 0;
	unsigned __int128 product;

	while (nr && digits[nr - 1] == '0')
		nr--;
	if (nr > FRACTION_DIGITS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < nr; i++) {
		value = value * 10 + (uint64_t)(digits[i] - '0');
		scale *= 10;
	}
	product = (unsigned __int128)value * unit;
	if (product % scale)
		return -EINVAL;
	*ns = product / scale;
	return 0;
}

int number__parse_time(const char *word, uint64_t bare_unit_ns, uint64_t min_ns, uint64_t max_ns,
		       uint64_t *ns)
{
	const char *whole_digits = word, *fraction_digits;
	uint64_t whole, fraction = 0, unit;
	int err;

	err = read_digits(&word, &whole);
	fraction_digits = word;
	if (*word == '.') {
		fraction_digits = ++word;
		word += strspn(word, "0123456789");
		if (word == fraction_digits)
			return -EINVAL;
	}
	if (word == whole_digits)
		return -EINVAL;
	unit = unit_ns(word, bare_unit_ns);
	if (!unit ||
	    fraction_ns(fraction_digits, (size_t)(word - fraction_digits), unit, &fraction))
		return -EINVAL;
	if (__builtin_mul_overflow(whole, unit, &whole) ||
	    __builtin_add_overflow(whole, fraction, &whole))
		err = -ERANGE;
	return in_range(err, whole, min_ns, max_ns, ns);
}

/*
 * Writes ns in a unit, exactly, to text (at least 48 bytes). Returns the length, or 0 when
 * the digits do not end.
 */
static size_t format_in_unit(uint64_t ns, size_t unit, char *text)
{
	uint64_t rest = ns % time_units[unit].ns;
	int length, digits = 0;

	length = sprintf(text, "%" PRIu64, ns / time_units[unit].ns);
	if (rest)
		text[length++] = '.';
	for (; rest; digits++) {
		if (digits == FRACTION_DIGITS_MAX)
			return 0;
		rest *= 10;
		text[length++] = (char)('0' + rest / time_units[unit].ns);
		rest %= time_units[unit].ns;
	}
	return (size_t)(length + sprintf(text + length, "%s", time_units[unit].name));
}

const char *number__format_time(uint64_t ns, char *buffer)
{
	char text[48];
	size_t length, best = SIZE_MAX;

	if (!ns)
		return strcpy(buffer, "0s");
	for (size_t i = 0; i < NR_TIME_UNITS; i++) {
		length = format_in_unit(ns, i, text);
		/* Of two as short as each other the whole number is easier to read. */
		if (length && (length < best || (length == best && !strchr(text, '.')))) {
			best = length;
			memcpy(buffer, text, length + 1);
		}
	}
	return buffer;
}

const char *number__round_time(uint64_t ns, char *buffer)
{
	static const struct {
		const char *name;
		uint64_t thousandth_ns;
	} units[] = { { "us", 1 }, { "ms", 1000 }, { "s", 1000000 } };
	uint64_t rounded = ns;
	size_t i;

	if (ns < 1000) {
		snprintf(buffer, 32, "%" PRIu64 "ns", ns);
		return buffer;
	}
	/* What is rounded up to 1000 of a unit is 1 of the next one. */
	for (i = 0; rounded >= 1000000 && i < 2; i++) {
		uint64_t thousandth = units[i + 1].thousandth_ns;

		rounded = ns / thousandth + (ns % thousandth * 2 >= thousandth);
	}
	snprintf(buffer, 32, "%" PRIu64 ".%03" PRIu64 "%s", rounded / 1000, rounded % 1000,
		 units[i].name);
	return buffer;
}
