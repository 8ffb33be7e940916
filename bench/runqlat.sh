#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# runqlat's figures on this machine, beside those of libbpf-tools' runqlat where it is installed:
# what it adds to a context switch, the time inside its programs, start, memory, CPU time, and a run
# with very many threads.
#
#	bench/runqlat.sh [-n ROUNDS] [-s SECONDS] [-t THREADS]
#	  ROUNDS   of the switches, alone and under each tool in turn, and starts (default 9)
#	  SECONDS  of the run with reports each second (default 60)
#	  THREADS  of the run with -L (default 10000)
#
# environment: VANTAGE_BUILD tells where make built (default: build); needs "make tests".
set -euo pipefail

rounds=9
seconds=60
threads=10000
while getopts n:s:t: option; do
	case $option in
	n) rounds=$OPTARG ;;
	s) seconds=$OPTARG ;;
	t) threads=$OPTARG ;;
	*) exit 2 ;;
	esac
done

bench=$(cd "$(dirname "$0")" && pwd)
build=${VANTAGE_BUILD:-$bench/../build}
tool=${VANTAGE_BIN:-$build/bin}/runqlat
# A live test plays the roles of tests/support/role.h.
player=$build/tests/live/runqlat_usage_test
for file in "$tool" "$player"; do
	[ -x "$file" ] || {
		echo "missing: $file (make tests)" >&2
		exit 1
	}
done

# The peer needs tracefs: mounted for this run only.
if [ ! -e /sys/kernel/tracing/events ] && [ -z "${RUNQLAT_TRACEFS-}" ]; then
	RUNQLAT_TRACEFS=1 exec unshare -m sh -c \
		'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' sh \
		"$0" -n "$rounds" -s "$seconds" -t "$threads"
fi
peer=
for path in /usr/sbin/runqlat runqlat; do
	if command -v "$path" >/dev/null && "$path" --help 2>&1 | grep -q -- '--pidnss'; then
		peer=$path
		break
	fi
done

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/ready"
exec 4<>"$dir/ready"

now() { # microseconds
	local t=$EPOCHREALTIME
	echo $((${t%.*} * 1000000 + 10#${t#*.}))
}

# start_tool ARGS...: returns when it traces; $pid is it.
start_tool() {
	"$tool" --ready-fd 3 "$@" 3>"$dir/ready" >"$dir/out" 2>"$dir/err" 4<&- &
	pid=$!
	read -r -N 1 -t 30 _ <&4 || {
		cat "$dir/err" >&2
		exit 1
	}
}

stop() {
	kill -INT "$pid"
	wait "$pid" || [ "$pid" = "${peer_pid:-}" ]
}

# play ROLE
play() {
	VANTAGE_ROLE=$1 "$player"
}

# hand FILE: one figure more, nanoseconds of a wake-up and the switch to who is woken.
hand() {
	play "hand 200000 $1"
}

median() {
	sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# Differences of a round are taken from the same round.
switches() {
	local round peer_pid
	for ((round = 0; round < rounds; round++)); do
		hand "$dir/bare"
		start_tool
		hand "$dir/ours"
		stop
		[ -n "$peer" ] || continue
		# It tells nobody when it is attached, and ignores SIGINT as a shell's job.
		"$peer" 3600 1 >/dev/null 2>&1 &
		pid=$! peer_pid=$!
		sleep 3
		kill -0 "$pid"
		hand "$dir/peer"
		kill -TERM "$pid"
		wait "$pid" || true
	done
	echo "one wake-up and switch between two threads on one CPU, ns; medians of $rounds rounds"
	printf '  %-28s %8.0f\n' alone "$(median "$dir/bare")"
	for who in ours peer; do
		[ -f "$dir/$who" ] || continue
		paste "$dir/$who" "$dir/bare" | awk '{ print $1 - $2 }' >"$dir/added.$who"
	done
	printf '  %-28s %8.0f  added %.0f\n' runqlat "$(median "$dir/ours")" \
		"$(median "$dir/added.ours")"
	[ -z "$peer" ] || printf '  %-28s %8.0f  added %.0f; runqlat adds %.2f of that\n' \
		"libbpf-tools' runqlat" "$(median "$dir/peer")" "$(median "$dir/added.peer")" \
		"$(awk -v a="$(median "$dir/added.ours")" -v b="$(median "$dir/added.peer")" \
			'BEGIN { print a / b }')"
}

# The kernel's own statistics, whose share is in them.
inside() {
	start_tool --stats
	hand "$dir/discarded"
	stop
	echo "time inside the programs meanwhile, by the kernel's statistics"
	sed -n 's/^runqlat: \(runqlat_[a-z_]*: .* ns each\).*/  \1/p' "$dir/err" | grep -v _new
}

starts() {
	local round begin
	for ((round = 0; round < rounds; round++)); do
		begin=$(now)
		start_tool
		echo $(($(now) - begin)) >>"$dir/start"
		stop
	done
	sort -n "$dir/start" | awk '{ v[NR] = $1 / 1000 } END {
		printf "start to ready, ms: median %.1f, least %.1f, most %.1f of %d starts\n",
			v[int((NR + 1) / 2)], v[1], v[NR], NR }'
}

reports() {
	start_tool --stats 1 "$seconds"
	wait "$pid"
	echo "$seconds reports, one each second, start included"
	sed -n 's/^runqlat: the tool itself: /  /p' "$dir/err"
}

many() {
	start_tool -L --top 1 --stats -d 30
	play "nappers $threads 5000"
	stop
	echo "$threads threads that sleep for 500 ms at a time, -L, for 5 s"
	grep -E '^runqlat: wait [0-9]+ seen|warning' "$dir/err" | sed 's/^runqlat: /  /'
	sed -n 's/^runqlat: the tool itself: .*; its maps/  its maps/p' "$dir/err"
}

echo "$(uname -sr), $(nproc) CPUs ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1))," \
	"load $(cut -d' ' -f1 /proc/loadavg)"
switches
inside
starts
reports
many
