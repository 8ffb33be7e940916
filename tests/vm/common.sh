# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the scripts of this directory share: messages, the table of kernels, the cache. Sourced.

vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# The tests of the runner bring a table of their own.
kernels=${VANTAGE_VM_KERNELS:-$vm/kernels.txt}
# shellcheck disable=SC2034 # the scripts that source this use it
cache=${XDG_CACHE_HOME:-${HOME:?is not set, so there is no place for a cache}/.cache}/vantage
# The exit status of fetch.sh and run.sh when a kernel could not be fetched.
# shellcheck disable=SC2034
readonly not_fetched=77

say() {
	echo "${0##*/}: $*" >&2
}

die() {
	say "$*"
	exit 1
}

usage_error() {
	say "$*"
	say "try '$0 --help'"
	exit 2
}

# show_help: prints the comment at the head of the script, from its usage line on.
show_help() {
	sed -n -e '/^# usage: /,/^$/{s/^# \{0,1\}//p;}' "$0"
}

# need PROGRAM PACKAGE...: ends the script when one of the programs is not there.
need() {
	local missing=
	while [ $# -gt 0 ]; do
		command -v "$1" >/dev/null || missing+=", $1 (package $2)"
		shift 2
	done
	[ -z "$missing" ] || die "missing: ${missing#, }"
}

kernel_names() {
	sed -n 's/^kernel: *//p' "$kernels"
}

# kernel_field NAME FIELD: prints one field of a kernel's paragraph; nothing if it is not there.
kernel_field() {
	awk -v name="$1" -v field="$2:" '
		$1 == "kernel:" { here = $2 == name }
		here && $1 == field { sub(/^[a-z]+: */, ""); print }' "$kernels"
}

# require_kernel NAME: ends the script when the table has no such kernel.
require_kernel() {
	local names
	names=$(kernel_names)
	grep -qxF -- "$1" <<<"$names" ||
		usage_error "there is no kernel '$1'; there are: ${names//$'\n'/ }"
}
