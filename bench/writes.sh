#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What observing a write of one byte adds to it on this machine, in nanoseconds: an empty program,
# vfswrite-count by system call, and what there is of libbpf-tools' syscount, bpftrace and
# strace -c.
#
#	bench/writes.sh
#
# environment: VANTAGE_BUILD (and VANTAGE_BIN, default bin/ in there): measure what is built there.
set -euo pipefail

bench=$(cd "$(dirname "$0")" && pwd)
build=${VANTAGE_BUILD:-$bench/../build}
export VANTAGE_BIN=${VANTAGE_BIN:-$build/bin}

# Peers need tracefs: mounted for this run only.
if [ ! -e /sys/kernel/tracing/events ] && [ -z "${WRITES_TRACEFS-}" ]; then
	WRITES_TRACEFS=1 exec unshare -m sh -c \
		'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' sh "$0" "$@"
fi

peers=()
for syscount in /usr/sbin/syscount syscount; do
	if command -v "$syscount" >/dev/null && "$syscount" --help 2>&1 | grep -q 'EXAMPLES:'; then
		peers+=("syscount (libbpf-tools)=$syscount -i 60")
		break
	fi
done
if command -v bpftrace >/dev/null; then
	peers+=("bpftrace, count by comm=bpftrace -e 'tracepoint:syscalls:sys_exit_write { @[comm] = count(); }'")
fi
if command -v strace >/dev/null; then
	peers+=('strace -c=strace -c -p PID')
fi
exec "$build/bench/writes" ${peers[@]+"${peers[@]}"}
