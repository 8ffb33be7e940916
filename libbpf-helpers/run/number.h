/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers as people write them, read to the last character and checked against
 * their range. Knows no other module and reports nothing: the caller names the
 * option and the word.
 */
#ifndef VANTAGE_RUN_NUMBER_H
#define VANTAGE_RUN_NUMBER_H

#include <stdint.h>

/*
 * Decimal digits only: no sign, no space, no base prefix.
 * 0; -EINVAL when the word is not such a number; -ERANGE when it is outside min..max.
 */
int number__parse(const char *word, uint64_t min, uint64_t max, uint64_t *value);

/*
 * A decimal number in units of 10^-digits (at most 18): "99.9" with 6 digits is 99900000. More
 * digits than that are refused. Errors as number__parse(); min and max in that unit.
 */
int number__parse_decimal(const char *word, unsigned int digits, uint64_t min, uint64_t max,
			  uint64_t *value);

/*
 * A time with optional fraction and unit (ns, us, ms, s, m, h), as "0.5", "500ms", "2s".
 * A bare number counts in bare_unit_ns nanoseconds. Digits beyond a nanosecond are refused.
 * 0 and the nanoseconds; -EINVAL; -ERANGE outside min_ns..max_ns.
 */
int number__parse_time(const char *word, uint64_t bare_unit_ns, uint64_t min_ns, uint64_t max_ns,
		       uint64_t *ns);

/* Bytes with an optional binary suffix K, M or G ("16M"). 0, -EINVAL or -ERANGE. */
int number__parse_size(const char *word, uint64_t min, uint64_t max, uint64_t *bytes);

/* The shortest exact writing of a time with a unit: 1500000 -> "1.5ms". buffer: >= 32 bytes. */
const char *number__format_time(uint64_t ns, char *buffer);

/* A time with three decimals, rounded to the nearest, in the first unit (us, ms, s) of which it is
 * then less than 1000: 4883564 -> "4.884ms"; below a microsecond in nanoseconds. buffer: >= 32
 * bytes. */
const char *number__round_time(uint64_t ns, char *buffer);

#endif
