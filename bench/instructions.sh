#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What tracing costs, in instructions per event: counted, not timed, in virtual machines with stock
# kernels, and compared with the figures that are checked in as bench/instructions/KERNEL.txt.
# README.md beside this file tells how to read them.
#
# usage: bench/instructions.sh [--check | --twice | --update] [KERNEL...]
#   KERNEL     a name of tests/vm/kernels.txt (default: 6.1 6.12)
#   --check    print one line per figure, "ok - NAME" or "not ok - NAME: WHY", and their number, and
#              the tables only where something is not as it was
#   --twice    measure twice: no tool's figure may differ from the first by more than 1 %
#   --update   write the checked-in figures
#
# A tool's figure, net of the floor of the same run, may grow by 3 % over the checked-in one, by
# 10 % when kernel, compilers or emulator are other ones, which is said. The other figures are shown
# and not judged, but a row that has come or gone fails, too.
#
# Exit status: 0 all is within the limits, 1 it is not or could not be measured, 2 usage. A kernel
# that cannot be fetched is skipped by name.
#
# environment: VANTAGE_BUILD (and VANTAGE_BIN, default bin/ in there): measure what is built there;
# without it, make builds what is missing in build/.

set -u -o pipefail
export LC_ALL=C

bench=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$bench")
# Of run.sh: a kernel could not be fetched.
readonly not_fetched=77
# Far above what a loaded machine needs.
readonly guest_limit=300

say() {
	echo "${0##*/}: $*" >&2
}

usage_error() {
	say "$*"
	say "try '$0 --help'"
	exit 2
}

build() {
	if [ -z "${VANTAGE_BUILD:-}" ]; then
		VANTAGE_BUILD=$root/build
		make -s -C "$root" tools bench >&2 || exit 1
	fi
	export VANTAGE_BUILD
	[ -x "$VANTAGE_BUILD/bench/instructions" ] || {
		say "there is no $VANTAGE_BUILD/bench/instructions: 'make bench' makes it"
		exit 1
	}
}

# measure KERNEL FILE: writes the tables of one run. Returns run.sh's status; why it failed is then
# on stderr.
measure() {
	local status
	{
		echo "# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause"
		echo "emulator: $(qemu-system-x86_64 --version | head -n 1)"
	} >"$2"
	"$root/tests/vm/run.sh" --icount --timeout $guest_limit \
		--extra "$VANTAGE_BUILD/bench/instructions" "$1" -- ./instructions >>"$2"
	status=$?
	[ $status -eq 0 ] || [ $status -eq $not_fetched ] || grep '^not ok - ' "$2" >&2
	return $status
}

# Reads two files of tables, the earlier one first, and prints a line for each check. With both, the
# limit holds in both directions.
# shellcheck disable=SC2016
judge='
BEGIN { FS = "  +" }
FNR == 1 { nr_files++; section = "" }
/^#/ || !NF { next }
/^== / { section = substr($1, 4); next }
section == "" {
	name = $0
	sub(/:.*/, "", name)
	value = $0
	sub(/^[^:]*: */, "", value)
	if (nr_files == 1)
		version[name] = value
	else if (version[name] != value)
		others = others "; " name " " version[name] " then, " value " now"
	next
}
{
	row = section SUBSEP $1
	if (nr_files == 1) {
		earlier[row] = $0
		next
	}
	order[++nr_rows] = row
	now[row] = $0
}
function report(ok, row, why,    part) {
	split(row, part, SUBSEP)
	if (ok)
		print "ok - " kernel ", " part[2]
	else
		print "not ok - " kernel ", " part[2] ": " why
	failed += !ok
	checks++
}
function lacks(line) {
	return line ~ /  not in this kernel: /
}
function net(line,    column) {
	return split(line, column, FS) == 4 ? column[4] + 0 : 0
}
# Rows of tools are compared; of the others, that they are there.
function compare(row,    a, b, change, why) {
	a = net(earlier[row])
	b = net(now[row])
	if (row !~ /^tools, one /) {
		if (lacks(earlier[row]) != lacks(now[row]))
			report(0, row, "the kernel " (lacks(now[row]) ? "lacks it now" : "has it now"))
		return
	}
	if (a <= 0 || b <= 0) {
		report(0, row, "the figures make no sense: net " a " then, " b " now")
		return
	}
	change = 100 * (b - a) / a
	why = sprintf("%.1f then, %.1f now, net of the floor: %+.1f %%, the limit is %s %%", a, b, \
		change, limit)
	report(change <= limit && (!both || change >= -limit), row, why)
}
END {
	if (others != "") {
		print "# " kernel ": measured with other versions" others
		limit = other_limit
	}
	for (i = 1; i <= nr_rows; i++) {
		if (order[i] in earlier)
			compare(order[i])
		else
			report(0, order[i], "it is new: --update writes it")
	}
	for (row in earlier)
		if (!(row in now))
			report(0, row, "it is there no longer: --update takes it out")
	if (!checks)
		report(0, "figures" SUBSEP "figures", "there is no figure of a tool")
	exit failed || others != ""
}'

# note LINE...: a line about a whole kernel.
note() {
	printf '%s\n' "$*" >>"$work/lines"
}

# compare KERNEL EARLIER NOW LIMIT OTHER_LIMIT BOTH: leaves its lines in $work/lines; fails when
# there is something to see.
compare() {
	awk -v kernel="$1" -v limit="$4" -v other_limit="$5" -v both="$6" "$judge" "$2" "$3" \
		>"$work/judged"
	local status=$?
	cat "$work/judged" >>"$work/lines"
	return $status
}

# look_at KERNEL: measures and judges one kernel as the mode wants; its lines are then in
# $work/lines. Returns whether there is nothing to see in the tables.
look_at() {
	local kernel=$1 known=$bench/instructions/$1.txt status
	measure "$kernel" "$work/first"
	status=$?
	if [ $status -eq 0 ] && [ "$mode" = twice ]; then
		measure "$kernel" "$work/second"
		status=$?
	fi
	case $status in
	0) ;;
	"$not_fetched")
		note "skip - $kernel, instructions: the kernel could not be fetched"
		: >"$work/first"
		return
		;;
	*)
		note "not ok - $kernel, instructions: could not be measured (status $status)"
		return 1
		;;
	esac
	case $mode in
	twice) compare "$kernel" "$work/first" "$work/second" 1 1 1 ;;
	update)
		cp "$work/first" "$known" && note "ok - $kernel, instructions written to $known"
		;;
	*)
		if [ ! -f "$known" ]; then
			note "not ok - $kernel, instructions: there is no $known; --update makes it"
			return 1
		fi
		compare "$kernel" "$known" "$work/first" 3 10 0
		;;
	esac
}

# count WORD: how many of the lines so far begin so.
count() {
	grep -c "^$1 - " "$work/all"
}

mode=show
kernels=()
for word; do
	case $word in
	--check | --twice | --update)
		[ "$mode" = show ] || usage_error "--$mode and $word are two things to do: give one"
		mode=${word#--}
		;;
	-h | --help)
		sed -n -e '/^# usage: /,/^$/{s/^# \{0,1\}//p;}' "$0"
		exit
		;;
	-*) usage_error "unknown option '$word'" ;;
	*) kernels+=("$word") ;;
	esac
done
[ ${#kernels[@]} -gt 0 ] || kernels=(6.1 6.12)
build

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
: >"$work/all"
for kernel in "${kernels[@]}"; do
	: >"$work/lines"
	if ! look_at "$kernel" || [ "$mode" != check ]; then
		grep -v '^# SPDX' "$work/first"
		echo
	fi
	case $mode in
	check | update) cat "$work/lines" ;;
	*) grep -v '^ok - ' "$work/lines" ;;
	esac
	cat "$work/lines" >>"$work/all"
done
echo "$(count ok) passed, $(count 'not ok') failed, $(count skip) skipped"
[ "$(count 'not ok')" -eq 0 ]
