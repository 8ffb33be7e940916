#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Names of random addresses by the library, by eu-addr2line and by addr2line: are they the same,
# and what do they cost? Without FILEs: large ones of this machine, a static one, a C++ one, a
# stripped one with its debug file, and one in Rust where there is a compiler.
#
#	bench/symbols.sh [-n ADDRESSES] [FILE...]
#
# Debugging information is taken out of copies first: eu-addr2line would name inlined functions.
# The names have to be the same, or to stand for the same address in the file (aliases). Exit
# status 1 when another one differs. eu-addr2line also names data that lies between code
# ("data"): the library names code only.
set -euo pipefail
export LC_ALL=C

nr=10000
while getopts n: option; do
	case $option in
	n) nr=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
program=${VANTAGE_BUILD:-build}/bench/symbols
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

# The symbols of a file as "VALUE TYPE NAME", those of its debug file, too.
symbols() {
	for file; do
		nm "$file" 2>/dev/null || true
		nm -D "$file" 2>/dev/null || true
	done | awk 'NF == 3 { sub(/@.*/, "", $3); print }'
}

seconds() {
	local begin=$EPOCHREALTIME
	"$@"
	awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }' >"$dir/seconds"
}

compare() {
	local name=$1 file=$2 reference=$3
	"$program" "$file" pick "$nr" 7 >"$dir/addresses"
	"$program" "$file" names raw <"$dir/addresses" | cut -d' ' -f1 >"$dir/ours"
	eu-addr2line -f -e "$reference" <"$dir/addresses" 2>/dev/null |
		awk 'NR % 2' >"$dir/elfutils"
	symbols "$file" "$reference" >"$dir/symbols"
	echo "$name"
	echo "  $("$program" "$file" time 1000000)"
	paste -d' ' "$dir/addresses" "$dir/ours" "$dir/elfutils" | awk -v nr="$nr" '
		FILENAME != "-" { value[$3] = value[$3] " " $1; type[$3] = $2; next }
		function alias(a, b,    i, n, list) {
			n = split(value[a], list, " ")
			for (i = 1; i <= n; i++)
				if (index(value[b] " ", " " list[i] " "))
					return 1
			return 0
		}
		{ sub(/@.*/, "", $3) }
		$2 == $3 { same++; next }
		alias($2, $3) { aliases++; next }
		$2 == "??" && type[$3] ~ /[rRdDvVbBu]/ { data++; next }
		{ other++; print "    " $1 ": " $2 ", elfutils: " $3 }
		END {
			printf "  of %d names %d the same, %d aliases, %d data, %d different\n", nr,
				same, aliases, data, other
			exit other > 0
		}' "$dir/symbols" - || bad=1
}

# How long each takes for the same addresses.
race() {
	local file=$1
	"$program" "$file" pick "$nr" 7 >"$dir/addresses"
	for how in "$program $file names" "eu-addr2line -f -e $file" "addr2line -f -e $file"; do
		# shellcheck disable=SC2086
		seconds $how <"$dir/addresses" >/dev/null 2>&1
		printf '  %6s s  %s\n' "$(cat "$dir/seconds")" "${how%% *}"
	done
}

own_files() {
	local debug=${VANTAGE_BUILD:-build}/debug/execsnoop
	strip -g -o "$dir/static" "$debug"
	compare "static-pie: execsnoop" "$dir/static" "$dir/static"
	compare "PIE: qemu-system-x86_64" /usr/bin/qemu-system-x86_64 /usr/bin/qemu-system-x86_64
	objcopy --only-keep-debug "$dir/static" "$dir/split.debug"
	strip -o "$dir/split" "$dir/static"
	objcopy --add-gnu-debuglink="$dir/split.debug" "$dir/split"
	compare "stripped, with a debug file by .gnu_debuglink" "$dir/split" "$dir/static"
	compare "C++: libLLVM-14" /usr/lib/x86_64-linux-gnu/libLLVM-14.so.1 \
		/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1
	if command -v rustc >/dev/null; then
		echo 'fn main() { println!("{:?}", std::env::args().collect::<Vec<_>>()); }' \
			>"$dir/main.rs"
		rustc -O -o "$dir/rust" "$dir/main.rs"
		strip -g "$dir/rust"
		compare "Rust" "$dir/rust" "$dir/rust"
	else
		echo "Rust: no rustc here, not compared"
	fi
	echo "the same $nr addresses of qemu-system-x86_64:"
	race /usr/bin/qemu-system-x86_64
}

if [ $# -gt 0 ]; then
	for file; do
		compare "$file" "$file" "$file"
		race "$file"
	done
else
	own_files
fi
exit "$bad"
