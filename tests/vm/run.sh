#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Boots stock kernels under QEMU and runs a command in each, as root, with what was built at hand:
# the tools in the search path, the test programs, tests/run.sh and the lists of skips, all below
# the working directory. The command's output, errors and exit status come out as they are; the
# kernel's console is kept apart and shown when the guest dies.
#
# usage: tests/vm/run.sh [OPTION...] KERNEL... [-- COMMAND [ARG...]]
#        tests/vm/run.sh [OPTION...] --image FILE [-- COMMAND [ARG...]]
#   KERNEL           a name of kernels.txt, or NAME@PART[,PART...] for a variant of it:
#                    preempt=MODE  cpus=N  kptr_restrict=N  lockdown=LEVEL  cgroup=v1 (and no v2)
#   COMMAND          run by the guest's busybox shell; default: all BPF and live tests
#   --image FILE     boot this kernel image (a bzImage)
#   --append TEXT    more for the kernel's command line
#   --cpus N         virtual CPUs (default 2)
#   --memory MIB     memory (default 1024)
#   --timeout SECS   time limit for each guest, from power-on (default 600)
#   --extra FILE     copy this file or directory into the guest's working directory; repeatable
#   --icount         a nanosecond per instruction, on one CPU: the guest's time counts instructions
#   -v               show the console on stderr
#
# Exit status: the command's (of several kernels, the first that is not 0), or 2 usage, 77 a kernel
# could not be fetched, 124 time limit, 125 the guest died or could not be started.
#
# environment: VANTAGE_BUILD (default build/) and VANTAGE_BIN (default bin/ in there) tell where the
# test programs and tools are. The guest's environment has VANTAGE_GUEST=1, without KVM a small
# VANTAGE_SCALE, and what is set here of V, TEST_TIMEOUT, VANTAGE_SCALE and VANTAGE_LONG.

set -u -o pipefail
export LC_ALL=C
. "$(dirname "$0")/common.sh"

readonly timed_out=124 died=125
# A guest that KVM can run is up in about two seconds.
readonly kvm_trial_limit=10
# An emulated CPU has about a tenth of the speed: the percentage that tests get as VANTAGE_SCALE.
readonly emulated_scale=10
# A panic ends the guest at once, and an oops is a panic: it must not pass for a test's success.
readonly every_kernel='console=ttyS0 panic=-1 oops=panic'

tests=$(dirname "$vm")
build=${VANTAGE_BUILD:-$tests/../build}
bin=${VANTAGE_BIN:-$build/bin}

# ---- What goes into the guest --------------------------------------------------------------------

# is_static FILE: whether it needs no loader. The guest has no libraries.
is_static() {
	! readelf -l "$1" 2>/dev/null | grep -q INTERP
}

# put FILE PATH: the guest gets FILE as PATH. cpio follows the links.
put() {
	is_static "$1" ||
		die "$1 is linked dynamically and cannot run in the guest: link it statically (make STATIC=1)"
	mkdir -p "$root/$(dirname "$2")"
	ln -sf "$(realpath "$1")" "$root/$2" || die "cannot put $1 into the guest"
}

# put_programs DIRECTORY PATH PATTERN
put_programs() {
	local file
	for file in "$1"/$3; do
		if [ -f "$file" ] && [ -x "$file" ]; then
			put "$file" "$2/${file##*/}"
		fi
	done
}

# make_root: the part of the initramfs that all guests share, as $work/root.cpio.
make_root() {
	local file
	root=$work/root
	mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,dev,root,etc,vantage}
	put "$(command -v busybox)" bin/busybox
	put "$vm/init" init
	printf '%s\n' root:x:0:0:root:/root:/bin/sh daemon:x:1:1::/:/bin/sh \
		nobody:x:65534:65534::/:/bin/sh >"$root/etc/passwd"
	printf '%s\n' root:x:0: daemon:x:1: nogroup:x:65534: >"$root/etc/group"
	put "$tests/run.sh" vantage/tests/run.sh
	for file in "$tests"/lint/skips/*; do
		[ ! -f "$file" ] || put "$file" "vantage/tests/lint/skips/${file##*/}"
	done
	put_programs "$bin" vantage/build/bin '*'
	put_programs "$build/tests/bpf" vantage/build/tests/bpf '*_test'
	put_programs "$build/tests/live" vantage/build/tests/live '*_test'
	for file in ${extra[@]+"${extra[@]}"}; do
		put "$file" "vantage/$(basename "$file")"
	done
	archive "$root" "$work/root.cpio"
}

archive() {
	(cd "$1" && find -L . | cpio -o -L -H newc -R 0:0 --quiet) >"$2" ||
		die "cannot make the guest's file system: is there room in $work?"
}

# quote WORD...: the words as the guest's shell reads them.
quote() {
	local word
	for word; do
		printf "'%s' " "${word//\'/\'\\\'\'}"
	done
}

# make_initrd COMMAND...: adds what is of this kernel and this command: $work/initrd. A list of
# skips for the variant stands instead of the kernel's own.
make_initrd() {
	local own=$work/own file name skips=''
	rm -rf "$own"
	mkdir -p "$own/vm"
	printf '%s\n' "${variant[@]}" >"$own/vm/variant"
	if [ -n "$kernel" ]; then
		skips=tests/lint/skips/$kernel
		[ -f "$tests/../$skips" ] || skips=tests/lint/skips/${kernel%%@*}
		for file in "$kernel_dir"/modules/*.ko; do
			mkdir -p "$own/vantage/modules"
			cp "$file" "$own/vantage/modules/"
		done
	fi
	{
		echo "export VANTAGE_GUEST=1 VANTAGE_BUILD=/vantage/build VANTAGE_BIN=/vantage/build/bin"
		[ -z "$skips" ] || echo "export VANTAGE_SKIPS=$(quote "/vantage/$skips")"
		[ "${accelerator[1]}" = kvm ] || echo "export VANTAGE_SCALE=$emulated_scale"
		for name in V TEST_TIMEOUT VANTAGE_SCALE VANTAGE_LONG; do
			[ -z "${!name+set}" ] || echo "export $name=$(quote "${!name}")"
		done
		quote "$@"
	} >"$own/vm/command"
	archive "$own" "$work/own.cpio"
	cat "$work/root.cpio" "$work/own.cpio" >"$work/initrd"
}

# ---- Which kernel --------------------------------------------------------------------------------

# add_part PART: one part of a variant: what it means for QEMU, the kernel and the guest.
add_part() {
	case $1 in
	preempt=none | preempt=voluntary | preempt=full | preempt=lazy | \
		lockdown=integrity | lockdown=confidentiality) append+=" $1" ;;
	kptr_restrict=[0-2]) append+=" sysctl.kernel.$1" ;;
	cpus=[1-9] | cpus=[1-9][0-9])
		[ $icount -eq 0 ] || [ "$1" = cpus=1 ] || usage_error "--icount goes with one CPU, not $1"
		guest_cpus=${1#cpus=}
		;;
	cgroup=v1) ;;
	*)
		usage_error "no kernel has a variant '$1'; the parts are preempt=none|voluntary|full|lazy," \
			"cpus=N, kptr_restrict=0|1|2, lockdown=integrity|confidentiality, cgroup=v1"
		;;
	esac
	variant+=("$1")
}

# choose KERNEL: sets what boot needs to know of this kernel. Returns fetch.sh's status if it is
# not to be had.
choose() {
	local parts part
	kernel=$1 guest_cpus=$cpus
	append="$every_kernel $(kernel_field "${kernel%%@*}" cmdline)"
	variant=(cpus= preempt= kptr_restrict= lockdown= cgroup=)
	IFS=, read -r -a parts <<<"${kernel#"${kernel%%@*}"}"
	for part in ${parts[@]+"${parts[@]}"}; do
		add_part "${part#@}"
	done
	[ -n "$kernel" ] || return 0
	kernel_dir=$("$vm/fetch.sh" "${kernel%%@*}") || return
	kernel_image=$kernel_dir/vmlinuz
}

# ---- Booting -------------------------------------------------------------------------------------

# qemu LIMIT: boots $kernel_image with $work/initrd and waits for the guest's end. The guest's
# serial ports are files of $guest. Returns QEMU's status; after LIMIT seconds it ends, and $late
# is 1.
qemu() {
	local begin=$SECONDS
	timeout -k 5 "$1" qemu-system-x86_64 "${accelerator[@]}" -smp "$guest_cpus" -m "$memory" \
		-nodefaults -no-user-config -display none -no-reboot \
		-kernel "$kernel_image" -initrd "$work/initrd" -append "$append $emulation $more_append" \
		-serial "file:$guest/console" -serial "file:$guest/stdout" \
		-serial "file:$guest/stderr" -serial "file:$guest/status" \
		</dev/null >"$guest/qemu.log" 2>&1 &
	guest_pid=$!
	wait $guest_pid
	local status=$?
	guest_pid=
	late=$((SECONDS - begin >= $1))
	return $status
}

# new_guest: an empty directory for a guest's ports.
new_guest() {
	guest=$work/guest
	rm -rf "$guest"
	mkdir "$guest"
	touch "$guest/console" "$guest/status" "$guest/qemu.log"
}

# kvm_works: whether this kernel really runs under KVM here: the device may be there and every
# guest hang. The answer holds until the host boots again.
kvm_works() {
	local boot_id answer
	[ -r /dev/kvm ] && [ -w /dev/kvm ] || return
	boot_id=$(cat /proc/sys/kernel/random/boot_id)
	answer=$cache/kvm/$boot_id-$(sha256sum <"$kernel_image" | head -c 16)
	if [ ! -f "$answer" ]; then
		mkdir -p "$cache/kvm" || die "cannot make $cache/kvm: set XDG_CACHE_HOME to another place"
		find "$cache/kvm" -type f ! -name "$boot_id-*" -delete
		new_guest
		accelerator=(-accel kvm -cpu host) emulation=
		make_initrd true
		qemu $kvm_trial_limit
		if grep -q '^status 0' "$guest/status"; then
			echo yes >"$answer"
		else
			echo no >"$answer"
		fi
	fi
	grep -q yes "$answer"
}

# choose_accelerator: sets $accelerator, and what emulation needs on the kernel's command line.
#
# Without KVM one thread runs all virtual CPUs, in turns: with a thread for each, QEMU 7.2 now and
# then runs a breakpoint that the kernel has already taken back while patching its own code
# (attaching a probe does that), and the kernel dies of "Oops: int3".
#
# Every program then lies at the same address (norandmaps). QEMU keeps translated code by its
# virtual address: with another one for each exec, thousands of translations gather on one page of a
# program that is run often, nothing is used twice, and when the kernel clears the freed page, each
# byte written walks them all, which takes minutes.
choose_accelerator() {
	emulation=norandmaps
	if [ $icount -eq 1 ]; then
		accelerator=(-accel 'tcg,thread=single' -cpu max -icount 'shift=0')
	elif kvm_works; then
		accelerator=(-accel kvm -cpu host) emulation=
	else
		accelerator=(-accel 'tcg,thread=single' -cpu max)
	fi
}

# show_tail FILE: the last lines of what the guest or QEMU said, for a person.
show_tail() {
	tail -n 40 "$1" | tr -d '\r' | sed 's/^/    /' >&2
}

# undone LAST: what a guest that was stopped at its time limit had not done, by the last line of
# its status.
undone() {
	case $1 in
	'status '*) echo "the command ended, but the guest did not" ;;
	started) echo "the command did not end" ;;
	*) echo "the kernel was not up" ;;
	esac
}

# judge QEMU_STATUS: returns the command's status; a guest that did not get that far is named.
judge() {
	local line reason status=$died shown=$guest/console
	line=$(tail -n 1 "$guest/status")
	if [ "$late$1" = 00 ] && [[ $line == 'status '* ]]; then
		return "${line#status }"
	fi
	case $late$1:$line in
	1*)
		status=$timed_out
		reason="$(undone "$line") within the guest's time limit of $timeout s (--timeout)"
		;;
	0*:'broken '*) reason="the guest is not as it was asked for: ${line#broken }" ;;
	00:*)
		reason=$(sed -n 's/.*\(Kernel panic - .*\)/the guest died: \1/p' "$guest/console" |
			tr -d '\r' | head -n 1)
		reason=${reason:-the guest was reset or switched off before the command ended}
		;;
	*) reason="QEMU ended with status $1" shown=$guest/qemu.log ;;
	esac
	say "$shown_name: $reason; the last lines of its ${shown##*/}:"
	show_tail "$shown"
	return "$status"
}

# boot COMMAND...: runs one guest. Its stdout and stderr go through pipes, so that they come out as
# they are written.
boot() {
	local status
	choose_accelerator
	new_guest
	make_initrd "$@"
	mkfifo "$guest/stdout" "$guest/stderr"
	cat "$guest/stdout" &
	readers=($!)
	cat "$guest/stderr" >&2 &
	readers+=($!)
	if [ $verbose -eq 1 ]; then
		say "$shown_name: $kernel_image, ${accelerator[*]}, $append $emulation $more_append"
		tail -n +1 -f "$guest/console" >&2 &
		readers+=($!)
	fi
	qemu "$timeout"
	status=$?
	# A QEMU that did not start has not opened the pipes, and their readers wait for that.
	: <>"$guest/stdout" <>"$guest/stderr"
	wait "${readers[0]}" "${readers[1]}"
	[ $verbose -eq 0 ] || kill "${readers[2]}"
	readers=()
	judge $status
}

# Called by the trap.
# shellcheck disable=SC2317
stop() {
	[ -z "$guest_pid" ] || kill "$guest_pid" 2>/dev/null
	[ ${#readers[@]} -eq 0 ] || kill "${readers[@]}" 2>/dev/null
	rm -rf "$work"
}

# ---- The command line ----------------------------------------------------------------------------

# number OPTION WORD
number() {
	[[ $2 =~ ^[1-9][0-9]{0,5}$ ]] || usage_error "$1 wants a number from 1 to 999999, not '$2'"
}

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		--image | --append | --cpus | --memory | --timeout | --extra)
			[ $# -gt 1 ] || usage_error "$1 wants a value"
			;;
		esac
		case $1 in
		--image) image=$2 && shift ;;
		--append) more_append=$2 && shift ;;
		--cpus) number "$1" "$2" && cpus=$2 && shift ;;
		--memory) number "$1" "$2" && memory=$2 && shift ;;
		--timeout) number "$1" "$2" && timeout=$2 && shift ;;
		--extra)
			[ -r "$2" ] || usage_error "--extra: cannot read '$2'"
			extra+=("$2") && shift
			;;
		--icount) icount=1 ;;
		-v) verbose=1 ;;
		-h | --help)
			show_help
			exit
			;;
		--)
			shift
			command=("$@")
			[ $# -gt 0 ] || usage_error "there is no command after --"
			break
			;;
		-*) usage_error "unknown option '$1'" ;;
		*) chosen+=("$1") ;;
		esac
		shift
	done
}

# check_usage: what can be said before anything is booted.
check_usage() {
	local name
	if [ -n "$image" ]; then
		[ ${#chosen[@]} -eq 0 ] || usage_error "--image stands instead of a kernel's name (${chosen[0]})"
		[ -r "$image" ] || usage_error "--image: cannot read '$image'"
	else
		[ ${#chosen[@]} -gt 0 ] || usage_error "no kernel is named; there are: $(kernel_names | xargs)"
	fi
	for name in ${chosen[@]+"${chosen[@]}"}; do
		require_kernel "${name%%@*}"
	done
	if [ $icount -eq 1 ]; then
		[ "${cpus:-1}" -eq 1 ] || usage_error "--icount goes with one CPU, not with --cpus $cpus"
		cpus=1
	fi
	cpus=${cpus:-2}
}

image='' more_append='' cpus='' memory=1024 timeout=600 icount=0 verbose=0
extra=() chosen=() guest_pid='' readers=()
command=(tests/run.sh bpf live)
parse "$@"
check_usage
need qemu-system-x86_64 qemu-system-x86 busybox busybox-static cpio cpio readelf binutils
is_static "$(command -v busybox)" ||
	die "$(command -v busybox) is linked dynamically and cannot run in the guest:" \
		"install the package busybox-static instead"

work=$(mktemp -d) || exit 1
trap stop EXIT
trap 'exit 1' HUP INT TERM
make_root

result=0
if [ -n "$image" ]; then
	choose ''
	kernel_image=$image shown_name=$image
	boot "${command[@]}" || result=$?
fi
for name in ${chosen[@]+"${chosen[@]}"}; do
	shown_name=$name
	choose "$name" && boot "${command[@]}"
	status=$?
	[ $result -ne 0 ] || result=$status
done
exit $result
