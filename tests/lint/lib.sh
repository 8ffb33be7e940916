# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# What the lint scripts share. Each script is a test program: a rule that holds is one line
# "ok - NAME"; one that does not shows each place as "FILE:LINE: REASON" and ends with "not ok".
# LINT_ROOT makes them look at another tree.
set -u
export LC_ALL=C

cd "${LINT_ROOT:-$(dirname "$0")/../..}" || exit 1
root=$(pwd)
build=${VANTAGE_BUILD:-$root/build}
bin=${VANTAGE_BIN:-$build/bin}
failed=0

# files: prints every file of the source tree, one a line, relative to its root.
files() {
	find . \( -path ./.git -o -path ./.cache -o -name compile_commands.json \
		-o -path ./build -o -path "./${build#"$root"/}" \) -prune -o -type f -print |
		sed 's|^\./||' | sort
}

# c_files: the C files that people write.
c_files() {
	files | grep '\.[ch]$' | grep -v '^vmlinux/.*/vmlinux\.h$'
}

# tools: the names of the tools.
tools() {
	for dir in tools/*/; do
		tool=$(basename "$dir")
		[ ! -e "$dir$tool.c" ] || echo "$tool"
	done
}

# rule NAME COMMAND...: runs a command that prints a line for each place where the rule is broken,
# and tells the outcome. A command that fails has not checked anything.
rule() {
	name=$1
	shift
	if ! complaints=$("$@"); then
		[ -z "$complaints" ] || echo "$complaints"
		echo "not ok - $name: the check could not be made"
		failed=1
	elif [ -n "$complaints" ]; then
		echo "$complaints"
		echo "not ok - $name: $(echo "$complaints" | wc -l) complaints"
		failed=1
	else
		echo "ok - $name"
	fi
}

finish() {
	exit "$failed"
}
