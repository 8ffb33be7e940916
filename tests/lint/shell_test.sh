#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every shell script can be read by its shell, and can be run; shellcheck has nothing to say, where
# it is installed.
. "$(dirname "$0")/lib.sh"

# Prints SHELL FILE for each script: one with a first line that says so.
scripts() {
	files | while read -r file; do
		read -r first <"$file" || continue
		case $first in
		'#!/bin/sh' | '#!/bin/sh '*) echo "sh $file" ;;
		'#!'*bash | '#!'*'bash '*) echo "bash $file" ;;
		esac
	done
}

check_syntax() {
	list=$(scripts)
	[ -n "$list" ] || {
		echo "there is no script"
		return 1
	}
	echo "$list" | while read -r shell file; do
		[ -x "$file" ] || echo "$file:1: is a script and not executable"
		"$shell" -n "$file" 2>&1 | sed "s|^|$file: |"
	done
}

check_shellcheck() {
	command -v shellcheck >/dev/null || return 0
	# What a script reads in is checked as a part of it.
	scripts | sed 's/^[^ ]* //' | xargs -r shellcheck -x -P SCRIPTDIR -f gcc -S warning
	# What it says is in its output; 2 and above is its own failure.
	status=$?
	[ "$status" -le 1 ] || [ "$status" -eq 123 ]
}

rule "shell syntax" check_syntax
rule "shellcheck" check_shellcheck
finish
