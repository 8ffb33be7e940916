# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Builds every tool under tools/ and every test under tests/: what is there is found, nothing is
# listed. All products lie below $(O). "make help" lists the targets and variables.

VERSION := 0.1.0

O ?= build
PREFIX ?= /usr/local
STATIC ?= 1
SANITIZE ?= 0
V ?= 0

# make's own defaults for these are not what is meant here; the environment's and the caller's are.
ifneq ($(filter default undefined,$(origin CC)),)
CC := gcc
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR := ar
endif
CLANG ?= clang
STRIP ?= strip
CLANG_FORMAT ?= clang-format
MANDOC ?= mandoc
# A user who is not root has no sbin in the search path.
BPFTOOL ?= $(or $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool),bpftool)
CFLAGS ?= -O2 -g -fstack-protector-strong -D_FORTIFY_SOURCE=2

MAKEFLAGS += -rR --no-print-directory
SHELL := /bin/sh
.DELETE_ON_ERROR:
.SUFFIXES:

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s%s\n' '$(1)' '$(2)'
endif

.PHONY: all
all: tools man

# ---- What there is -------------------------------------------------------------------------------

TOOLS := $(foreach dir,$(patsubst %/,%,$(wildcard tools/*/)),\
	$(if $(wildcard $(dir)/$(notdir $(dir)).c),$(notdir $(dir))))
$(foreach tool,$(TOOLS),$(if $(wildcard tools/$(tool)/$(tool).bpf.c),,\
	$(error tools/$(tool) has a $(tool).c but no $(tool).bpf.c)))
tool_c = $(filter-out %.bpf.c,$(sort $(wildcard tools/$(1)/*.c)))
TOOL_C := $(foreach tool,$(TOOLS),$(call tool_c,$(tool)))
MODULE_C := $(filter-out $(foreach tool,$(TOOLS),tools/$(tool)/$(tool).c),$(TOOL_C))

LIB_ROOMS := run collect symbols output report
LIB_C := $(sort $(wildcard $(LIB_ROOMS:%=libbpf-helpers/%/*.c)))
SUPPORT_C := $(sort $(wildcard tests/support/*.c))
UNIT_C := $(sort $(wildcard tests/unit/*_test.c))
BPF_TEST_C := $(sort $(wildcard tests/bpf/*_test.c))
LIVE_C := $(sort $(wildcard tests/live/*_test.c))
FUZZ_C := $(sort $(wildcard tests/fuzz/*_fuzz.c))
TEST_C := $(UNIT_C) $(BPF_TEST_C) $(LIVE_C)
# bench/NAME.c is a program; bench/NAME/*.c are its modules.
BENCH_C := $(filter-out %.bpf.c,$(sort $(wildcard bench/*.c)))
bench_modules = $(sort $(wildcard $(1:%.c=%)/*.c))
BENCH_ALL_C := $(BENCH_C) $(foreach program,$(BENCH_C),$(call bench_modules,$(program)))

TOOL_BPF := $(foreach tool,$(TOOLS),tools/$(tool)/$(tool).bpf.c)
TEST_BPF := $(sort $(wildcard tests/bpf/*.bpf.c))
BENCH_BPF := $(sort $(wildcard bench/*.bpf.c))
BPF_C := $(TOOL_BPF) $(TEST_BPF) $(BENCH_BPF)
ifneq ($(words $(BPF_C)),$(words $(sort $(notdir $(BPF_C)))))
$(error two .bpf.c files have one name, so their skeletons would too: $(BPF_C))
endif

MAN := $(sort $(wildcard man/*.8 man/*.7))
MAN_COMMON := $(sort $(wildcard man/common/*.mdoc))

# ---- Where it goes -------------------------------------------------------------------------------

# Unit tests are always built with the sanitizers, whatever the tools are built with.
ifeq ($(SANITIZE),1)
OUT := $(O)/sanitize
OBJ := $(O)/sanitize/obj
else ifeq ($(STATIC),1)
OUT := $(O)
OBJ := $(O)/obj
else
OUT := $(O)/dynamic
OBJ := $(O)/obj
endif
plain_obj = $(1:%.c=$(O)/obj/%.o)
sanitized_obj = $(1:%.c=$(O)/sanitize/obj/%.o)
tool_obj = $(1:%.c=$(OBJ)/%.o)
skeleton = $(patsubst %.bpf.c,$(O)/skel/%.skel.h,$(notdir $(1)))

TOOL_BIN := $(TOOLS:%=$(OUT)/bin/%)
UNIT_TESTS := $(UNIT_C:%.c=$(O)/%)
BPF_TESTS := $(BPF_TEST_C:%.c=$(O)/%)
LIVE_TESTS := $(LIVE_C:%.c=$(O)/%)
FUZZERS := $(FUZZ_C:%.c=$(O)/%)
BENCH_PROGRAMS := $(BENCH_C:%.c=$(O)/%)
BUILT_MAN := $(MAN:%=$(O)/%)

# ---- Flags ---------------------------------------------------------------------------------------

# No path of this machine may get into a binary: the same commit gives the same bytes anywhere.
PREFIX_MAP := -ffile-prefix-map=$(abspath $(O))=build -ffile-prefix-map=$(CURDIR)=.
WARNINGS := -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wold-style-definition \
	-Wshadow -Wpointer-arith -Wformat=2 -Wnested-externs
INCLUDES := -Ilibbpf-helpers -I$(O)/skel
TEST_INCLUDES := -Itests -Itests/support -Itools
BASE_FLAGS := -std=gnu11 $(WARNINGS) -D_GNU_SOURCE= -DVANTAGE_VERSION='"$(VERSION)"' \
	-ffunction-sections -fdata-sections $(PREFIX_MAP) $(INCLUDES)
PLAIN_FLAGS := $(BASE_FLAGS) -fPIE $(CFLAGS) $(CPPFLAGS)
# The sanitizers' own checks confuse gcc's flow analysis; the plain build makes this one.
SANITIZER := -fsanitize=address,undefined -fno-sanitize-recover=all
SANITIZED_FLAGS := $(BASE_FLAGS) $(CFLAGS) $(CPPFLAGS) -U_FORTIFY_SOURCE -O1 \
	-fno-omit-frame-pointer -Wno-maybe-uninitialized $(SANITIZER)
LIBS := -lbpf -lelf -lz -llzma -liberty
STATIC_LINK := -static-pie -Wl,--gc-sections -Wl,--build-id=none $(LDFLAGS)
DYNAMIC_LINK := -pie -Wl,--gc-sections -Wl,--build-id=none $(LDFLAGS)
SANITIZED_LINK := $(SANITIZER) $(LDFLAGS)
BPF_FLAGS := -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_x86 \
	-fdebug-compilation-dir=. $(PREFIX_MAP) -Ilibbpf-helpers -Ivmlinux/x86

ifeq ($(SANITIZE),1)
TOOL_LINK := $(SANITIZED_LINK)
TOOL_LIB := $(O)/sanitize/libvantage.a
# Reports of the sanitizers name functions.
STRIPPED = cp $< $@
else
STRIPPED = $(STRIP) -o $@ $<
TOOL_LINK := $(if $(filter 1,$(STATIC)),$(STATIC_LINK),$(DYNAMIC_LINK))
TOOL_LIB := $(O)/libvantage.a
endif

# ---- Rules ---------------------------------------------------------------------------------------

.PHONY: FORCE
FORCE:

# quickstart knows what has to be installed; one line names what is missing.
NEEDS := build $(if $(filter 1,$(STATIC)),static) \
	$(if $(filter bench check check-% lint tests,$(MAKECMDGOALS)),static tests)
.PHONY: packages
packages:
	@CC='$(CC)' CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' CLANG_FORMAT='$(CLANG_FORMAT)' \
		MANDOC='$(MANDOC)' ./quickstart --missing $(NEEDS)

# $(call stamp,NAME,TEXT): a file that changes only when TEXT does, so that what depends on it is
# made anew with other flags, or when a source file comes or goes.
quoted = '$(subst ','\'',$(1))'
define stamp
$(O)/flags/$(1): FORCE | packages
	@mkdir -p $$(@D)
	@printf '%s\n' $(call quoted,$(2)) >$$@.$$$$$$$$; \
		if cmp -s $$@.$$$$$$$$ $$@; then rm $$@.$$$$$$$$; else mv $$@.$$$$$$$$ $$@; fi
endef
$(eval $(call stamp,plain,$(CC) $(PLAIN_FLAGS)))
$(eval $(call stamp,sanitized,$(CC) $(SANITIZED_FLAGS)))
$(eval $(call stamp,bpf,$(CLANG) $(BPF_FLAGS) $(BPFTOOL)))
$(eval $(call stamp,static-link,$(STATIC_LINK) $(LIBS) $(TOOL_C) $(LIB_C) $(SUPPORT_C) \
	$(BENCH_ALL_C)))
$(eval $(call stamp,sanitized-link,$(SANITIZED_LINK) $(LIBS) $(TOOL_C) $(LIB_C) $(SUPPORT_C)))
$(eval $(call stamp,tool-link-$(notdir $(OUT)),$(TOOL_LINK) $(LIBS) $(TOOL_C) $(LIB_C)))

SKELETONS := $(call skeleton,$(BPF_C))
# A loader is compiled after its skeleton; which files it really reads, its .d file tells then.
$(foreach tool,$(TOOLS),$(foreach place,plain sanitized,$(eval \
	$(call $(place)_obj,$(call tool_c,$(tool))): | $(O)/skel/$(tool).skel.h)))
$(call plain_obj,$(TEST_C) $(BENCH_ALL_C)) $(call sanitized_obj,$(TEST_C)): | $(SKELETONS)

$(O)/obj/%.o: %.c $(O)/flags/plain
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_FLAGS) $(EXTRA_INCLUDES) -MMD -MP -c $< -o $@

$(O)/sanitize/obj/%.o: %.c $(O)/flags/sanitized
	$(call say,CC-SAN,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITIZED_FLAGS) $(EXTRA_INCLUDES) -MMD -MP -c $< -o $@

$(addprefix $(O)/,obj/tests/%.o obj/bench/%.o sanitize/obj/tests/%.o): \
	EXTRA_INCLUDES := $(TEST_INCLUDES)

# An archive is written anew: one that is added to keeps the members of removed sources.
define archive
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcsD $@ $(filter %.o,$^)
endef
$(O)/libvantage.a: $(call plain_obj,$(LIB_C)) $(O)/flags/static-link
	$(archive)
$(O)/sanitize/libvantage.a: $(call sanitized_obj,$(LIB_C)) $(O)/flags/sanitized-link
	$(archive)
$(O)/sanitize/libmodules.a: $(call sanitized_obj,$(MODULE_C)) $(O)/flags/sanitized-link
	$(archive)
$(O)/libsupport.a: $(call plain_obj,$(SUPPORT_C)) $(O)/flags/static-link
	$(archive)
$(O)/sanitize/libsupport.a: $(call sanitized_obj,$(SUPPORT_C)) $(O)/flags/sanitized-link
	$(archive)

# bpftool's linker drops the DWARF and keeps the BTF.
$(O)/bpf/%.bpf.o: %.bpf.c $(O)/flags/bpf
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_FLAGS) -MMD -MP -MT $@ -c $< -o $(@:.o=.full.o)
	$(Q)$(BPFTOOL) gen object $@ $(@:.o=.full.o)

define skeleton_rule
$(call skeleton,$(1)): $(1:%.bpf.c=$(O)/bpf/%.bpf.o)
	$$(call say,SKEL,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(BPFTOOL) gen skeleton $$< >$$@
endef
$(foreach source,$(BPF_C),$(eval $(call skeleton_rule,$(source))))

# $(call tool_rule,TOOL): linked with symbols beside it, installed without them.
define tool_rule
$(OUT)/debug/$(1): $(call tool_obj,$(call tool_c,$(1))) $(TOOL_LIB) \
		$(O)/flags/tool-link-$(notdir $(OUT))
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) -o $$@ $$(filter %.o %.a,$$^) $$(TOOL_LINK) $$(LIBS)
endef
$(foreach tool,$(TOOLS),$(eval $(call tool_rule,$(tool))))
$(TOOL_BIN): $(OUT)/bin/%: $(OUT)/debug/%
	$(call say,STRIP,$@)
	@mkdir -p $(@D)
	$(Q)$(STRIPPED)

$(UNIT_TESTS): $(O)/%: $(O)/sanitize/obj/%.o $(O)/sanitize/libmodules.a \
		$(O)/sanitize/libsupport.a $(O)/sanitize/libvantage.a $(O)/flags/sanitized-link
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $(filter %.o %.a,$^) $(SANITIZED_LINK) $(LIBS)

$(BPF_TESTS) $(LIVE_TESTS): $(O)/%: $(O)/obj/%.o $(O)/libsupport.a $(O)/libvantage.a \
		$(O)/flags/static-link
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $(filter %.o %.a,$^) $(STATIC_LINK) $(LIBS)

# What parses, and the little it needs; by clang, whose runtime has the fuzzer.
FUZZ_FLAGS := $(filter-out -Wold-style-definition,$(BASE_FLAGS)) -g -O1 -U_FORTIFY_SOURCE \
	-Wno-format-nonliteral -fno-omit-frame-pointer -Itests/fuzz \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
FUZZED_C := $(sort $(wildcard libbpf-helpers/symbols/*.c)) libbpf-helpers/run/log.c \
	libbpf-helpers/output/escape.c libbpf-helpers/output/buffer.c
$(FUZZERS): $(O)/%: %.c $(FUZZED_C) $(wildcard libbpf-helpers/symbols/*.h tests/fuzz/*.h) | \
		packages
	$(call say,FUZZER,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -o $@ $< $(FUZZED_C) -llzma -liberty -lz

define bench_rule
$(1:%.c=$(O)/%): $(call plain_obj,$(1) $(call bench_modules,$(1))) $(O)/libsupport.a \
		$(O)/libvantage.a $(O)/flags/static-link
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) -o $$@ $$(filter %.o %.a,$$^) $$(STATIC_LINK) $$(LIBS)
endef
$(foreach program,$(BENCH_C),$(eval $(call bench_rule,$(program))))

# A line  .\" @include NAME  of a page stands for man/common/NAME.mdoc.
$(BUILT_MAN): $(O)/%: % $(MAN_COMMON)
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)awk '/^\.\\" @include / { \
			part = "man/common/" $$3 ".mdoc"; read = 0; \
			while ((more = (getline line < part)) > 0) { print line; read++ } \
			close(part); \
			if (more < 0 || !read) { \
				print FILENAME ":" FNR ": cannot read " part > "/dev/stderr"; \
				exit 1 } \
			next } \
		{ print }' $< >$@

-include $(patsubst %.o,%.d,$(call plain_obj,$(LIB_C) $(TOOL_C) $(SUPPORT_C) $(TEST_C) \
	$(BENCH_ALL_C)) \
	$(call sanitized_obj,$(LIB_C) $(TOOL_C) $(SUPPORT_C) $(TEST_C)) \
	$(BPF_C:%.bpf.c=$(O)/bpf/%.bpf.full.o))

# ---- Targets -------------------------------------------------------------------------------------

.PHONY: tools man tests bench
tools: $(TOOL_BIN)
man: $(BUILT_MAN)
tests: tools man bench $(UNIT_TESTS) $(BPF_TESTS) $(LIVE_TESTS) $(FUZZERS)
bench: $(BENCH_PROGRAMS)

RUN_TESTS := VANTAGE_BUILD='$(O)' VANTAGE_BIN='$(OUT)/bin' CLANG_FORMAT='$(CLANG_FORMAT)' \
	MANDOC='$(MANDOC)' tests/run.sh
.PHONY: check check-fuzz check-unit check-bpf check-live lint
check: tests
	$(Q)$(RUN_TESTS) unit bpf live lint tests/fuzz/fuzz_test.sh
check-fuzz: $(FUZZERS)
	$(Q)$(RUN_TESTS) tests/fuzz/fuzz_test.sh
check-unit: $(UNIT_TESTS)
	$(Q)$(RUN_TESTS) unit
check-bpf: $(BPF_TESTS)
	$(Q)$(RUN_TESTS) bpf
check-live: tools $(LIVE_TESTS)
	$(Q)$(RUN_TESTS) live
lint: tools man
	$(Q)$(RUN_TESTS) lint

.PHONY: check-vm check-vm-all
check-vm: tests
	$(Q)VANTAGE_BUILD='$(O)' VANTAGE_BIN='$(OUT)/bin' tests/vm/check.sh
check-vm-all: tests
	$(Q)VANTAGE_BUILD='$(O)' VANTAGE_BIN='$(OUT)/bin' tests/vm/check.sh --all

# The costs in instructions, against those that are checked in.
.PHONY: check-costs
check-costs: tools bench
	$(Q)VANTAGE_BUILD='$(O)' VANTAGE_BIN='$(OUT)/bin' bench/instructions.sh --check

.PHONY: format
format:
	$(Q)LINT_ROOT='$(CURDIR)'; . tests/lint/lib.sh; c_files | xargs $(CLANG_FORMAT) -i

.PHONY: install uninstall
install: all
	$(Q)for tool in $(TOOLS); do \
		install -D -m 755 "$(OUT)/bin/$$tool" "$(DESTDIR)$(PREFIX)/bin/$$tool" || exit; done
	$(Q)for page in $(notdir $(MAN)); do \
		install -D -m 644 "$(O)/man/$$page" \
			"$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$page" || exit; done
uninstall:
	$(Q)for tool in $(TOOLS); do rm -f "$(DESTDIR)$(PREFIX)/bin/$$tool"; done
	$(Q)for page in $(notdir $(MAN)); do \
		rm -f "$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$page"; done

# The commit's own files are built anew in a directory of their own, so that neither changes that
# are not committed nor flags of the environment get in.
DIST := vantage-$(VERSION)-x86_64
.PHONY: dist dist-files
dist: packages
	@git rev-parse --verify -q HEAD >/dev/null || { exec >&2; \
		echo "cannot make a distribution: no git clone, or no git"; exit 1; }
	$(Q)rm -rf '$(O)/dist' && mkdir -p '$(O)/dist/source'
	$(Q)git archive --format=tar HEAD | tar -x -C '$(O)/dist/source'
	$(Q)env -u CFLAGS -u CPPFLAGS -u LDFLAGS $(MAKE) -C '$(O)/dist/source' O=build CC=gcc \
		STATIC=1 SANITIZE=0 dist-files
	$(Q)tar -c -C '$(O)/dist/source/build' --format=ustar --sort=name --owner=0 --group=0 \
		--numeric-owner --mode=u=rwX,go=rX --mtime="@$$(git log -1 --format=%ct)" \
		'$(DIST)' | gzip -9n >'$(O)/$(DIST).tar.gz'
	$(Q)sha256sum '$(O)/$(DIST).tar.gz'

# What is linked into a static tool, by the Debian package that has its licence.
LINKED := libbpf-dev libelf-dev zlib1g-dev liblzma-dev libiberty-dev libc6-dev libgcc-12-dev
dist-files: all
	$(Q)rm -rf '$(O)/$(DIST)'
	$(Q)install -D -m 755 -t '$(O)/$(DIST)/bin' $(TOOL_BIN)
	$(Q)install -D -m 644 -t '$(O)/$(DIST)/man' $(BUILT_MAN)
	$(Q)install -D -m 644 -t '$(O)/$(DIST)' README.md
	$(Q)install -D -m 644 -t '$(O)/$(DIST)/LICENSES' LICENSES/*.txt
	$(Q)for package in $(LINKED); do \
		install -D -m 644 "/usr/share/doc/$$package/copyright" \
			"$(O)/$(DIST)/LICENSES/linked/$$package.copyright" || exit; done
	$(Q)for text in GPL-2 GPL-3 LGPL-2.1 LGPL-3; do \
		install -m 644 "/usr/share/common-licenses/$$text" \
			"$(O)/$(DIST)/LICENSES/linked/$$text" || exit; done
	$(Q)dpkg-query -W -f '$${Package} $${Version} ($${source:Package} $${source:Version})\n' \
		$(LINKED)  >'$(O)/$(DIST)/LICENSES/linked/VERSIONS'
	$(Q)cd '$(O)/$(DIST)' && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | \
		xargs sha256sum >SHA256SUMS

.PHONY: vmlinux
vmlinux:
	$(Q)vmlinux/generate.sh

.PHONY: clean
clean:
	$(Q)rm -rf $(patsubst %,'$(O)'/%,bench bin bpf debug dist dynamic flags man obj sanitize \
		skel tests libvantage.a libsupport.a '$(DIST).tar.gz')
	$(Q)if [ -d '$(O)' ]; then rmdir --ignore-fail-on-non-empty '$(O)'; fi

.PHONY: help
help:
	@printf '%s\n' \
	'make              the tools (build/bin) and their man pages (build/man)' \
	'make check        all tests; one group: check-unit, -bpf, -live, -fuzz, lint' \
	'make bench        the programs that bench/*.sh runs' \
	'make check-vm     bpf and live tests on stock kernels 6.1 and 6.12 in VMs' \
	'make check-vm-all the same on every kernel and variant' \
	'make check-costs  instructions per event in VMs, against bench/instructions/KERNEL.txt' \
	'make format       formats the C files in place' \
	'make install      to $$(DESTDIR)$$(PREFIX), PREFIX=/usr/local; make uninstall' \
	'make dist         $(DIST).tar.gz from the last commit' \
	'make vmlinux      vmlinux/x86/vmlinux.h from the newest Debian 6.1 kernel package' \
	'make clean        removes what was built' \
	'' \
	'O=DIR       build there instead of in build/' \
	'STATIC=0    link the tools dynamically (build/dynamic/bin)' \
	'SANITIZE=1  build the tools with ASan and UBSan (build/sanitize/bin)' \
	'V=1         show the commands' \
	'CC, CLANG, BPFTOOL, CFLAGS, CPPFLAGS, LDFLAGS  as usual'
