#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# How long a tool takes from its start to the moment it traces.
#
#	bench/startup.sh [-n RUNS] [-p PEER] [TOOL [ARGS...]]
#
# Two clocks, in turn with each other so that a drift of the machine hits all alike:
# to the byte of --ready-fd, and to the heading on a terminal. The second is also taken of
# PEER, another tool that prints a heading when it is attached (say, libbpf-tools'
# execsnoop); the ratio is of the medians of the same run.
set -euo pipefail

runs=21
peer=
while getopts n:p: option; do
	case $option in
	n) runs=$OPTARG ;;
	p) peer=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- build/bin/execsnoop

command -v script >/dev/null || {
	echo "missing: script (package bsdutils)" >&2
	exit 1
}

# A peer may need tracefs: mounted for this run only.
if [ -n "$peer" ] && [ ! -e /sys/kernel/tracing/events ] && [ -z "${STARTUP_TRACEFS-}" ]; then
	STARTUP_TRACEFS=1 exec unshare -m sh -c \
		'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' sh \
		"$0" -n "$runs" -p "$peer" "$@"
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/ready"

now() { # microseconds
	local t=$EPOCHREALTIME
	echo $((${t%.*} * 1000000 + 10#${t#*.}))
}

to_ready() {
	local begin end pid byte
	exec 4<>"$dir/ready"
	begin=$(now)
	"$@" --ready-fd 3 3>"$dir/ready" >/dev/null 2>"$dir/err" &
	pid=$!
	if ! read -r -t 10 byte <&4; then
		cat "$dir/err" >&2
		echo "no ready byte from: $*" >&2
		exit 1
	fi
	end=$(now)
	kill -TERM "$pid"
	wait "$pid" || true
	exec 4<&-
	: "$byte"
	echo $((end - begin))
}

to_heading() {
	local begin end pid line
	exec 4<>"$dir/ready"
	begin=$(now)
	script -qfec "exec $*" /dev/null >"$dir/ready" 2>&1 </dev/null &
	pid=$!
	while read -r -t 10 line <&4; do
		case $line in *COMM*) break ;; esac
	done
	end=$(now)
	case $line in
	*COMM*) ;;
	*)
		echo "no heading from: $*" >&2
		exit 1
		;;
	esac
	kill -TERM "$pid"
	wait "$pid" 2>/dev/null || true
	exec 4<&-
	echo $((end - begin))
}

summary() { # NAME FILE
	sort -n "$2" | awk -v name="$1" '{ v[NR] = $1 / 1000 }
		END { printf "%-28s median %6.1f ms  least %6.1f  most %6.1f  (%d runs)\n",
		      name, v[int((NR + 1) / 2)], v[1], v[NR], NR }'
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

for ((i = 0; i < runs; i++)); do
	to_ready "$@" >>"$dir/to_ready"
	to_heading "$@" >>"$dir/to_heading"
	[ -z "$peer" ] || to_heading "$peer" >>"$dir/to_heading_of_peer"
done
summary "to the ready byte" "$dir/to_ready"
summary "to the heading" "$dir/to_heading"
if [ -n "$peer" ]; then
	summary "to the heading of the peer" "$dir/to_heading_of_peer"
	awk -v a="$(median "$dir/to_heading")" -v b="$(median "$dir/to_heading_of_peer")" \
		'BEGIN { printf "ratio of the medians         %.2f\n", a / b }'
fi
