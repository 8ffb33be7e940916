/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What options.c is made of: the rows that every tool has, and the reading of a
 * value by its type. For options.c alone.
 */
#ifndef VANTAGE_RUN_OPTIONS_TABLE_H
#define VANTAGE_RUN_OPTIONS_TABLE_H

#include "run/options.h"

extern const struct option_row common_option_rows[];
extern const size_t nr_common_option_rows;

/* Whether an option of this type may be given again, adding to what it had. */
bool option_type__is_list(enum option_type type);

/*
 * Reads word by the row's type and range and writes it to the row's field in options.
 * word lives as long as options (an argument of the command line); it is NULL for
 * OPTION_FLAG. 0; -EINVAL with a cause that shows the offending word, to be freed; or
 * another -errno with *cause NULL. Not reported.
 */
int option__set(const struct option_row *row, void *options, const char *word, char **cause);

#endif
