// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "callers.h"

#include <inttypes.h>
#include <string.h>

bool callers__is_probe(const struct symbol *symbol)
{
	static const char *const words[] = { "bpf_",	"trampoline", "kprobe",		"rethook",
					     "ftrace_", "perf_trace", "trace_call_bpf", "fprobe" };

	if (!symbol->name)
		return false;
	/* What was compiled at run time: BPF programs and trampolines. */
	if (symbol->module && !strcmp(symbol->module, "bpf"))
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(symbol->name, words[i]))
			return true;
	return false;
}

void callers__name(struct callers *callers, struct symbolizer *symbolizer, const char *function,
		   const struct funclatency_slow *slow)
{
	size_t nr = slow->stack_size > 0 ? (size_t)slow->stack_size / sizeof(slow->stack[0]) : 0;
	bool above = true;

	callers->nr = 0;
	for (size_t i = 0; i < nr && i < FUNCLATENCY_STACK_MAX; i++) {
		struct symbol symbol;

		/* A return probe has put the address of its own code in the place of the caller's,
		 * where nothing was called from. */
		symbolizer__kernel(symbolizer, slow->stack[i], &symbol);
		if (above && callers__is_probe(&symbol))
			continue;
		/* Behind the call: the instruction itself is of the caller. */
		symbolizer__kernel(symbolizer, slow->stack[i] - 1, &symbol);
		if (above && callers__is_probe(&symbol))
			continue;
		/* By fexit the function stands there, by kretprobe it does not. */
		if (above && symbol.name && !strcmp(symbol.name, function)) {
			above = false;
			continue;
		}
		above = false;
		callers->items[callers->nr].address = slow->stack[i];
		callers->items[callers->nr++].symbol = symbol;
	}
}

void callers__append(const struct callers *callers, const char *function, struct buffer *text)
{
	buffer__append_string(text, function);
	for (size_t i = 0; i < callers->nr; i++) {
		if (callers->items[i].symbol.name)
			buffer__printf(text, " < %s", callers->items[i].symbol.name);
		else
			buffer__printf(text, " < 0x%" PRIx64, (uint64_t)callers->items[i].address);
	}
}
