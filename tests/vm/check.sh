#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs all BPF and live tests on stock kernels in virtual machines, and the tests of the runner
# itself (runner_test.sh). Every line of a guest's tests comes out with the kernel's name in it; the
# last line adds all up: "N passed, N failed, N skipped". Which checks have to be skipped on a kernel
# stands in tests/lint/skips/KERNEL, or KERNEL@VARIANT where a variant has a list of its own.
#
# What each guest said is kept in $VANTAGE_BUILD/vm/KERNEL.out, for support_table.sh.
#
# usage: tests/vm/check.sh [--all] [--jobs N] [--timeout SECS] [KERNEL|runner...]
#   KERNEL           as run.sh takes it; runner: the tests of the runner (default: 6.1 6.12 runner)
#   --all            every kernel of kernels.txt, as it is and in every variant, and the runner
#   --jobs N         guests at a time (default: one for each CPU)
#   --timeout SECS   time limit for each guest (default 1200)
#
# Exit status: 0 if no check failed and there was one, 1 if not, 2 usage. A kernel that cannot be
# fetched is skipped by name. The environment is run.sh's.

set -u -o pipefail
export LC_ALL=C
. "$(dirname "$0")/common.sh"

build=${VANTAGE_BUILD:-$(dirname "$0")/../../build}

# The tests of the runner boot some ten guests.
readonly runner_limit=900
# The kernel they boot.
readonly runner_kernel=6.1

# First by which mechanism each tool attaches there (to this function, if it has to be told one),
# then all tests. Where lockdown forbids reading kernel memory most tools cannot run: there it is
# tested that they say so.
# shellcheck disable=SC2016 # the guest's shell reads it
readonly guest_command='for tool in build/bin/*; do
	echo "mechanism: ${tool##*/}" $({ "$tool" --explain || "$tool" --explain vfs_write; } 2>&1 | sed -n "s/^  .* by \([a-z_.]*\).*/\1/p" | sort -u)
done
case $1 in
*@lockdown=confidentiality) exec tests/run.sh bpf build/tests/live/check_verdict_test ;;
*) exec tests/run.sh bpf live ;;
esac'

# with_variants: every kernel, each followed by its variants.
with_variants() {
	local name variant
	for name in $(kernel_names); do
		echo "$name"
		for variant in $(kernel_field "$name" variants); do
			echo "$name@$variant"
		done
	done
}

# run_guest KERNEL: leaves stdout, stderr, the exit status and the seconds it took in files
# $work/KERNEL.*.
run_guest() {
	local begin=$SECONDS
	if [ "$1" = runner ]; then
		KERNEL=$runner_kernel VANTAGE_SKIPS=/dev/null TEST_TIMEOUT=$runner_limit \
			"$vm/../run.sh" "$vm/runner_test.sh"
	else
		"$vm/run.sh" --timeout "$timeout" "$1" -- sh -c "$guest_command" guest "$1"
	fi >"$work/$1.out" 2>"$work/$1.err"
	echo "$? $((SECONDS - begin))" >"$work/$1.ending"
	mv "$work/$1.ending" "$work/$1.done"
}

# add PASSED FAILED SKIPPED
add() {
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# report NAME: shows what came of one guest (or of the runner's tests) and adds it up. A run that
# has no sums, or whose status does not fit them, is a failure.
report() {
	local name=$1 status took sums count
	read -r status took <"$work/$name.done"
	sums=$(grep -xE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$work/$name.out" | tail -n 1)
	sed -e '/^[0-9]* passed, [0-9]* failed, [0-9]* skipped$/d' \
		-e "s/^\(ok\|not ok\|skip\) - /&$name: /" -e '/^\(ok\|not ok\|skip\) - /!s/^/'"$name: /" \
		"$work/$name.out"
	sed "s/^/$name: /" "$work/$name.err" >&2
	mkdir -p "$build/vm" && cp "$work/$name.out" "$build/vm/$name.out"
	if [ -z "$sums" ]; then
		echo "not ok - $name: the tests did not come to their end (status $status, $took s)"
		add 0 1 0
		return
	fi
	# The words stand at fixed places: N passed, N failed, N skipped
	read -r -a count <<<"$sums"
	add "${count[0]}" "${count[2]}" "${count[4]}"
	if [ $((count[0] + count[2])) -eq 0 ]; then
		echo "not ok - $name: no test was run"
		add 0 1 0
	elif [ "$status" -ne 0 ] && [ "${count[2]}" -eq 0 ]; then
		echo "not ok - $name: exit status $status though no check failed"
		add 0 1 0
	fi
	echo "$name: ran for $took s: $sums"
}

# fetch KERNEL...: sets $fetched to those that are to be had; the others are told and counted.
fetch() {
	local name base status
	fetched=()
	for name; do
		base=${name%%@*}
		[ "$name" != runner ] || base=$runner_kernel
		if [ ! -f "$work/$base.fetched" ]; then
			"$vm/fetch.sh" "$base" >"$work/$base.path" 2>"$work/$base.why"
			echo $? >"$work/$base.fetched"
			grep -v '^skip - ' "$work/$base.why" >&2
		fi
		status=$(cat "$work/$base.fetched")
		case $status in
		0) fetched+=("$name") ;;
		"$not_fetched")
			sed -n "s/^skip - vm:$base:/skip - vm:$name:/p" "$work/$base.why"
			add 0 0 1
			;;
		2) exit 2 ;;
		*)
			echo "not ok - vm:$name: fetch.sh ended with status $status"
			add 0 1 0
			;;
		esac
	done
}

# run_all NAME...: starts the guests, so many at a time, and reports each as it ends.
run_all() {
	local name running=0
	for name; do
		if [ $running -ge "$jobs" ]; then
			wait -n
			running=$((running - 1))
			report_ended
		fi
		run_guest "$name" &
		running=$((running + 1))
	done
	while [ $running -gt 0 ]; do
		wait -n
		running=$((running - 1))
		report_ended
	done
}

report_ended() {
	local ended
	for ended in "$work"/*.done; do
		[ -f "$ended" ] || continue
		report "$(basename "$ended" .done)"
		mv "$ended" "$ended.reported"
	done
}

# Called by the trap.
# shellcheck disable=SC2317
stop() {
	local children
	children=$(jobs -p)
	# shellcheck disable=SC2086 # process ids
	[ -z "$children" ] || kill $children 2>/dev/null
	wait
	rm -rf "$work"
}

all=0 jobs=$(nproc) timeout=1200 chosen=()
while [ $# -gt 0 ]; do
	case $1 in
	--all) all=1 ;;
	--jobs | --timeout)
		[[ ${2-} =~ ^[1-9][0-9]{0,5}$ ]] || usage_error "$1 wants a number from 1 to 999999, not '${2-}'"
		printf -v "${1#--}" '%s' "$2"
		shift
		;;
	-h | --help)
		show_help
		exit
		;;
	-*) usage_error "unknown option '$1'" ;;
	*) chosen+=("$1") ;;
	esac
	shift
done
if [ $all -eq 1 ]; then
	[ ${#chosen[@]} -eq 0 ] || usage_error "--all stands instead of a kernel's name (${chosen[0]})"
	readarray -t chosen < <(with_variants)
	chosen+=(runner)
elif [ ${#chosen[@]} -eq 0 ]; then
	chosen=(6.1 6.12 runner)
fi

work=$(mktemp -d) || exit 1
trap stop EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0 skipped=0
fetch "${chosen[@]}"
if [ ${#fetched[@]} -gt 0 ]; then
	run_all "${fetched[@]}"
fi
[ $((passed + failed)) -gt 0 ] || {
	echo "not ok - vm: no test was run"
	failed=1
}
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
