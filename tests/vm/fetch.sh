#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Fetches a stock Debian kernel of kernels.txt into a cache and prints the directory that holds it:
# vmlinuz, config, modules/NAME.ko, and "package" (name and version). What is cached is used as it
# is, without a network.
#
# The packages come by apt-get from the mirrors of this machine's own apt configuration, whatever
# suites that names; apt's directories are private ones in the cache, so the machine's own package
# lists stay as they are.
#
# usage: tests/vm/fetch.sh [--refresh] KERNEL
#   --refresh   ask for a newer version even if one is cached
#
# Exit status: 0, 1 (cannot work here), 2 (usage), or 77 with "skip - vm:KERNEL: REASON" on stderr
# when the kernel cannot be fetched. The cache is $XDG_CACHE_HOME/vantage (~/.cache/vantage).

set -u -o pipefail
export LC_ALL=C
. "$(dirname "$0")/common.sh"

# A mirror that does not answer must not hold up the tests.
readonly update_limit=180 download_limit=600

# The machine's apt sources that can stand for a suite, each as a file in $work/sources with the
# suite put in: entries for Debian's main component, of the security archive if the suite is of it.
# Third parties that name their suites like Debian's are weeded out later: they have no such kernel.
write_sources() {
	local suite=$1 list parts file
	rm -rf "$work/sources"
	mkdir -p "$work/sources"
	eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
	for file in "$list" "$parts"/*.list; do
		[ ! -f "$file" ] || one_line_sources "$suite" <"$file"
	done
	for file in "$parts"/*.sources; do
		[ ! -f "$file" ] || deb822_sources "$suite" <"$file"
	done
}

# Says whether an entry with these suites is for the archive that has the wanted suite.
fits='
BEGIN {
	names = "buster|bullseye|bookworm|trixie|forky|duke|sid|(old)*stable|testing|unstable"
	debian = "^(" names ")(-[a-z-]+|/updates)?$"
	security = "(-security|/updates)$"
}
function fits(suites, wanted,    count, i, word) {
	count = split(suites, word, " ")
	for (i = 1; i <= count; i++)
		if (word[i] ~ debian && (word[i] ~ security) == (wanted ~ security))
			return 1
	return 0
}
function next_file(kind) {
	return sprintf("%s/sources/%02d-%s.%s", work, ++made, kind, kind)
}
'

one_line_sources() {
	awk -v work="$work" -v wanted="$1" "$fits"'
		$1 != "deb" { next }
		{
			sub(/#.*/, "")
			options = ""
			if (match($0, /\[[^]]*\]/)) {
				options = substr($0, RSTART + 1, RLENGTH - 2)
				$0 = substr($0, 1, RSTART - 1) " " substr($0, RSTART + RLENGTH)
			}
			gsub(/(arch|lang|target)[+-]?=[^ ]*/, "", options)
		}
		$2 !~ /^cdrom:/ && fits($3, wanted) && / main( |$)/ {
			printf "deb [arch=amd64 target=Packages %s] %s %s main\n", options, $2, wanted \
				>next_file("list")
		}'
}

deb822_sources() {
	sed '/^#/d' | awk -v work="$work" -v wanted="$1" -v RS= -v FS='\n' "$fits"'
		BEGIN {
			ours = "types|suites|components|enabled|architectures|languages|targets"
		}
		{
			split("", value)
			kept = ""
			for (i = 1; i <= NF; i++) {
				if ($i ~ /^[^ \t]/) {
					field = tolower(substr($i, 1, index($i, ":") - 1))
					value[field] = substr($i, index($i, ":") + 1)
				} else {
					value[field] = value[field] " " $i
				}
				if (field !~ "^(" ours ")$")
					kept = kept $i "\n"
			}
		}
		tolower(value["enabled"]) !~ /no|false/ && (" " value["types"] " ") ~ / deb / &&
		fits(value["suites"], wanted) && (" " value["components"] " ") ~ /[ \t]main[ \t]/ {
			file = next_file("sources")
			print "Types: deb\nSuites: " wanted "\nComponents: main" >file
			print "Architectures: amd64\nTargets: Packages" >file
			printf "%s", kept >file
		}'
}

# write_conf DIR: the apt configuration that makes DIR apt's own world. What the machine does after
# an update (package databases, clean-ups) is not for this.
write_conf() {
	mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial" "$1/parts"
	cat >"$1/apt.conf" <<-END
		Dir::State "$1/state";
		Dir::State::status "/dev/null";
		Dir::Cache "$1/cache";
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$1/parts";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		APT::Architecture "amd64";
		APT::Sandbox::User "root";
		APT::Update::Error-Mode "any";
		Acquire::http::Timeout "30";
		Acquire::https::Timeout "30";
		Acquire::Retries "2";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
	END
}

# apt_reason FILE: the first error that apt wrote, as one line.
apt_reason() {
	local line
	line=$(sed -n -e 's/^E: //p' -e 's/^W: \(Failed to fetch\)/\1/p' "$1" | head -n 1)
	echo "${line:-apt gave no reason}"
}

# candidates CONF: prints "VERSION RANK PACKAGE RELEASE" for every package that can hold the image,
# the best first: newest version, then the order in the table.
candidates() {
	local rank=0 template head tail package version
	for template in $image; do
		rank=$((rank + 1))
		head=${template%%@*} tail=${template#*@}
		apt-cache -c "$1" pkgnames "$head${release%%[*?[]*}" | while read -r package; do
			# The release is a pattern.
			# shellcheck disable=SC2053
			[[ $package == $head$release$tail ]] || continue
			apt-cache -c "$1" madison "$package" | while read -r _ _ version _; do
				echo "$version $rank $package $(expr "$package" : "$head\(.*\)$tail\$")"
			done
		done
	done | sort -u -k1,1Vr -k2,2n
}

# take VERSION PACKAGE RELEASE CONF: downloads the packages and makes the kernel's directory, whose
# path it leaves in $result.
take() {
	local version=$1 package=$2 release=$3 conf=$4 name template wanted
	result=$home/${package}_$version
	! whole "$result" || return 0
	wanted=("$package=$version")
	for template in $also; do
		wanted+=("${template/@/$release}=$version")
	done
	rm -rf "$work/debs" "$work/root" "$work/kernel"
	mkdir -p "$work/debs" "$work/root" "$work/kernel/modules"
	say "$kernel: fetching ${wanted[*]}"
	(cd "$work/debs" && timeout "$download_limit" apt-get -q -c "$conf" download "${wanted[@]}") \
		>"$work/log" 2>&1 || {
		reason=$(apt_reason "$work/log")
		return 1
	}
	for name in "$work"/debs/*.deb; do
		dpkg-deb -x "$name" "$work/root" || {
			reason="dpkg-deb could not unpack ${name##*/}"
			return 1
		}
	done
	copy_one "$work/kernel/vmlinuz" "$work"/root/boot/vmlinuz-* \
		"$work"/root/usr/lib/modules/*/vmlinuz* &&
		copy_one "$work/kernel/config" "$work"/root/boot/config-* \
			"$work"/root/usr/lib/modules/*/config || return
	for name in $modules; do
		copy_module "$name" || return
	done
	echo "${wanted[0]}" >"$work/kernel/package"
	rm -rf "$result"
	mv "$work/kernel" "$result"
}

# copy_one TARGET FILE...: the files are guesses where it lies, of which one has to be there.
copy_one() {
	local target=$1 file
	shift
	for file; do
		[ -f "$file" ] || continue
		cp "$file" "$target"
		return
	done
	reason="its packages hold no ${target##*/}"
	return 1
}

copy_module() {
	local file
	file=$(find "$work/root" -name "$1.ko*" | head -n 1)
	case $file in
	*.ko) cp "$file" "$work/kernel/modules/" ;;
	*.ko.xz) xz -dc "$file" >"$work/kernel/modules/$1.ko" ;;
	*)
		reason="its packages hold no module $1 that can be read (${file:-none})"
		return 1
		;;
	esac || {
		reason="cannot unpack the module $1"
		return 1
	}
}

# from_suite SUITE: takes the best kernel that a suite has; says in $reason why not.
from_suite() {
	local suite=$1 source dir version package found
	write_sources "$suite"
	reason="no entry of this machine's apt sources is for the Debian archive that has it"
	for source in "$work"/sources/*; do
		[ -f "$source" ] || continue
		dir=$cache/apt/$suite
		rm -rf "$dir/parts"
		write_conf "$dir"
		cp "$source" "$dir/parts/"
		timeout "$update_limit" apt-get -q -c "$dir/apt.conf" update >"$work/log" 2>&1 || {
			reason=$(apt_reason "$work/log")
			continue
		}
		candidates "$dir/apt.conf" >"$work/candidates"
		reason="it has no package $(pattern)"
		while read -r version _ package found; do
			take "$version" "$package" "$found" "$dir/apt.conf" && return
			say "$kernel: $package $version from $suite: $reason"
		done <"$work/candidates"
	done
	return 1
}

# The name of the package as a pattern, for messages.
pattern() {
	local first=${image%% *}
	echo "${first/@/$release}"
}

# whole DIR: whether a kernel's directory has all that the table names.
whole() {
	local name
	[ -f "$1/vmlinuz" ] && [ -f "$1/config" ] || return
	for name in $modules; do
		[ -f "$1/modules/$name.ko" ] || return
	done
}

# skip REASON: the kernel is not to be had.
skip() {
	echo "skip - vm:$kernel: cannot fetch $(pattern) $1" >&2
	exit $not_fetched
}

fetch() {
	local suite old reasons='' reason='' result=''
	for suite in $suites; do
		if from_suite "$suite"; then
			ln -sfn "${result##*/}" "$home/current"
			for old in "$home"/*_*; do
				[ "$old" = "$result" ] || rm -rf "$old"
			done
			return
		fi
		reasons+="; from $suite: $reason"
	done
	if whole "$home/current"; then
		say "$kernel: nothing newer could be fetched ${reasons#; }; using $(cat "$home/current/package")"
		return
	fi
	skip "${reasons#; }"
}

refresh=0
while [ $# -gt 0 ]; do
	case $1 in
	--refresh) refresh=1 ;;
	-h | --help)
		show_help
		exit
		;;
	-*) usage_error "unknown option '$1'" ;;
	*) break ;;
	esac
	shift
done
[ $# -eq 1 ] || usage_error "one kernel has to be named"
require_kernel "$1"

kernel=$1
suites=$(kernel_field "$kernel" suites)
release=$(kernel_field "$kernel" release)
image=$(kernel_field "$kernel" image)
also=$(kernel_field "$kernel" also)
modules=$(kernel_field "$kernel" modules)
home=$cache/kernels/$kernel
mkdir -p "$home" || die "cannot make the cache $home: set XDG_CACHE_HOME to a place that can be written"
# One fetch at a time: apt's private directories are shared.
need flock util-linux
exec 9>"$cache/fetch.lock"
flock 9
if [ $refresh -eq 1 ] || ! whole "$home/current"; then
	command -v apt-get >/dev/null ||
		skip "from $suites: this machine has no apt-get; run.sh --image boots a kernel of your own"
	need dpkg-deb dpkg xz xz-utils
	work=$(mktemp -d "$cache/fetch.XXXXXX") || die "cannot make a directory in $cache"
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	fetch
fi
echo "$home/$(readlink "$home/current")"
