#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The lists of expected skips name checks of programs that exist.
. "$(dirname "$0")/lib.sh"

# check_line PLACE PROGRAM NAME
check_line() {
	if [ -z "${3%%#*}" ]; then
		echo "$1: has to be PROGRAM:NAME"
	elif [ -z "$(find tests -name "$2.c" -o -name "$2.sh")" ]; then
		echo "$1: there is no test program $2"
	fi
}

check_skips() {
	for list in tests/lint/skips/*; do
		[ -f "$list" ] || continue
		grep -nv -e '^[[:space:]]*#' -e '^[[:space:]]*$' "$list" |
			while IFS=: read -r line program name; do
				check_line "$list:$line" "$program" "$name"
			done
	done
}

rule "expected skips" check_skips
finish
