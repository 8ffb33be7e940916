#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The lists of what users have reported of other tools name checks that are there.
. "$(dirname "$0")/lib.sh"

# check_line PLACE SOURCE PROGRAM NAME
check_line() {
	if [ -z "$4" ]; then
		echo "$1: has to be SOURCE:PROGRAM:NAME"
	elif [ ! -e "tests/live/$3.c" ]; then
		echo "$1: there is no test program $3"
	elif ! grep -qF -e "$4" "tests/live/$3.c"; then
		echo "$1: tests/live/$3.c has no check '$4'"
	fi
}

check_reports() {
	for list in tests/lint/reports/*; do
		grep -nv -e '^[[:space:]]*#' -e '^[[:space:]]*$' "$list" |
			while IFS=: read -r line source program name; do
				check_line "$list:$line" "$source" "$program" "$name"
			done
	done
}

rule "reports of users have their checks" check_reports
finish
