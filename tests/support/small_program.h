/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program that does nothing but end with 0, and is as small as a program can be. */
#ifndef VANTAGE_TESTS_SMALL_PROGRAM_H
#define VANTAGE_TESTS_SMALL_PROGRAM_H

/* Writes it under this name among the files of the run (scratch.h): its path. */
const char *small_program(const char *name);

#endif
