// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/symbol.h"

#include <stddef.h>

static const struct {
	const char *name;
	const char *sentence;
} reasons[SYMBOL_NR_REASONS] = {
	[SYMBOL_NAMED] = { "named", "the address has a name" },
	[SYMBOL_KERNEL_HIDDEN] = { "kernel_hidden",
				   "the kernel hides its addresses (kptr_restrict, or CAP_SYSLOG is missing)" },
	[SYMBOL_KERNEL_UNREADABLE] = { "kernel_unreadable", "/proc/kallsyms was not read" },
	[SYMBOL_KERNEL_LATER] = { "kernel_later",
				  "it lies in a module or BPF program that was loaded later" },
	[SYMBOL_KERNEL_UNKNOWN] = { "kernel_unknown", "no symbol of the kernel covers it" },
	[SYMBOL_EXITED_EARLY] = { "exited_early", "the process exited before its maps were read" },
	[SYMBOL_PID_REUSED] = { "pid_reused", "another process has the process's id now" },
	[SYMBOL_NO_PERMISSION] = { "no_permission",
				   "reading the process's maps is not permitted (CAP_SYS_PTRACE)" },
	[SYMBOL_UNMAPPED] = { "unmapped", "nothing is mapped there" },
	[SYMBOL_NOT_CODE] = { "not_code", "the memory there is not executable" },
	[SYMBOL_AMBIGUOUS] = { "ambiguous",
			       "different files were mapped there at different times" },
	[SYMBOL_ANONYMOUS] = { "anonymous", "it is generated code, and there is no perf map" },
	[SYMBOL_NOT_IN_PERF_MAP] = { "not_in_perf_map",
				     "it is generated code that the perf map does not name" },
	[SYMBOL_FILE_GONE] = { "file_gone", "the mapped file cannot be reached any more" },
	[SYMBOL_FILE_REPLACED] = { "file_replaced",
				   "the path of the mapped file now leads to another file" },
	[SYMBOL_FILE_NO_PERMISSION] = { "file_no_permission",
					"opening the mapped file is not permitted" },
	[SYMBOL_FILE_NOT_REGULAR] = { "file_not_regular", "what is mapped is not a regular file" },
	[SYMBOL_FILE_WAITS] = { "file_waits",
				"the file lies on FUSE, or its file system does not answer" },
	[SYMBOL_FILE_NOT_ELF] = { "file_not_elf", "the mapped file is not an ELF file" },
	[SYMBOL_FILE_BROKEN] = { "file_broken", "the mapped file is damaged or unreadable" },
	[SYMBOL_OUTSIDE_SEGMENTS] = { "outside_segments",
				      "no segment of the mapped file holds the place" },
	[SYMBOL_NO_SYMBOLS] = { "no_symbols", "the file is stripped, and no debug file was found" },
	[SYMBOL_NOT_IN_SYMBOLS] = { "not_in_symbols", "no symbol of the file covers it" },
	[SYMBOL_OTHER_VDSO] = { "other_vdso", "it lies in the vDSO of another ABI" },
	[SYMBOL_LIMIT] = { "limit", "naming it would take more memory or files than allowed" },
	[SYMBOL_NO_MEMORY] = { "no_memory", "there was no memory to name it" },
	[SYMBOL_NO_OPENER] = { "no_opener", "the process that opens the files is not there" },
};

const char *symbol_reason__name(enum symbol_reason reason)
{
	return reason < SYMBOL_NR_REASONS ? reasons[reason].name : NULL;
}

const char *symbol_reason__sentence(enum symbol_reason reason)
{
	return reason < SYMBOL_NR_REASONS ? reasons[reason].sentence : NULL;
}
