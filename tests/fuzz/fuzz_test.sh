#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs each built fuzzer for FUZZ_SECONDS (default 15) from seeds that this machine gives: a program
# of the compiler with and without symbols, maps, kallsyms, and a perf map. A crash, a leak, an
# input that takes longer than 5 s or more than 512 MB is a failure; what the fuzzer says is shown.
set -u
export LC_ALL=C

build=${VANTAGE_BUILD:-$(dirname "$0")/../../build}
seconds=${FUZZ_SECONDS:-15}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0
mkdir "$work/elf" "$work/maps" "$work/kallsyms" "$work/perf_map"

seeds() {
	printf 'int helper(int x) { return x * 3; }\nint _start(void) { return helper(2); }\n' \
		>"$work/seed.c"
	for class in 64 32; do
		"${CC:-gcc}" "-m$class" -O1 -fno-inline -nostdlib -shared -fPIC -Wl,--build-id \
			-o "$work/elf/$class" "$work/seed.c" || return
		strip -o "$work/elf/$class.stripped" "$work/elf/$class" || return
	done
	xz -k -c "$work/elf/64" >"$work/inner.xz" || return
	objcopy --add-section .gnu_debugdata="$work/inner.xz" "$work/elf/64.stripped" \
		"$work/elf/debugdata" || return
	objcopy --add-gnu-debuglink="$work/elf/64" "$work/elf/64.stripped" "$work/elf/debuglink" ||
		return
	cp /proc/self/maps "$work/maps/own"
	head -n 200 /proc/kallsyms >"$work/kallsyms/own"
	printf 'ffffffffc0000010 t ext4_f\t[ext4]\n' >>"$work/kallsyms/own"
	printf '1000 10 f\n1000 20 LazyCompile:~g a.js:1\n0x1 zz\n' >"$work/perf_map/small"
}

if ! seeds; then
	echo "not ok - fuzzing: the seeds could not be made"
	exit 1
fi
for fuzzer in "$build"/tests/fuzz/*_fuzz; do
	name=$(basename "$fuzzer" _fuzz)
	if [ -x "$fuzzer" ] && (cd "$work" && "$fuzzer" -max_total_time="$seconds" -max_len=65536 \
		-timeout=5 -rss_limit_mb=512 -print_final_stats=1 "$work/$name") \
		>"$work/log" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")
		echo "ok - $name: $runs inputs in $seconds s"
	else
		tail -n 40 "$work/log"
		echo "not ok - $name: see above"
		failed=1
	fi
done
exit "$failed"
