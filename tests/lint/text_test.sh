#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What holds for every file: the licence line, no leftovers, no path or host of one machine, clean
# white space.
. "$(dirname "$0")/lib.sh"

# The kernel side is GPL-2.0-only, everything else may also be used under BSD-2-Clause. Licence
# texts have no line of their own, and JSON has no comments.
check_spdx() {
	files | grep -v -e '^LICENSES/' -e '\.json$' | while read -r file; do
		case $file in
		*.bpf.c | *.bpf.h | vmlinux/*/vmlinux.h) want=GPL-2.0-only ;;
		*) want='GPL-2.0-only OR BSD-2-Clause' ;;
		esac
		place=1 line=
		{
			read -r line
			case $line in
			'#!'*) place=2 && read -r line ;;
			esac
		} <"$file"
		case $line in
		*"SPDX-License-Identifier: $want" | *"SPDX-License-Identifier: $want "[*-]*) ;;
		*) echo "$file:$place: has to begin with SPDX-License-Identifier: $want" ;;
		esac
	done
}

# grep_files REASON PATTERN FILE-GREP...: complains about each line that has the pattern.
complain() {
	reason=$1 pattern=$2
	shift 2
	files | grep -v -e '^LICENSES/' -e '^vmlinux/.*\.h$' "$@" |
		xargs -r grep -nIE "$pattern" /dev/null |
		sed "s|^\([^:]*:[0-9]*\):.*|\1: $reason|"
}

check_leftovers() {
	complain "unfinished work" '(^|[^A-Za-z0-9_])(TOD[O]|FIXM[E]|XX[X])([^A-Za-z0-9_]|$)'
}

check_places() {
	complain "path of one machine" '(^|[^A-Za-z0-9_.])/(wor[k]|hom[e])/'
	complain "host of a package mirror" '(deb|security|snapshot|ftp)\.debia[n]\.org'
}

check_space() {
	complain "space at the end of the line" "[ $(printf '\t\r')]\$"
	# Markdown aligns by spaces.
	complain "spaces before a tab" "^$(printf '\t')* +$(printf '\t')" -e '\.md$'
	files | grep -v '^LICENSES/' | while read -r file; do
		if [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ]; then
			echo "$file:$(grep -c '' "$file"): no newline at the end of the file"
		fi
	done
}

# A tab counts as 8 columns. A string is not cut, so that it can be searched for; it does not count.
check_width() {
	{
		c_files
		files | grep -e '\.sh$' -e '^Makefile$' -e '^quickstart$'
	} | xargs -r awk '
		{
			line = $0
			gsub(/"[^"]*"/, "", line)
			width = 0
			nr = split(line, part, "\t")
			for (i = 1; i <= nr; i++) {
				width += length(part[i])
				if (i < nr)
					width += 8 - width % 8
			}
			if (width > 100)
				print FILENAME ":" FNR ": " width " columns, more than 100"
		}'
}

rule "licence lines" check_spdx
rule "no leftovers" check_leftovers
rule "no path or host of one machine" check_places
rule "white space" check_space
rule "lines to 100 columns" check_width
finish
