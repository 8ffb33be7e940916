#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Resident memory of a tool while commands start at a given rate, with and without the
# pages of its ring buffer, and the size of its binary.
#
#	bench/memory.sh [-r EXECS_A_SECOND] [-s SECONDS] [TOOL [ARGS...]]
set -euo pipefail

rate=100
seconds=10
while getopts r:s: option; do
	case $option in
	r) rate=$OPTARG ;;
	s) seconds=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- build/bin/execsnoop -e

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/ready"
exec 4<>"$dir/ready"
"$@" --ready-fd 3 3>"$dir/ready" >"$dir/out" 2>"$dir/err" &
pid=$!
if ! read -r -t 10 byte <&4; then
	cat "$dir/err" >&2
	exit 1
fi
: "$byte"

elapsed() { # microseconds
	local t=$EPOCHREALTIME
	echo $((${t%.*} * 1000000 + 10#${t#*.} - begin))
}

# As many as are due by the clock, and then a pause: a pause for each would add up.
begin=0
begin=$(elapsed)
started=0
while us=$(elapsed) && [ "$us" -lt $((seconds * 1000000)) ]; do
	while [ $started -lt $((us * rate / 1000000)) ]; do
		/bin/true
		started=$((started + 1))
	done
	read -r -t 0.02 byte <&4 || true
done

# A ring's mapping is named after its map's descriptor.
awk '/^[0-9a-f]+-[0-9a-f]+ / { ring = /anon_inode:bpf-map/ }
	/^Rss:/ { all += $2; if (ring) rings += $2 }
	END { printf "resident %d KiB, of which the ring'"'"'s pages %d KiB; the rest %d KiB\n",
	      all, rings, all - rings }' "/proc/$pid/smaps"
kill -TERM "$pid"
wait "$pid" || true
printf '%d commands started in %d s\n' "$started" "$seconds"
tail -n 1 "$dir/err"
printf 'binary: %d bytes\n' "$(stat -Lc %s "$1")"
