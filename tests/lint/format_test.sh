#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every C file is as clang-format would write it ("make format" does).
. "$(dirname "$0")/lib.sh"

clang_format=${CLANG_FORMAT:-clang-format}

check_format() {
	command -v "$clang_format" >/dev/null || {
		echo "missing: $clang_format (package clang-format)"
		return 1
	}
	sources=$(c_files) || {
		echo "there is no C file"
		return 1
	}
	# No output is what says that all is well, so it has to refuse something bad first.
	if printf 'int  x ;\n' | "$clang_format" --style=file --dry-run -Werror 2>/dev/null; then
		echo "$clang_format does not complain about anything"
		return 1
	fi
	echo "$sources" | xargs "$clang_format" --style=file --dry-run -Werror 2>&1 |
		sed -n 's/: error: .*/: is not as "make format" writes it/p; /^[^ ]*rror/p'
}

rule "clang-format" check_format
finish
