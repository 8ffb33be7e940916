/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's own names of its code, from /proc/kallsyms: functions of the kernel, of
 * modules, and BPF programs. Whether the file shows addresses the kernel decides by the
 * privileges of the one who opened it (kallsyms_open() keeps them), so it is opened once, at
 * the start, and is read at the first lookup and again later, when the privileges are gone: a
 * reading takes the kernel about 70 ms.
 *
 * kallsyms has no sizes: a symbol ends where the next one begins, of whatever kind, and at the
 * end of its module (/proc/modules). Where several stand at one address, the first one of the
 * file is taken, as the kernel does in its own messages.
 */
#ifndef VANTAGE_SYMBOLS_KSYMS_H
#define VANTAGE_SYMBOLS_KSYMS_H

#include <stdint.h>

#include "symbols/lines.h"
#include "symbols/symbol.h"
#include "symbols/symbol_table.h"

struct ksyms;

/* Opens it. That the addresses are hidden is no error: ksyms__reason() tells. path: of
 * kallsyms. modules: path of /proc/modules, or NULL. 0 or -errno, not reported. */
int ksyms__open(struct ksyms **ksyms, const char *path, const char *modules);

/* SYMBOL_NAMED, or why no address has a name. */
enum symbol_reason ksyms__reason(const struct ksyms *ksyms);

/*
 * The name of an address. When it is not known, or lies in a BPF program, the file is read
 * again, at most once a second: what was loaded since is found, what was unloaded is kept,
 * and an address that had both has SYMBOL_AMBIGUOUS.
 */
void ksyms__find(struct ksyms *ksyms, uint64_t address, struct symbol *symbol);

size_t ksyms__bytes(const struct ksyms *ksyms);

void ksyms__close(struct ksyms *ksyms);

/* Where a module's code ends at the latest. */
struct ksyms_module {
	char name[64]; /* MODULE_NAME_LEN of the kernel is 56 on 64-bit machines */
	uint64_t base;
	uint64_t end;
};

/*
 * The parser: adds the symbols of lines in the format of kallsyms to a table and finishes it.
 * nr_addresses: how many lines had an address other than 0. Lines of another format are left
 * out. 0, -ENOMEM or the error of reading.
 */
int ksyms__parse(struct lines *lines, const struct ksyms_module *modules, size_t nr_modules,
		 struct symbol_table *table, size_t *nr_addresses);

#endif
