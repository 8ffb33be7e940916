#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What execsnoop costs the commands it sees: microseconds of one posix_spawn, exec, exit and wait of
# a small static program, without it and under it, in turn with each other so that a drift of the
# machine hits all alike; and what the account says of it.
#
#	bench/execsnoop.sh [-n ROUNDS] [-s SPAWNS_A_ROUND]
#
# environment: VANTAGE_BUILD tells where make built (default: build); needs "make tests".
set -euo pipefail

rounds=7
spawns=2000
while getopts n:s: option; do
	case $option in
	n) rounds=$OPTARG ;;
	s) spawns=$OPTARG ;;
	*) exit 2 ;;
	esac
done

build=${VANTAGE_BUILD:-build}
tool=$build/bin/execsnoop
# A live test plays the roles of tests/support/role.h: "spawn N PATH" runs PATH N times.
forker=$build/tests/live/execsnoop_count_test
for file in "$tool" "$forker"; do
	[ -x "$file" ] || {
		echo "missing: $file (make tests)" >&2
		exit 1
	}
done

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/ready"
cp "$forker" "$dir/spawned"

# Without the tool, then with these options.
variants=("none" "" "-e" "-x" "-e -x --ancestors 4" "-S")

now() { # microseconds
	local t=$EPOCHREALTIME
	echo $((${t%.*} * 1000000 + 10#${t#*.}))
}

start_tool() {
	exec 4<>"$dir/ready"
	"$tool" --stats --ready-fd 3 --output "$dir/records" "$@" 3>"$dir/ready" 2>"$dir/err" &
	pid=$!
	read -r -t 30 _ <&4 || {
		cat "$dir/err" >&2
		exit 1
	}
}

stop_tool() {
	kill -TERM "$pid"
	wait "$pid"
	exec 4<&-
	grep -E ': exec [0-9]+ seen' "$dir/err" >>"$dir/accounts"
}

# one VARIANT NUMBER
one() {
	local begin end
	if [ "$1" != none ]; then
		# shellcheck disable=SC2086 # options are words
		start_tool $1
	fi
	begin=$(now)
	VANTAGE_ROLE="spawn $spawns $dir/spawned" "$forker"
	end=$(now)
	if [ "$1" != none ]; then
		stop_tool
		sed -n 's/.*the tool itself: \([0-9.]*\) s of CPU.*/\1/p' "$dir/err" >>"$dir/cpu.$2"
	fi
	awk -v us=$((end - begin)) -v n="$spawns" 'BEGIN { printf "%.2f\n", us / n }' \
		>>"$dir/spawn.$2"
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

for ((round = 0; round < rounds; round++)); do
	for i in "${!variants[@]}"; do
		one "${variants[i]}" "$i"
	done
done

base=$(median "$dir/spawn.0")
printf '%d rounds of %d spawns; microseconds for each\n' "$rounds" "$spawns"
printf '%-24s %8s %8s %8s %9s %s\n' options median least most cost 'tool CPU s (median)'
for i in "${!variants[@]}"; do
	cpu=-
	[ ! -f "$dir/cpu.$i" ] || cpu=$(median "$dir/cpu.$i")
	sort -n "$dir/spawn.$i" | awk -v name="${variants[i]:-(default)}" -v base="$base" \
		-v median="$(median "$dir/spawn.$i")" -v cpu="$cpu" '
		{ v[NR] = $1 }
		END { printf "%-24s %8.1f %8.1f %8.1f %+8.1f%% %s\n", name, median, v[1], v[NR],
		      (median / base - 1) * 100, cpu }'
done
printf 'accounts that are exact: %d of %d\n' "$(grep -c ': exact$' "$dir/accounts")" \
	"$(wc -l <"$dir/accounts")"
