#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each lint rule accepts a small good tree and refuses the same tree with one thing wrong in it.
set -u
export LC_ALL=C

lint=$(cd "$(dirname "$0")" && pwd)
style=$lint/../../.clang-format
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

dual='SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause'
gpl='SPDX-License-Identifier: GPL-2.0-only'

# write FILE LINE...: a file of these lines.
write() {
	mkdir -p "$(dirname "$1")"
	out=$1
	shift
	printf '%s\n' "$@" >"$out"
}

# The good tree: one tool with its page, a file in each room, a script, a list of skips.
make_model() {
	mkdir "$work/model"
	cd "$work/model" || exit 1
	cp "$style" .clang-format
	write tools/demo/demo.c "// $dual" '#include <stdio.h>' '#include <bpf/libbpf.h>' \
		'#include "demo.h"' '#include "demo.skel.h"' '#include "module.h"' \
		'#include "collect/stack.h"' '#include "run/session.h"'
	write tools/demo/demo.h "/* $dual */" '#include "shared/account.h"'
	write tools/demo/module.c "// $dual" '#include "module.h"' '#include "output/sink.h"'
	write tools/demo/module.h "/* $dual */" '#include <stdint.h>' '#include "demo.h"'
	write tools/demo/demo.bpf.c "// $gpl" '#include "vmlinux.h"' \
		'#include <bpf/bpf_helpers.h>' '#include "bpf/ring.bpf.h"' '#include "demo.h"'
	write libbpf-helpers/bpf/ring.bpf.h "/* $gpl */" '#include "shared/account.h"'
	write libbpf-helpers/shared/account.h "/* $dual */" '#include "shared/types.h"'
	write libbpf-helpers/shared/types.h "/* $dual */" '#include <linux/types.h>'
	write libbpf-helpers/run/log.h "/* $dual */" '#include <stdarg.h>'
	write libbpf-helpers/run/session.h "/* $dual */" '#include "output/sink.h"'
	write libbpf-helpers/run/target.c "// $dual" '#include "symbols/elf.h"'
	write libbpf-helpers/collect/stack.h "/* $dual */" '#include <bpf/bpf.h>' \
		'#include "symbols/elf.h"' '#include "run/log.h"'
	write libbpf-helpers/symbols/elf.h "/* $dual */" '#include "run/number.h"'
	write libbpf-helpers/output/sink.h "/* $dual */" '#include "shared/account.h"'
	write tests/unit/demo_test.c "// $dual" '#include "test.h"'
	write tests/bpf/ring_test.bpf.c "// $gpl" '#include "bpf/ring.bpf.h"'
	write tests/lint/skips/native "# $dual" 'demo_test:a check  # because'
	write tests/live/demo_live_test.c "// $dual" '/* check: a: it is so */'
	write tests/lint/reports/demo "# $dual" 'owner/it#1:demo_live_test:check: a: it is so'
	write script.sh '#!/bin/sh' "# $dual" 'echo well'
	chmod +x script.sh
	write man/demo.8 ".\\\" $dual" '.Dd January 1, 2026' '.Dt DEMO 8' '.Os' '.Sh NAME' \
		'.Nm demo' '.Nd shows what a page needs' '.Sh DESCRIPTION' 'It has options:' \
		'.Bl -tag -width Ds' '.It Fl d , Fl -duration Ns = Ns Ar TIME' 'How long.' \
		'.It Fl -help' 'Help.' '.El' 'And fields:' '.Bl -tag -width Ds' '.It Va time_ns' \
		'When.' '.El'
	write man/vantage.7 ".\\\" $dual" '.Dd January 1, 2026' '.Dt VANTAGE 7' '.Os' \
		'.Sh NAME' '.Nm vantage' '.Nd the suite' '.Sh DESCRIPTION' '.Bl -tag -width Ds' \
		'.It Va type' 'What.' '.El'
	mkdir -p build/bin
	cp -R man build/man
	cat >build/bin/demo <<-'END'
		#!/bin/sh
		case $1 in
		--help)
			echo "Usage: demo [OPTION...]"
			echo "  -d, --duration=TIME   how long; not for --other things"
			echo "      --help            help"
			;;
		*)
			echo '{"$defs": {"a": {"properties": {"type": {"const": "a"},'
			echo '"time_ns": {"type": "integer", "description": "\"x\": {y}"}},'
			echo '"required": ["type"]}}}'
			;;
		esac
	END
	chmod +x build/bin/demo
}

good_tree() {
	cd "$work" && rm -rf tree && cp -a model tree && cd tree || exit 1
}

# lint SCRIPT: runs it over the tree; the outcome is in $status and $work/output.
run_lint() {
	LINT_ROOT=$work/tree VANTAGE_BUILD=$work/tree/build VANTAGE_BIN=$work/tree/build/bin \
		"$lint/$1_test.sh" >"$work/output" 2>&1
	status=$?
}

tell() {
	if [ "$1" = ok ]; then
		echo "ok - $2"
		return
	fi
	sed 's/^/    /; s/^    \(not \)*ok/    (&)/' "$work/output"
	echo "not ok - $2: $3"
	failed=1
}

accepts() {
	run_lint "$1"
	if [ "$status" -eq 0 ] && grep -q '^ok - ' "$work/output"; then
		tell ok "$1 accepts a good tree"
	else
		tell bad "$1 accepts a good tree" "it exits with $status"
	fi
}

# refuses SCRIPT PLACE WHAT: the tree has been spoilt; the script has to name the place. Ends with a
# good tree again.
refuses() {
	run_lint "$1"
	if [ "$status" -ne 1 ]; then
		tell bad "$1 refuses $3" "it exits with $status"
	elif ! grep -q "$2" "$work/output"; then
		tell bad "$1 refuses $3" "it does not say $2"
	else
		tell ok "$1 refuses $3"
	fi
	good_tree
}

# refuses_include FILE INCLUDE: as line 2 of the file.
refuses_include() {
	license=$dual
	case $1 in
	*.bpf.*) license=$gpl ;;
	esac
	write "$1" "// $license" "#include $2"
	refuses includes "^$1:2: " "$2 in $1"
}

make_model
good_tree
for script in includes text format shell skips reports man; do
	accepts "$script"
done

refuses_include libbpf-helpers/shared/account.h '"run/log.h"'
refuses_include libbpf-helpers/shared/account.h '<stdint.h>'
refuses_include libbpf-helpers/bpf/ring.bpf.h '<string.h>'
refuses_include libbpf-helpers/bpf/ring.bpf.h '"demo.h"'
refuses_include libbpf-helpers/bpf/ring.bpf.h '"run/log.h"'
refuses_include libbpf-helpers/symbols/elf.c '<bpf/libbpf.h>'
refuses_include libbpf-helpers/symbols/elf.c '"output/sink.h"'
refuses_include libbpf-helpers/output/sink.c '<bpf/bpf.h>'
refuses_include libbpf-helpers/output/sink.c '"run/session.h"'
refuses_include libbpf-helpers/output/sink.c '"symbols/elf.h"'
refuses_include libbpf-helpers/run/session.c '"demo.skel.h"'
refuses_include libbpf-helpers/run/session.c '"report/distribution.h"'
refuses_include libbpf-helpers/run/session.c '"collect/stack.h"'
refuses_include libbpf-helpers/run/session.c '"symbols/elf.h"'
refuses_include libbpf-helpers/run/session.c '"bpf/ring.bpf.h"'
refuses_include libbpf-helpers/run/session.c '"log.h"'
refuses_include libbpf-helpers/run/session.c '"../tools/demo/demo.h"'
refuses_include libbpf-helpers/run/log.h '"run/number.h"'
refuses_include libbpf-helpers/output/escape.h '"output/sink.h"'
refuses_include libbpf-helpers/collect/stack.c '"run/session.h"'
refuses_include libbpf-helpers/collect/stack.c '"output/sink.h"'
refuses_include libbpf-helpers/newroom/x.c '"run/log.h"'
refuses_include tools/demo/demo.c '"other/other.h"'
refuses_include tools/demo/demo.c '"other.skel.h"'
refuses_include tools/demo/demo.c '"vmlinux.h"'
refuses_include tools/demo/demo.h '"run/log.h"'
refuses_include tools/demo/demo.h '"module.h"'
refuses_include tools/demo/module.c '<bpf/libbpf.h>'
refuses_include tools/demo/module.c '"demo.skel.h"'
refuses_include tools/demo/demo.bpf.c '<stdint.h>'
refuses_include tools/demo/demo.bpf.c '"run/log.h"'
refuses_include tools/demo/demo.bpf.c '"module.h"'
refuses_include tests/bpf/ring_test.bpf.c '<stdio.h>'

write tools/demo/module.c '#include "module.h"'
refuses text '^tools/demo/module.c:1: ' "a C file without a licence line"
write tools/demo/demo.bpf.c "// $dual"
refuses text '^tools/demo/demo.bpf.c:1: ' "the kernel side under the other licence"
write tools/demo/module.c "// $gpl"
refuses text '^tools/demo/module.c:1: ' "the user side under GPL alone"
write script.sh '#!/bin/sh' 'echo well'
refuses text '^script.sh:2: ' "a script without a licence line"
write .hidden 'x'
refuses text '^.hidden:1: ' "a hidden file without a licence line"
for word in TO''DO FIX''ME XX''X; do
	write tools/demo/module.c "// $dual" "/* $word: later */"
	refuses text '^tools/demo/module.c:2: unfinished' "$word"
done
write script.sh '#!/bin/sh' "# $dual" "cat /wo""rk/main"
refuses text '^script.sh:3: path' "a path of one machine"
write script.sh '#!/bin/sh' "# $dual" "wget http://deb.deb""ian.org/x"
refuses text '^script.sh:3: host' "a mirror's host"
write tools/demo/module.c "// $dual" "int x; "
refuses text '^tools/demo/module.c:2: space at' "space at the end of a line"
write tools/demo/module.c "// $dual" "    	int x;"
refuses text '^tools/demo/module.c:2: spaces before' "spaces before a tab"
printf '// %s\nint x;' "$dual" >tools/demo/module.c
refuses text '^tools/demo/module.c:2: no newline' "no newline at the end"
write tools/demo/module.c "// $dual" "/* $(printf '%0100d' 0) */"
refuses text '^tools/demo/module.c:2: 106 columns' "a long line"
write script.sh '#!/bin/sh' "# $dual" "$(printf '\t\t\t\t%070d' 0)"
refuses text '^script.sh:3: 102 columns' "a line that is long for its tabs"

write tools/demo/module.c "// $dual" 'int f(void) {' '  return 0; }'
refuses format '^tools/demo/module.c:2:' "another style"
rm .clang-format
write tools/demo/module.c "// $dual" '' 'int f(void)' '{' '	return 0;' '}'
refuses format '^tools/demo/module.c:' "a tree without a style"

write script.sh '#!/bin/sh' "# $dual" 'if true; then'
refuses shell '^script.sh: ' "a script that cannot be read"
chmod -x script.sh
refuses shell '^script.sh:1: ' "a script that cannot be run"

write tests/lint/skips/6.1 "# $dual" '' 'gone_test:a check'
refuses skips '^tests/lint/skips/6.1:3: ' "a skip of a program that is not there"
write tests/lint/skips/6.1 "# $dual" 'demo_test'
refuses skips '^tests/lint/skips/6.1:2: ' "a skip without the name of a check"

write tests/lint/reports/demo "# $dual" 'owner/it#1:gone_test:it is so'
refuses reports '^tests/lint/reports/demo:2: ' "a report whose test is not there"
write tests/lint/reports/demo "# $dual" 'owner/it#1:demo_live_test:it is not so'
refuses reports '^tests/lint/reports/demo:2: ' "a report whose check is not there"
write tests/lint/reports/demo "# $dual" 'demo_live_test: it is so'
refuses reports '^tests/lint/reports/demo:2: ' "a report without a check"

printf '.Xx\n' >>build/man/demo.8
refuses man 'man/demo.8:21:.*skipping unknown macro' "a page with an unknown macro"
rm man/demo.8
refuses man '^tools/demo/demo.c:1: ' "a tool without a page"
sed -i '/^\.It Fl d /s/Fl d , //' build/man/demo.8
refuses man 'man/demo.8:1: .* -d ' "an option that the page lacks"
sed -i '/^\.It Fl d /s/ , .*//' build/man/demo.8
refuses man 'man/demo.8:1: .* --duration ' "a long option that the page lacks"
sed -i 's/^How long\.$/.Fl x/' build/man/demo.8
refuses man 'man/demo.8:12: -x ' "an option that --help lacks"
sed -i 's/^How long\.$/.Fl \\-dur\\-x/' build/man/demo.8
refuses man 'man/demo.8:12: --dur-x ' "a long option that --help lacks"
sed -i 's/Va time_ns/Va time/' build/man/demo.8
refuses man 'man/demo.8:1: the JSON field time_ns ' "a JSON field without a description"
sed -i 's/Va type/Va kind/' build/man/vantage.7
refuses man 'man/demo.8:1: the JSON field type ' "a common JSON field without a description"
write build/bin/demo '#!/bin/sh' 'exit 1'
refuses man 'demo --help failed' "a tool whose --help fails"
write build/bin/demo '#!/bin/sh' 'exit 0'
refuses man 'no option was found' "a tool whose --help is empty"

exit "$failed"
