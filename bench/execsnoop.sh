#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# execsnoop's figures on this machine, beside those of libbpf-tools' execsnoop and bpftrace's
# execsnoop.bt where they are installed: what a command costs more, what is seen of a storm and by a
# slow reader, the longest command lines, start, memory, CPU time, size.
#
#	bench/execsnoop.sh [-n ROUNDS] [-c COMMANDS] [-s STARTS] [-t SECONDS]
#		[-p start,cost,storm,reader]
#
# COMMANDS: of one of the batches of a round. -p: only these parts.
#
# environment: VANTAGE_BUILD (and VANTAGE_BIN, default bin/ in there): measure what is built there.
set -euo pipefail

bench=$(cd "$(dirname "$0")" && pwd)
build=${VANTAGE_BUILD:-$bench/../build}
export VANTAGE_BIN=${VANTAGE_BIN:-$build/bin}

# Peers need tracefs: mounted for this run only.
if [ ! -e /sys/kernel/tracing/events ] && [ -z "${EXECS_TRACEFS-}" ]; then
	EXECS_TRACEFS=1 exec unshare -m sh -c \
		'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' sh "$0" "$@"
fi

peers=()
for peer in /usr/sbin/execsnoop execsnoop; do
	if command -v "$peer" >/dev/null && "$peer" --help 2>&1 | grep -q 'EXAMPLES:'; then
		peers+=("libbpf-tools execsnoop=$peer")
		break
	fi
done
for script in /usr/sbin/execsnoop.bt /usr/share/bpftrace/tools/execsnoop.bt; do
	if [ -e "$script" ] && command -v bpftrace >/dev/null; then
		peers+=("bpftrace execsnoop.bt=bpftrace $script")
		break
	fi
done

echo "$(uname -sr), $(nproc) CPUs ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), load $(cut -d' ' -f1 /proc/loadavg)"
exec "$build/bench/execs" "$@" ${peers[@]+"${peers[@]}"}
