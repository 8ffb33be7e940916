// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "test.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_SECOND 1000000000ull
#define NS_PER_MS 1000000ull

static unsigned int nr_reported;
static unsigned int nr_failed;

static void report_failure(const char *name, const char *format, va_list args)
{
	nr_failed++;
	printf("not ok - %s: ", name);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
}

bool test__check(bool passed, const char *name, const char *format, ...)
{
	va_list args;

	nr_reported++;
	if (passed) {
		printf("ok - %s\n", name);
		fflush(stdout);
	} else {
		va_start(args, format);
		report_failure(name, format, args);
		va_end(args);
	}
	return passed;
}

void test__fatal(const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report_failure(name, format, args);
	va_end(args);
	exit(1);
}

bool test__equal(const char *name, uint64_t seen, uint64_t expected)
{
	return test__check(seen == expected, name, "expected %" PRIu64 ", saw %" PRIu64, expected,
			   seen);
}

bool test__same(const char *name, const char *seen, const char *expected)
{
	bool same = seen && expected ? !strcmp(seen, expected) : seen == expected;

	return test__check(same, name, "expected \"%s\", saw \"%s\"",
			   expected ? expected : "(nothing)", seen ? seen : "(nothing)");
}

bool test__same_bytes(const char *name, const char *seen, size_t seen_size, const char *expected,
		      size_t expected_size)
{
	size_t shorter = seen_size < expected_size ? seen_size : expected_size;
	size_t at = 0;

	while (at < shorter && seen[at] == expected[at])
		at++;
	return test__check(at == seen_size && at == expected_size, name,
			   "expected %zu bytes, saw %zu; they part at byte %zu", expected_size,
			   seen_size, at);
}

void test__skip(const char *name, const char *format, ...)
{
	va_list args;

	nr_reported++;
	printf("skip - %s: ", name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

int test__done(void)
{
	return nr_failed || !nr_reported;
}

static unsigned long scale_percent(void)
{
	const char *word = getenv("VANTAGE_SCALE");
	unsigned long percent;
	char *end;

	if (!word)
		return 100;
	percent = strtoul(word, &end, 10);
	if (*end || !percent || percent > 10000)
		test__fatal("VANTAGE_SCALE", "expected a percentage, saw \"%s\"", word);
	return percent;
}

unsigned long test__scaled(unsigned long n)
{
	unsigned long scaled = n * scale_percent() / 100;

	return scaled ? scaled : 1;
}

uint64_t test__patience_ms(uint64_t ms)
{
	unsigned long percent = scale_percent();

	return percent < 100 ? ms * 100 / percent : ms;
}

bool test__is_long(void)
{
	const char *word = getenv("VANTAGE_LONG");

	return word && !strcmp(word, "1");
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

bool test__is_emulated(void)
{
	char line[256];
	bool found = false;
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && fgets(line, sizeof(line), file))
		found = found || strstr(line, "QEMU TCG");
	if (file)
		fclose(file);
	return found;
}

uint64_t test__now_ns(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

uint64_t test__wall_ns(void)
{
	return now_ns(CLOCK_REALTIME);
}

void test__sleep_ms(uint64_t ms)
{
	struct timespec left = {
		.tv_sec = (time_t)(ms / 1000),
		.tv_nsec = (long)(ms % 1000 * NS_PER_MS),
	};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}
