// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/log.h"
#include "symbols/demangle.h"
#include "symbols/grow.h"
#include "symbols/ksyms.h"
#include "symbols/processes.h"

#define DEFAULT_MAX_BYTES (512UL << 20)

/* A demangled name, by the pointer of the raw one: names stay where they are until the close. */
struct known_name {
	const char *raw;
	char *shown; /* NULL: the raw name */
};

struct symbolizer {
	struct symbolizer_options options;
	struct ksyms *ksyms;
	struct opener opener;
	struct processes processes;
	/* Open addressing; a power of two, or 0. */
	struct known_name *names;
	size_t names_capacity;
	size_t nr_names;
};

/* Tells once what hides kernel addresses. */
static void tell_kernel_reason(enum symbol_reason reason, int err)
{
	if (err)
		log_warning(NULL, "kernel addresses get no names: cannot read /proc/kallsyms: %s",
			    strerror(-err));
	else if (reason == SYMBOL_KERNEL_HIDDEN)
		log_warning("Set kernel.kptr_restrict to 1 or 0, and run with CAP_SYSLOG.",
			    "kernel addresses get no names: /proc/kallsyms shows all as 0");
}

static int symbolizer__open_kernel(struct symbolizer *symbolizer)
{
	int err = ksyms__open(&symbolizer->ksyms, "/proc/kallsyms", "/proc/modules");

	if (err == -ENOMEM)
		return log_error(err, NULL, "cannot read the kernel's symbols");
	tell_kernel_reason(err ? SYMBOL_NAMED : ksyms__reason(symbolizer->ksyms), err);
	return 0;
}

int symbolizer__open(struct symbolizer **symbolizer, const struct symbolizer_options *options)
{
	struct symbolizer *opened = calloc(1, sizeof(*opened));
	int err = 0;

	*symbolizer = NULL;
	if (!opened)
		return log_error(ENOMEM, NULL, "cannot make room for symbols");
	opened->options = *options;
	opened->opener.socket = -1;
	/* First, while this process is small. */
	if (options->user)
		err = opener__start(&opened->opener);
	if (!err)
		err = processes__init(&opened->processes, &opened->opener,
				      options->max_bytes ? options->max_bytes : DEFAULT_MAX_BYTES);
	if (!err && options->kernel)
		err = symbolizer__open_kernel(opened);
	if (err) {
		symbolizer__close(opened);
		return err;
	}
	*symbolizer = opened;
	return 0;
}

void symbolizer__close(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	opener__stop(&symbolizer->opener);
	ksyms__close(symbolizer->ksyms);
	processes__free(&symbolizer->processes);
	for (size_t i = 0; i < symbolizer->names_capacity; i++)
		free(symbolizer->names[i].shown);
	free(symbolizer->names);
	free(symbolizer);
}

static struct known_name *find_name(struct known_name *names, size_t capacity, const char *raw)
{
	size_t at = ((uintptr_t)raw * 0x9e3779b97f4a7c15ULL) >> 32 & (capacity - 1);

	while (names[at].raw && names[at].raw != raw)
		at = (at + 1) & (capacity - 1);
	return &names[at];
}

/* Room for one more; without memory the raw names are shown. */
static bool symbolizer__grow_names(struct symbolizer *symbolizer)
{
	size_t capacity = symbolizer->names_capacity ? symbolizer->names_capacity * 2 : 256;
	struct known_name *names;

	if (symbolizer->nr_names < symbolizer->names_capacity / 2)
		return true;
	names = calloc(capacity, sizeof(*names));
	if (!names)
		return false;
	for (size_t i = 0; i < symbolizer->names_capacity; i++)
		if (symbolizer->names[i].raw)
			*find_name(names, capacity,
				   symbolizer->names[i].raw) = symbolizer->names[i];
	free(symbolizer->names);
	symbolizer->names = names;
	symbolizer->names_capacity = capacity;
	return true;
}

static const char *symbolizer__shown(struct symbolizer *symbolizer, const char *raw)
{
	struct known_name *known;

	if (!raw || raw[0] != '_' || symbolizer->options.raw_names ||
	    !symbolizer__grow_names(symbolizer))
		return raw;
	known = find_name(symbolizer->names, symbolizer->names_capacity, raw);
	if (!known->raw) {
		*known = (struct known_name){ .raw = raw, .shown = demangle(raw) };
		symbolizer->nr_names++;
	}
	return known->shown ? known->shown : raw;
}

int symbolizer__remember(struct symbolizer *symbolizer, const struct symbolizer_process *process)
{
	return processes__remember(&symbolizer->processes, process->pid, process->start_ns);
}

void symbolizer__kernel(struct symbolizer *symbolizer, uint64_t address, struct symbol *symbol)
{
	if (symbolizer->ksyms)
		ksyms__find(symbolizer->ksyms, address, symbol);
	else
		*symbol = (struct symbol){ .module_address = address,
					   .reason = SYMBOL_KERNEL_UNREADABLE };
	/* Kernel functions in Rust have mangled names, too. */
	symbol->name = symbolizer__shown(symbolizer, symbol->name);
}

void symbolizer__user(struct symbolizer *symbolizer, const struct symbolizer_process *process,
		      uint64_t address, struct symbol *symbol)
{
	processes__find(&symbolizer->processes, process->pid, process->start_ns, address, symbol);
	symbol->name = symbolizer__shown(symbolizer, symbol->name);
}

void symbolizer__counts(const struct symbolizer *symbolizer, struct symbolizer_counts *counts)
{
	const struct processes *processes = &symbolizer->processes;

	*counts = (struct symbolizer_counts){
		.processes = processes->nr,
		.exited_early = processes->exited_early,
		.unreadable = processes->unreadable,
		.files = processes->nr_files,
		.bytes = processes->bytes +
			 (symbolizer->ksyms ? ksyms__bytes(symbolizer->ksyms) : 0),
	};
}
