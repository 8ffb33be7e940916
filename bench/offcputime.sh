#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What offcputime adds to a context switch on this machine, in nanoseconds: with all stays and their
# kernel stacks, with -m 1ms of which these are none, with user stacks, and what libbpf-tools'
# offcputime adds, if it is installed.
#
#	bench/offcputime.sh [-n CYCLES] [-l MILLISECONDS]
#
# In each cycle all are measured once, in turn, so that a drift of the machine hits all alike;
# medians are shown, and of the differences to the switch without a tool in the same cycle.
#
# environment: VANTAGE_BUILD (and VANTAGE_BIN, default bin/ in there): measure what is built there.
set -euo pipefail

cycles=7 length=1000
while getopts n:l: option; do
	case $option in
	n) cycles=$OPTARG ;;
	l) length=$OPTARG ;;
	*) exit 2 ;;
	esac
done

bench=$(cd "$(dirname "$0")" && pwd)
build=${VANTAGE_BUILD:-$bench/../build}
tool=${VANTAGE_BIN:-$build/bin}/offcputime
peer=/usr/sbin/offcputime

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkfifo "$work/ready"

# measure NAME COMMAND...: one measurement while COMMAND runs, in the file NAME.
measure() {
	local name=$1 pid=''
	shift
	if [ "$name" = peer ]; then
		"$@" >/dev/null 2>&1 &
		pid=$!
		# It does not say when it is attached.
		sleep 1
	elif [ $# -gt 0 ]; then
		exec 4<>"$work/ready"
		"$@" --ready-fd 3 3>"$work/ready" >/dev/null 2>&1 &
		pid=$!
		read -r -t 20 _ <&4 || {
			echo "not ready: $*" >&2
			exit 1
		}
	fi
	"$build/bench/switches" "$length" >>"$work/$name"
	[ -z "$pid" ] || {
		kill -INT "$pid"
		wait "$pid" || true
	}
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# added NAME: median of the differences to the switch without a tool.
added() {
	paste "$work/none" "$work/$1" | awk '{ print $2 - $1 }' | median
}

for ((i = 0; i < cycles; i++)); do
	measure none
	measure all "$tool"
	measure min "$tool" -m 1ms
	measure user "$tool" --user-stacks
	[ ! -x "$peer" ] || measure peer "$peer" 60
done

printf '%-52s %8s\n' "a switch, in ns" "added"
printf '%-52s %8s\n' "without a tool: $(median <"$work/none")" ""
printf '%-52s %8s\n' "offcputime" "$(added all)"
printf '%-52s %8s\n' "offcputime -m 1ms" "$(added min)"
printf '%-52s %8s\n' "offcputime --user-stacks" "$(added user)"
[ ! -e "$work/peer" ] || printf '%-52s %8s\n' "offcputime (libbpf-tools)" "$(added peer)"
