#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The built man pages: mandoc has nothing to say; every tool has a page; its options are those of
# the tool's --help, both ways; every field of the tool's JSON is described there or in vantage(7).
. "$(dirname "$0")/lib.sh"

mandoc=${MANDOC:-mandoc}

check_mandoc() {
	command -v "$mandoc" >/dev/null || {
		echo "missing: $mandoc (package mandoc)"
		return 1
	}
	for page in man/*.[1-9]; do
		built=$build/$page
		[ -r "$built" ] || {
			echo "$built is not built"
			return 1
		}
		"$mandoc" -T lint -W warning "$built" 2>&1 | sed -n "s|^$mandoc: ||p"
	done
}

check_pages() {
	for tool in $(tools); do
		[ -e "man/$tool.8" ] || echo "tools/$tool/$tool.c:1: there is no man/$tool.8"
	done
}

# help_options TOOL: the options in its --help, where argp writes "  -d, --duration=TIME  ...".
help_options() {
	help=$("$bin/$1" --help) || return 1
	echo "$help" | awk '
		/^ +-/ {
			line = $0
			sub(/^ +/, "", line)
			while (match(line, /^-(-[a-z][a-z0-9-]*|[A-Za-z0-9?])/)) {
				print substr(line, 1, RLENGTH)
				line = substr(line, RLENGTH + 1)
				sub(/^[^, ]*/, "", line)
				if (!sub(/^, /, "", line))
					break
			}
		}' | sort -u
}

# page_options TOOL: PLACE OPTION ITEM for each option that the page names (mdoc: "Fl d",
# "Fl -duration" or "Fl Fl duration"); ITEM is 1 where it is the head of a list item.
page_options() {
	awk '
		/^\.\\"/ { next }
		/^\./ {
			gsub(/\\-/, "-")
			item = $1 == ".It"
			for (i = 1; i <= NF; i++) {
				word = $i
				sub(/^\./, "", word)
				if (word != "Fl" || i == NF)
					continue
				option = "-" $(i + 1)
				if ($(i + 1) == "Fl")
					option = "--" $(i + 2)
				if (option ~ /^-(-[a-z][a-z0-9-]*|[A-Za-z0-9?])$/)
					print FILENAME ":" FNR, option, item
			}
		}' "$build/man/$1.8"
}

# Both lists of one tool, put side by side.
compare_options() {
	in_help=$(help_options "$1") || {
		echo "$bin/$1 --help failed"
		return 1
	}
	[ -n "$in_help" ] || {
		echo "no option was found in the output of $1 --help"
		return 1
	}
	in_page=$(page_options "$1") || return 1
	printf '%s\n\n%s\n' "$in_help" "$in_page" | awk -v page="$build/man/$1.8" '
		!NF { second = 1; next }
		!second { offered[$1] = 1; next }
		!($2 in offered) { print $1 ": " $2 " is not in --help" }
		$3 { described[$2] = 1 }
		END {
			for (option in offered)
				if (!(option in described))
					print page ":1: no list item for " option " of --help"
		}'
}

# schema_fields TOOL: the names of the properties in its JSON Schema, from the nesting of its
# braces: a key is a field where its object is the value of "properties".
schema_fields() {
	schema=$("$bin/$1" --json-schema) || return 1
	echo "$schema" | awk '
		{ text = text $0 "\n" }
		END {
			while (match(text, /"([^"\\]|\\.)*"|[{}:,\[\]]/)) {
				token = substr(text, RSTART, RLENGTH)
				text = substr(text, RSTART + RLENGTH)
				if (token == "{" || token == "[") {
					owner[++depth] = key
					key = ""
				} else if (token == "}" || token == "]") {
					depth--
				} else if (token == ":") {
					key = last
					if (owner[depth] == "properties")
						print key
				} else if (token != ",") {
					last = substr(token, 2, length(token) - 2)
				}
				if (token == ",")
					key = ""
			}
		}' | sort -u
}

# A field is described where it stands as a word of its own on a macro line.
describe_fields() {
	fields=$(schema_fields "$1") || {
		echo "$bin/$1 --json-schema failed"
		return 1
	}
	[ -n "$fields" ] || {
		echo "no field was found in the output of $1 --json-schema"
		return 1
	}
	awk -v tool="$1" -v fields="$fields" '
		/^\.[A-Z]/ { for (i = 2; i <= NF; i++) described[$i] = 1 }
		END {
			nr = split(fields, field, "\n")
			for (i = 1; i <= nr; i++)
				if (!(field[i] in described))
					print ARGV[1] ":1: the JSON field " field[i] " of " tool \
						" is neither in " ARGV[1] " nor in " ARGV[2]
		}' "$build/man/$1.8" "$build/man/vantage.7"
}

# each COMMAND: runs it for every tool; stops at one that could not be checked.
each() {
	for tool in $(tools); do
		"$@" "$tool" || return 1
	done
}

rule "mandoc" check_mandoc
rule "a page for each tool" check_pages
rule "options of the pages" each compare_options
rule "JSON fields of the pages" each describe_fields
finish
