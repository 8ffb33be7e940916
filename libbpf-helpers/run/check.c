// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run/check_item.h"
#include "run/log.h"

/* What the items say of whether a tool can run. */
struct verdict {
	bool mechanisms[ATTACH_UPROBE + 1]; /* those that work */
	bool reads_kernel; /* programs may read kernel memory by helper */
	char lacking[192]; /* required items that failed */
};

static void finding__print(const struct finding *finding, const char *name)
{
	static const char *const words[] = {
		[FINDING_UNKNOWN] = "-",
		[FINDING_OK] = "ok",
		[FINDING_NO] = "no",
	};

	printf("%-3s %-26s %s\n", words[finding->status], name, finding->seen);
	if (*finding->cause)
		printf("        cause:  %s\n", finding->cause);
	if (*finding->remedy)
		printf("        remedy: %s\n", finding->remedy);
}

static void append_word(char *text, size_t size, const char *between, const char *word)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%s", used ? between : "", word);
}

static void check_items(const struct check_item *items, const struct check_facts *facts,
			struct verdict *verdict)
{
	for (const struct check_item *item = items; item->name; item++) {
		struct finding finding = {};

		item->look(item, facts, &finding);
		finding__print(&finding, item->name);
		if (item->mechanism)
			verdict->mechanisms[item->mechanism] = finding.status == FINDING_OK;
		if (item->reads_kernel)
			verdict->reads_kernel = finding.status == FINDING_OK;
		if (item->required && finding.status != FINDING_OK)
			append_word(verdict->lacking, sizeof(verdict->lacking), ", ", item->name);
	}
}

/* Prints whether the tool can run. Returns that. */
static bool verdict__print(const struct verdict *verdict, const char *tool,
			   const struct attach_way *ways, size_t nr_ways)
{
	char works[192] = "", fails[192] = "";

	for (size_t i = 0; i < nr_ways; i++) {
		bool good = verdict->mechanisms[ways[i].mechanism] &&
			    (verdict->reads_kernel || !ways[i].reads_kernel);
		char *list = good ? works : fails;

		append_word(list, sizeof(works), ", ", attach_mechanism_names[ways[i].mechanism]);
	}
	if (*verdict->lacking) {
		printf("%s cannot run: it needs what failed above: %s.\n", tool, verdict->lacking);
		return false;
	}
	if (!*works) {
		printf("%s cannot run: none of its ways to attach works here (%s).\n", tool, fails);
		return false;
	}
	printf("%s can run: it can attach by %s%s%s.\n", tool, works, *fails ? "; not by " : "",
	       fails);
	return true;
}

int check__report(const char *tool, const struct attach_way *ways, unsigned long nr_ways)
{
	struct verdict verdict = {};
	struct check_facts facts;
	bool can_run;

	facts__read(&facts);
	check_items(check_kernel_items, &facts, &verdict);
	check_items(check_mechanism_items, &facts, &verdict);
	check_items(check_system_items, &facts, &verdict);
	facts__free(&facts);
	can_run = verdict__print(&verdict, tool, ways, nr_ways);
	if (fflush(stdout) || ferror(stdout))
		return errno == EPIPE ? -EPIPE : log_error(errno, NULL, "cannot write the report");
	return can_run ? 0 : -ENOTSUP;
}
