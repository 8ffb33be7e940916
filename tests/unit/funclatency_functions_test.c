// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What can be told of a function before anything is attached to it, from files made up for it. */
#include "funclatency/functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/log.h"
#include "support/test.h"

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "0000000000000000 T vfs_write\n"
			       "0000000000000000 t vfs_writev\n"
			       "0000000000000000 t type_show\n"
			       "0000000000000000 t type_show\t[dummy]\n"
			       "0000000000000000 t twice\n"
			       "0000000000000000 t twice\n"
			       "0000000000000000 t copied.isra.0\n"
			       "0000000000000000 t copied.constprop.0\n"
			       "0000000000000000 t copied.cold\n"
			       "0000000000000000 t lone.part.0\n"
			       "0000000000000000 T lone\n"
			       "0000000000000000 t rare.cold\n"
			       "0000000000000000 D some_data\n"
			       "0000000000000000 t dummy_xmit\t[dummy]\n"
			       "0000000000000000 t untraced\n"
			       "0000000000000000 t __pfx_padded.isra.0\n"
			       "0000000000000000 t __pfx_vfs_write\n"
			       "short\n"
			       "\n";
static const char traceable[] = "vfs_write\ntype_show\nlone\ncopied.isra.0\n"
				"dummy_xmit [dummy]\n";

static char kallsyms_path[] = "/tmp/funclatency_functions_test.XXXXXX";
static char traceable_path[] = "/tmp/funclatency_functions_test.XXXXXX";

static const struct {
	const char *name;
	enum function_verdict verdict;
	const char *cause; /* a part of what is said */
	const char *hint;
} cases[] = {
	{ "vfs_write", FUNCTION_FINE, NULL, NULL },
	{ "lone", FUNCTION_FINE, NULL, NULL },
	{ "copied.isra.0", FUNCTION_FINE, NULL, NULL },
	{ "dummy_xmit", FUNCTION_FINE, NULL, NULL },
	{ "vfs_wirte", FUNCTION_UNKNOWN, "none of that name", "Did you mean vfs_write" },
	{ "nothing_like_it", FUNCTION_UNKNOWN, "none of that name", "/proc/kallsyms" },
	{ "some_data", FUNCTION_UNKNOWN, "none of that name", "/proc/kallsyms" },
	{ "__pfx_padded", FUNCTION_UNKNOWN, "none of that name", "/proc/kallsyms" },
	{ "rare", FUNCTION_UNKNOWN, "none of that name", "/proc/kallsyms" },
	{ "copied", FUNCTION_ONLY_WITH_SUFFIX, "variants",
	  "by its full name: copied.isra.0, copied.constprop.0." },
	{ "type_show", FUNCTION_SEVERAL, "2 functions of that name (in the kernel, dummy)",
	  "a caller" },
	{ "twice", FUNCTION_SEVERAL, "2 functions of that name (in the kernel)", "a caller" },
	{ "copied.cold", FUNCTION_PART, "seldom run", "the function itself: copied." },
	{ "untraced", FUNCTION_UNTRACEABLE, "notrace", "a caller" },
	{ "do_exit", FUNCTION_NO_RETURN, "never returns", "it calls" },
	{ "__rcu_read_lock", FUNCTION_UNDER_TRACING, "tracing itself", "a caller" },
	{ "migrate_disable", FUNCTION_UNDER_TRACING, "tracing itself", "a caller" },
	{ "bpf_get_stack", FUNCTION_UNDER_TRACING, "tracing itself", "a caller" },
};

static char said[1024];

static void keep(const struct log_message *message)
{
	snprintf(said, sizeof(said), "%s|%s|%s", message->message, message->cause, message->hint);
}

static void make(char *path, const char *text)
{
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		test__fatal("file", "%s", strerror(errno));
	close(fd);
}

int main(void)
{
	struct function_facts facts;
	char check[96];

	make(kallsyms_path, kallsyms);
	make(traceable_path, traceable);
	log__set_writer(keep);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int err = function__judge(cases[i].name, kallsyms_path, traceable_path, &facts);

		snprintf(check, sizeof(check), "%s: the verdict", cases[i].name);
		test__check(!err && facts.verdict == cases[i].verdict, check, "%d", facts.verdict);
		said[0] = '\0';
		err = function__report(cases[i].name, &facts);
		snprintf(check, sizeof(check), "%s: what is said", cases[i].name);
		test__check(cases[i].cause ? err == -ENOENT && strstr(said, cases[i].cause) &&
						     strstr(said, cases[i].hint) :
					     !err && !*said,
			    check, "%d: %s", err, said);
	}
	test__check(!function__judge("untraced", kallsyms_path, NULL, &facts) &&
			    facts.verdict == FUNCTION_FINE,
		    "without the list of what can be traced there is no objection", "%d",
		    facts.verdict);
	test__check(!function__judge("anything", "/nowhere", "/nowhere", &facts) &&
			    facts.verdict == FUNCTION_FINE,
		    "nor without symbols", "%d", facts.verdict);
	test__check(!function__judge("copied.isra.0", kallsyms_path, NULL, &facts) &&
			    facts.has_suffix,
		    "a suffix is seen", "no");
	unlink(kallsyms_path);
	unlink(traceable_path);
	return test__done();
}
