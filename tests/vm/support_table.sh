#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The README's support table, from what the last runs of check.sh saw: for each tool and kernel
# the mechanism by which the tool attached there and how many checks of its live tests passed.
#
# usage: tests/vm/support_table.sh [--update]
#   --update   writes the table into README.md, between its two markers, instead of printing it
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
results=${VANTAGE_BUILD:-$top/build}/vm

# cell KERNEL TOOL: "tp_btf, 812 checks", or what went wrong.
cell() {
	awk -v tool="$2" '
		$1 == "mechanism:" && $2 == tool {
			mechanism = $3
			for (i = 4; i <= NF; i++) mechanism = mechanism " " $i
		}
		$0 ~ "^" tool "[a-z_]*_test: [0-9]+ passed, " { passed += $2; failed += $4; skipped += $6 }
		END {
			if (mechanism == "") mechanism = "cannot attach"
			printf "%s, %d checks", mechanism, passed
			if (failed) printf ", %d failed", failed
			if (skipped) printf ", %d skipped", skipped
		}' "$results/$1.out"
}

table() {
	kernels=$(cd "$results" 2>/dev/null && ls ./*.out 2>/dev/null | sed 's|^\./||; s|\.out$||' |
		grep -v '^runner$' | sort -V) || kernels=
	[ -n "$kernels" ] || {
		echo "support_table.sh: no results in $results: run make check-vm or check-vm-all first" >&2
		exit 1
	}
	printf '| kernel |'
	for tool in "$top"/tools/*/; do printf ' %s |' "$(basename "$tool")"; done
	printf '\n|---|'
	for tool in "$top"/tools/*/; do printf -- '---|'; done
	printf '\n'
	for kernel in $kernels; do
		printf '| %s |' "$kernel"
		for tool in "$top"/tools/*/; do printf ' %s |' "$(cell "$kernel" "$(basename "$tool")")"; done
		printf '\n'
	done
}

case ${1-} in
'') table ;;
--update)
	table >"$results/table"
	awk -v table="$results/table" '
		/^<!-- support table: end -->/ { inside = 0 }
		!inside { print }
		/^<!-- support table: / && !/end -->/ {
			inside = 1
			while ((getline line < table) > 0) print line
		}
		' "$top/README.md" >"$results/README.md"
	cat "$results/README.md" >"$top/README.md"
	;;
*)
	sed -n 's/^# \{0,1\}//p' "$0" | sed -n '/^usage/,$p' >&2
	exit 2
	;;
esac
