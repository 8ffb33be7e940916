#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs test programs and adds up what they report. Needs no more than busybox.
#
# usage: tests/run.sh GROUP|PROGRAM...
#   GROUP     unit, bpf, live: every built test of that group; lint: the scripts in tests/lint
#   PROGRAM   path of one test program
#
# A test program prints one line per check on stdout: "ok - NAME", "not ok - NAME: WHY" or
# "skip - NAME: REASON", and exits with 0, or with 1 when a check failed. One that crashes, takes
# too long or reports nothing is one failed check more. A skip that the list for this kernel does
# not name is a failure, and so is one it names that did not come.
#
# The last line is "N passed, N failed, N skipped"; the exit status is 0 if none failed.
#
# environment:
#   VANTAGE_BUILD   where make built (default: build/)
#   VANTAGE_BIN     where the tools are (default: bin/ in there); handed on to the tests
#   VANTAGE_SKIPS   list of expected skips (default: the one of tests/lint/skips for this kernel)
#   TEST_TIMEOUT    seconds for one program (default: 300)
#   V=1             show every line, not only what is not as it should be
set -u
export LC_ALL=C

tests=$(cd "$(dirname "$0")" && pwd)
limit=${TEST_TIMEOUT:-300}
build=${VANTAGE_BUILD:-$tests/../build}
VANTAGE_BIN=${VANTAGE_BIN:-$build/bin}
# A test may change its directory.
[ ! -d "$VANTAGE_BIN" ] || VANTAGE_BIN=$(cd "$VANTAGE_BIN" && pwd)
[ ! -d "$build" ] || build=$(cd "$build" && pwd)
VANTAGE_BUILD=$build
export VANTAGE_BIN VANTAGE_BUILD

[ $# -gt 0 ] || {
	sed -n 's/^# usage: /usage: /p' "$0" >&2
	exit 2
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

passed=0 failed=0 skipped=0

# Prints the path of the list for this kernel: the one named like the start of its release, or the
# one for any.
skip_list() {
	for list in "$tests"/lint/skips/[0-9]*; do
		case $(uname -r) in
		"${list##*/}" | "${list##*/}"[!0-9]*)
			echo "$list"
			return
			;;
		esac
	done
	echo "$tests/lint/skips/native"
}

# expected PROGRAM: prints the names of the checks that this program has to skip.
expected() {
	[ ! -f "$skips" ] || sed -e 's/^#.*//' -e 's/[ 	][ 	]*#.*//' -e 's/[ 	]*$//' \
		-e "/^$1:/!d" -e "s/^$1: *//" "$skips"
}

# Reads the expected skips and then a program's stdout; shows what a person has to see, and writes
# the sums to the file "sums".
# shellcheck disable=SC2016
judge='
function fail(why) { failed++; print "not ok - " name ": " why }
FILENAME == expected { wanted[$0] = 1; next }
/^(ok|not ok|skip) - ./ { reported++ }
/^ok - ./ { passed++; shown = show }
/^not ok - ./ { failed++; shown = 1 }
/^skip - ./ {
	check = substr($0, 8)
	colon = index(check, ": ")
	if (colon)
		check = substr(check, 1, colon - 1)
	if (check in wanted) {
		skipped++
		came[check] = 1
	} else {
		fail("unexpected skip of \"" check "\" (not in " list ")")
	}
	shown = 1
}
!/^(ok|not ok|skip) - ./ { shown = 1 }
shown { print }
END {
	for (check in wanted)
		if (!(check in came))
			fail("\"" check "\" was expected to be skipped (" list ") and was not")
	if (took >= limit)
		fail("ended after its limit of " limit " s")
	else if (status > 128)
		fail("killed by signal " status - 128)
	else if (status > 1)
		fail("exit status " status)
	else if (!reported)
		fail("reported no check (exit status " status ")")
	else if (status == 1 && !failed)
		fail("exit status 1 though no check failed")
	printf "%s: %d passed, %d failed, %d skipped, %d s\n", name, passed, failed, skipped, took
	print passed + 0, failed + 0, skipped + 0 >sums
}'

run_program() {
	name=$(basename "$1" .sh)
	expected "$name" >"$work/expected"
	begin=$(date +%s)
	# Said before, for the case that the machine does not live to say it after.
	echo "== $name"
	timeout -k 10 "$limit" "$1" >"$work/output" </dev/null
	status=$?
	took=$(($(date +%s) - begin))
	echo "0 1 0" >"$work/sums"
	awk -v name="$name" -v expected="$work/expected" -v sums="$work/sums" -v list="$skips" \
		-v status="$status" -v took="$took" -v limit="$limit" -v show="${V:-0}" \
		"$judge" "$work/expected" "$work/output"
	read -r p f s <"$work/sums"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

run_group() {
	case $1 in
	lint) set -- lint "$tests"/lint/*_test.sh ;;
	*) set -- "$1" "$build/tests/$1"/*_test ;;
	esac
	group=$1
	shift
	if [ ! -e "$1" ]; then
		echo "not ok - $group: no tests found ($1)"
		failed=$((failed + 1))
		return
	fi
	for program; do
		run_program "$program"
	done
}

skips=${VANTAGE_SKIPS:-$(skip_list)}
for argument; do
	case $argument in
	unit | bpf | live | lint) run_group "$argument" ;;
	*) run_program "$argument" ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
