/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The protocol of every test program: one line per check on stdout ("ok - NAME",
 * "not ok - NAME: what was expected and seen", "skip - NAME: reason"); the exit
 * status is 1 when a check failed or when there was none. Also how much work a test
 * does and how long it waits, which the machine it runs on decides.
 */
#ifndef VANTAGE_TESTS_TEST_H
#define VANTAGE_TESTS_TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reports one check. format says what was expected and seen; printed on failure only.
 * Returns passed. */
bool test__check(bool passed, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Reports that two numbers are equal. */
bool test__equal(const char *name, uint64_t seen, uint64_t expected);

/* Reports that two strings are equal; either may be NULL. */
bool test__same(const char *name, const char *seen, const char *expected);

/* Reports that two runs of bytes are equal; a failure says where they part. */
bool test__same_bytes(const char *name, const char *seen, size_t seen_size, const char *expected,
		      size_t expected_size);

void test__skip(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports a failure without which the rest makes no sense, and ends the program with status 1. */
_Noreturn void test__fatal(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The exit status for main. */
int test__done(void);

/* n by VANTAGE_SCALE (percent, default 100), at least 1: an emulated machine does less. */
unsigned long test__scaled(unsigned long n);

/* Milliseconds to wait for what takes ms on a machine of today: more where the scale is less. */
uint64_t test__patience_ms(uint64_t ms);

/* Whether VANTAGE_LONG=1 asks for the full load. */
bool test__is_long(void);

/* Whether the CPU is an emulated one, whose clocks run apart. */
bool test__is_emulated(void);

/* Nanoseconds of CLOCK_MONOTONIC, and of the wall clock. */
uint64_t test__now_ns(void);
uint64_t test__wall_ns(void);

void test__sleep_ms(uint64_t ms);

#endif
