/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Validates JSON values against the part of JSON Schema (draft 2020-12) that the
 * tools' --json-schema uses. A schema with a keyword that is not known here is an
 * error: a validator that passes over a rule proves nothing.
 */
#ifndef VANTAGE_TESTS_SCHEMA_H
#define VANTAGE_TESTS_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"

/* Whether the schema itself uses known keywords in a known way only; why not in why. */
bool schema__is_known(const struct json_value *schema, char *why, size_t why_size);

/* Whether value is valid; why not in why ("args: expected array"). */
bool schema__accepts(const struct json_value *schema, const struct json_value *value, char *why,
		     size_t why_size);

#endif
