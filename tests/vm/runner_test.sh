#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests of the runner itself: what it passes on, and that a command which fails, hangs or kills its
# guest makes it fail, within its limit and with the reason. Part of check.sh.
#
# usage: [KERNEL=NAME] tests/vm/runner_test.sh

set -u
export LC_ALL=C
vm=$(cd "$(dirname "$0")" && pwd)
kernel=${KERNEL:-6.1}
# Enough for a boot on a busy machine.
limit=90

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# is NAME SEEN EXPECTED
is() {
	if [ "$2" = "$3" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1: expected '$3', got '$2'"
		failed=1
	fi
}

# says NAME FILE PATTERN: whether a line of the file matches.
says() {
	if grep -qE -- "$3" "$2"; then
		echo "ok - $1"
	else
		echo "not ok - $1: expected a line like '$3', got:"
		sed 's/^/    /' "$2"
		failed=1
	fi
}

# run SCRIPT ARG...: runs a script of the runner on a build of this test's own, with its output in
# $work/out and $work/err and its status in $status.
run() {
	local script=$1
	shift
	VANTAGE_BUILD=$work/build VANTAGE_BIN=$work/build/bin "$vm/$script" "$@" \
		>"$work/out" 2>"$work/err"
	status=$?
}

# program NAME: a test program of that build is made from stdin.
program() {
	mkdir -p "$work/build/tests/live"
	cat >"$work/build/tests/live/$1_test"
	chmod +x "$work/build/tests/live/$1_test"
}

test_usage() {
	run run.sh 0.1 -- true
	is "unknown kernel: status" $status 2
	says "unknown kernel: the known ones are listed" "$work/err" "no kernel '0.1'.* 6\.1 6\.12"
	run run.sh "$kernel@colour=blue" -- true
	is "unknown variant: status" $status 2
	run run.sh --cpus many "$kernel" -- true
	is "number that is none: status" $status 2
	run run.sh -- true
	is "no kernel: status" $status 2
}

test_not_fetched() {
	printf '%s\n' 'kernel: 0.1' 'suites: nosuchsuite' 'release: 0.1.*' 'image: linux-image-@' \
		>"$work/kernels"
	export VANTAGE_VM_KERNELS=$work/kernels XDG_CACHE_HOME=$work/cache
	run run.sh 0.1 -- true
	is "not to be fetched: status" $status 77
	says "not to be fetched: a named skip" "$work/err" \
		'^skip - vm:0\.1: cannot fetch linux-image-0\.1\.\* from nosuchsuite: .+'
	run check.sh 0.1
	is "check, nothing fetched: status" $status 1
	says "check, nothing fetched: a named skip" "$work/out" '^skip - vm:0\.1: cannot fetch '
	is "check, nothing fetched: sums" "$(tail -n 1 "$work/out")" "0 passed, 1 failed, 1 skipped"
}

test_output() {
	# Every byte, and what a terminal would change.
	for byte in $(seq 0 255); do
		# shellcheck disable=SC2059 # the format is the byte
		printf "\\x$(printf %02x "$byte")"
	done >"$work/bytes"
	run run.sh --timeout $limit --extra "$work/bytes" "$kernel" -- sh -c \
		'cat bytes; cat bytes bytes >&2; sleep 1000 & exit 7'
	is "status of the command" $status 7
	is "stdout, every byte" "$(cmp "$work/out" "$work/bytes" 2>&1)" ""
	cat "$work/bytes" "$work/bytes" >"$work/twice"
	is "stderr, every byte" "$(cmp "$work/err" "$work/twice" 2>&1)" ""
}

test_two() {
	run run.sh --timeout $limit "$kernel" "$kernel@cpus=1" -- sh -c 'uname -r; nproc; [ "$#" = 1 ]' \
		'two words' "it's"
	is "two guests: status" $status 0
	is "two guests: lines on stdout" "$(grep -c . "$work/out")" 4
	is "two guests: CPUs of the second" "$(tail -n 1 "$work/out")" 1
	is "two guests: nothing on stderr" "$(cat "$work/err")" ""
}

test_hang() {
	run run.sh --timeout 45 "$kernel" -- sh -c 'echo before; sleep 1000'
	is "hang: status" $status 124
	is "hang: what came before" "$(cat "$work/out")" before
	says "hang: named, with the limit" "$work/err" "$kernel: the command did not end .* 45 s "
	says "hang: tail of the console" "$work/err" '^    \[ .* /init'
}

test_panic() {
	run run.sh --timeout $limit "$kernel" -- sh -c 'echo before; sleep 1; echo c >/proc/sysrq-trigger'
	is "panic: status" $status 125
	is "panic: what came before" "$(cat "$work/out")" before
	says "panic: named" "$work/err" "$kernel: the guest died: Kernel panic - .*sysrq"
	says "panic: tail of the console" "$work/err" '^    \[ .*sysrq_handle_crash'
}

test_reset() {
	run run.sh --timeout $limit "$kernel" -- reboot -f
	is "reset: status" $status 125
	says "reset: named" "$work/err" "$kernel: the guest was reset or switched off"
}

test_variant() {
	run run.sh --timeout $limit "$kernel@preempt=lazy" -- true
	is "variant that the kernel lacks: status" $status 125
	says "variant that the kernel lacks: named" "$work/err" 'this kernel has no preempt=lazy'
}

test_check() {
	program good <<<$'#!/bin/sh\necho "ok - good"'
	program bad <<<$'#!/bin/sh\necho "not ok - bad: on purpose"; exit 1'
	program odd <<<$'#!/bin/sh\necho "skip - odd: on purpose"'
	program slow <<<$'#!/bin/sh\nsleep 1000'
	TEST_TIMEOUT=5 run check.sh --timeout $limit "$kernel"
	is "check, bad tests: status" $status 1
	says "check, bad tests: a failure" "$work/out" "^not ok - $kernel: bad: on purpose"
	says "check, bad tests: a skip nobody expects" "$work/out" "^not ok - $kernel: odd_test: unexpected"
	says "check, bad tests: one that hangs" "$work/out" "^not ok - $kernel: slow_test: .*limit of 5 s"
	says "check, bad tests: a group without any" "$work/out" "^not ok - $kernel: bpf: no tests found"
	is "check, bad tests: sums" "$(tail -n 1 "$work/out")" "1 passed, 4 failed, 0 skipped"

	program good <<<$'#!/bin/sh\necho "ok - good"; echo c >/proc/sysrq-trigger'
	run check.sh --timeout $limit "$kernel"
	is "check, a test that kills the guest: status" $status 1
	says "check, a test that kills the guest: why" "$work/err" 'Kernel panic'
	is "check, a test that kills the guest: sums" "$(tail -n 1 "$work/out")" \
		"0 passed, 1 failed, 0 skipped"
}

# What fetching says must not get between the lines that are looked at.
"$vm/fetch.sh" "$kernel" >/dev/null || {
	echo "not ok - runner: without the kernel $kernel nothing can be tested"
	exit 1
}
test_usage
(test_not_fetched; exit $failed) || failed=1
test_output
test_two
test_hang
test_panic
test_reset
test_variant
test_check
exit $failed
