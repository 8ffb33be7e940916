#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Who may know whom, read from the #include lines:
#
#   tools/X/*.c      its own folder, report, run, collect, symbols, output, shared
#   tools/X/X.c      also libbpf and X.skel.h; the other modules of a tool do without both
#   tools/X/X.h      shared (both sides of the tool read it)
#   tools/X/*.bpf.c  X.h, its own *.bpf.h, bpf, shared, vmlinux.h, libbpf's kernel-side headers;
#                    *.bpf.h likewise
#   bpf              bpf, shared, vmlinux.h, libbpf's kernel-side headers; no libc
#   shared           shared and nothing else; shared/types.h has the integer types of either side
#   report           report, run, collect, symbols, output, shared; no libbpf
#   run              run, output, shared, libbpf; run/target also symbols
#   collect          collect, symbols, shared, libbpf
#   symbols          symbols; no libbpf
#   output           output, shared; no libbpf
#   everybody but bpf and shared: run/log.h and run/number.h
#
# The headers run/log.h, run/number.h and output/escape.h know nobody. No tool knows another, and no
# room of the library knows a tool or a skeleton.
. "$(dirname "$0")/lib.sh"

# Reads #include lines as FILE:LINE:TEXT.
# shellcheck disable=SC2016
judge='
function refuse(why) { print file ":" line ": " why ": " what }
function one_of(word, list) { return index(" " list " ", " " word " ") > 0 }
function is_leaf(path) { return path ~ /^(run\/(log|number)|output\/escape)\.h$/ }

# kernel_side(): the rule of code that runs in the kernel.
function kernel_side() {
	if (angled)
		return what ~ /^bpf\/bpf_(helpers|tracing|core_read|endian)\.h$/ ? "" : \
			"kernel side knows no libc"
	if (what == "vmlinux.h" || one_of(room, "bpf shared"))
		return ""
	return "kernel side knows bpf, shared and vmlinux.h only"
}

# user_side(rooms, libbpf): the rule of a room that may use these rooms, and libbpf or not.
function user_side(rooms, libbpf) {
	if (what ~ /\.skel\.h$/)
		return "only a tool'"'"'s loader knows its skeleton"
	if (what == "vmlinux.h" || what ~ /\.bpf\.h$/)
		return "user side knows no kernel-side header"
	if (angled)
		return what ~ /^bpf\// && !libbpf ? "this file does without libbpf" : ""
	if (what !~ /\//)
		return "write it as ROOM/NAME.h"
	if (one_of(room, rooms) || what ~ /^run\/(log|number)\.h$/)
		return ""
	return "this room may not know that one (allowed: " rooms ")"
}

function in_library(from,    module) {
	module = file
	sub(/^libbpf-helpers\//, "", module)
	if (from == "bpf")
		return kernel_side()
	# The one place where both sides get their integer types from.
	if (module == "shared/types.h" && one_of(what, "vmlinux.h linux/types.h"))
		return ""
	if (from == "shared")
		return room == "shared" && !angled ? "" : "shared knows nothing"
	if (is_leaf(module))
		return angled && what !~ /^bpf\// ? "" : "this header knows nobody"
	if (from == "run" && module ~ /^run\/target\./)
		return user_side("run output shared symbols", 1)
	if (from == "run")
		return user_side("run output shared", 1)
	if (from == "report")
		return user_side("report run collect symbols output shared", 0)
	if (from == "collect")
		return user_side("collect symbols shared", 1)
	if (from == "symbols")
		return user_side("symbols", 0)
	if (from == "output")
		return user_side("output shared", 0)
	return "there is no rule for this room"
}

function in_tool(tool, name) {
	if (!angled && what !~ /\// && what !~ /\.skel\.h$/ && what != "vmlinux.h") {
		# One of its own folder.
		if (name == tool ".h" || (name ~ /\.bpf\.[ch]$/ && what != tool ".h" && \
					  what !~ /\.bpf\.h$/))
			return "only " tool ".h is for both sides, and it knows shared only"
		if (name !~ /\.bpf\.[ch]$/ && what ~ /\.bpf\.h$/)
			return "user side knows no kernel-side header"
		return ""
	}
	if (name ~ /\.bpf\.[ch]$/)
		return kernel_side()
	if (name == tool ".h")
		return room == "shared" && !angled ? "" : "what both sides read knows shared only"
	if (name == tool ".c" && what == tool ".skel.h")
		return ""
	return user_side("report run collect symbols output shared", name == tool ".c")
}

{
	file = $1
	line = $2
	what = $0
	sub(/^[^:]*:[^:]*:/, "", what)
	sub(/^[ \t]*#[ \t]*include[ \t]*/, "", what)
	angled = what ~ /^</
	sub(/^["<]/, "", what)
	sub(/[">].*/, "", what)
	room = what
	sub(/\/.*/, "", room)
	parts = split(file, part, "/")

	why = ""
	if (what ~ /(^|\/)\.\.?\//)
		why = "no way up or around: name the room"
	else if (part[1] == "libbpf-helpers")
		why = in_library(part[2])
	else if (part[1] == "tools")
		why = in_tool(part[2], part[parts])
	else if (file ~ /^tests\/.*\.bpf\.c$/ && !(!angled && what !~ /\//))
		why = kernel_side()
	if (why != "")
		refuse(why)
}'

check_includes() {
	sources=$(c_files | grep -E '^(tools|libbpf-helpers|tests)/') || return 1
	# /dev/null makes grep name the file also where there is one.
	echo "$sources" | xargs grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null |
		awk -F: "$judge"
}

rule "include rules" check_includes
finish
