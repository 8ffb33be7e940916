// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/check_item.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel's internal "not supported", which BPF gives to user space; no libc names it. */
#define ENOTSUPP 524

#define ANOTHER_WAY "Trace by another mechanism, or boot a kernel that has it."

static const char *const step_words[] = {
	[STEP_BTF] = "looking it up in BTF",
	[STEP_PMU] = "finding its kind of perf event",
	[STEP_TRACEFS] = "reading its number in tracefs",
	[STEP_LOAD] = "loading",
	[STEP_CREATE] = "creating it",
	[STEP_OPEN] = "perf_event_open()",
	[STEP_ATTACH] = "attaching",
};

void finding__ok(struct finding *finding, const char *format, ...)
{
	va_list args;

	finding->status = FINDING_OK;
	va_start(args, format);
	vsnprintf(finding->seen, sizeof(finding->seen), format, args);
	va_end(args);
}

void finding__no(struct finding *finding, const char *format, ...)
{
	va_list args;

	finding->status = FINDING_NO;
	va_start(args, format);
	vsnprintf(finding->seen, sizeof(finding->seen), format, args);
	va_end(args);
}

void finding__unknown(struct finding *finding, const char *subject, int err)
{
	finding->status = FINDING_UNKNOWN;
	snprintf(finding->seen, sizeof(finding->seen), "%s: %s", subject, strerror(abs(err)));
}

void finding__cause(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->cause, sizeof(finding->cause), format, args);
	va_end(args);
}

void finding__remedy(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->remedy, sizeof(finding->remedy), format, args);
	va_end(args);
}

static const char *error_name(int error)
{
	const char *name = strerrorname_np(error);

	if (name)
		return name;
	return error == ENOTSUPP ? "ENOTSUPP" : "an unknown error";
}

static bool is_confidential(const struct check_item *item, const struct check_facts *facts)
{
	return item->confidential && !strcmp(facts->lockdown, "confidentiality");
}

static void explain_lockdown(struct finding *finding)
{
	finding__cause(finding, "kernel lockdown is in the mode confidentiality, which forbids it");
	finding__remedy(finding, "Boot with lockdown=integrity or without it (with Secure Boot a "
				 "distribution may set it).");
}

static void explain_seccomp(struct finding *finding)
{
	finding__cause(finding, "a seccomp filter is in force for this process");
	finding__remedy(finding, "Let the container or service allow bpf and perf_event_open, or "
				 "run it outside.");
}

/* The missing capabilities that the step asks for. */
static const char *missing_for(const struct check_facts *facts, enum trial_step step)
{
	if (step == STEP_CREATE)
		return strstr(facts->missing, "CAP_BPF") ? "CAP_BPF" : "";
	if (step == STEP_OPEN)
		return strstr(facts->missing, "CAP_PERFMON") ? "CAP_PERFMON" : "";
	return facts->missing;
}

/* Refused, though the capabilities that BPF and perf events ask for are there. */
static void explain_policy(struct finding *finding, const struct check_item *item,
			   const struct check_facts *facts, enum trial_step step)
{
	bool bpf = step == STEP_LOAD || step == STEP_CREATE;

	if (step == STEP_OPEN && !facts->sys_admin && facts->paranoid > 2) {
		finding__cause(finding,
			       "kernel.perf_event_paranoid is %d, which asks for CAP_SYS_ADMIN",
			       facts->paranoid);
		finding__remedy(finding, "Run it as root or with CAP_SYS_ADMIN, or sysctl "
					 "kernel.perf_event_paranoid=2.");
	} else if (step == STEP_OPEN && !facts->sys_admin && item->wants_admin) {
		/* Commit ba677dbe77af. */
		finding__cause(finding, "kernels since 6.16, and older ones with that fix, want "
					"CAP_SYS_ADMIN for it");
		finding__remedy(finding, "Run it as root or with CAP_SYS_ADMIN.");
	} else if (is_confidential(item, facts)) {
		explain_lockdown(finding);
	} else if (bpf && facts->memlock_counts && !facts->sys_resource &&
		   facts->memlock != RLIM_INFINITY) {
		finding__cause(finding,
			       "this kernel counts BPF memory against the locked-memory limit of "
			       "%llu kB",
			       (unsigned long long)facts->memlock / 1024);
		finding__remedy(finding, "Run it with CAP_SYS_RESOURCE, or ulimit -l unlimited.");
	} else if (facts->seccomp) {
		explain_seccomp(finding);
	} else {
		finding__cause(finding, "%s with all needed capabilities is refused: %s%s",
			       facts->root ? "root" : "a process", "this kernel forbids it",
			       *facts->lockdown ? "" : " (its lockdown mode cannot be read)");
		finding__remedy(finding,
				"Trace by another mechanism, or boot a kernel that allows it.");
	}
}

/* EPERM and EACCES: the first of the known reasons that holds, in the order the kernel asks. */
static void explain_refusal(struct finding *finding, const struct check_item *item,
			    const struct check_facts *facts, enum trial_step step, int error)
{
	const char *missing = missing_for(facts, step);

	if (step == STEP_TRACEFS && error == EACCES) {
		finding__cause(finding, "only root may read tracefs");
		finding__remedy(finding, "Run it as root or with CAP_DAC_READ_SEARCH.");
	} else if (facts->user_namespace && step != STEP_TRACEFS) {
		finding__cause(finding,
			       "this process is in a user namespace, whose capabilities do "
			       "not count here");
		finding__remedy(finding, "Run it as root outside of the namespace or container.");
	} else if (*missing && step != STEP_TRACEFS) {
		finding__cause(finding, "this process lacks %s", missing);
		finding__remedy(finding, "Run it as root or with CAP_BPF and CAP_PERFMON.");
	} else {
		explain_policy(finding, item, facts, step);
	}
}

static void explain_btf(struct finding *finding, const struct check_item *item,
			const struct check_facts *facts)
{
	if (facts->btf || !facts->btf_err) {
		finding__cause(finding, "the kernel's types (BTF) do not name %s", item->target);
		finding__remedy(finding, ANOTHER_WAY);
	} else {
		finding__cause(finding, "the kernel's types (BTF) cannot be read");
		finding__remedy(finding, "See their line above.");
	}
}

static void explain_tracefs(struct finding *finding)
{
	finding__cause(finding, "tracefs is not mounted where this process can see it");
	finding__remedy(finding, "mount -t tracefs tracefs /sys/kernel/tracing");
}

/* EINVAL and, from a trampoline, EBUSY may have other reasons: they only make it likely. */
static bool is_likely_absent(enum trial_step step, int error)
{
	return error == EINVAL || (error == EBUSY && step == STEP_ATTACH);
}

static bool is_absent(int error)
{
	static const int errors[] = { ENOENT, EOPNOTSUPP, ENOTSUPP, ENOSYS, ENODEV };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (error == errors[i])
			return true;
	return false;
}

static void explain_absence(struct finding *finding, const struct check_item *item,
			    const struct check_facts *facts, enum trial_step step, int error)
{
	/* What is locked down does not exist for the verifier and in tracefs. */
	if (is_confidential(item, facts) && (step == STEP_LOAD || step == STEP_TRACEFS)) {
		explain_lockdown(finding);
		return;
	}
	if (error == ENOSYS && facts->seccomp) {
		explain_seccomp(finding);
		return;
	}
	if (facts->release < item->since)
		finding__cause(finding, "Linux %d.%d brought it; this is %d.%d", item->since / 1000,
			       item->since % 1000, facts->release / 1000, facts->release % 1000);
	else if (step == STEP_PMU && !facts->perf_units)
		finding__cause(finding, "/sys does not show this process any kind of perf event");
	else if (error == ENOENT && (step == STEP_OPEN || step == STEP_ATTACH))
		finding__cause(finding, "the kernel does not find %s", item->target);
	else
		finding__cause(finding, "%sthis kernel was built without %s",
			       is_absent(error) ? "" : "most likely ", item->config);
	finding__remedy(finding, "%s", item->instead ? item->instead : ANOTHER_WAY);
}

void finding__explain(struct finding *finding, const struct check_item *item,
		      const struct check_facts *facts, enum trial_step step, int err)
{
	int error = abs(err);

	finding__no(finding, "%s%s%s gives %s", item->target ? item->target : "",
		    item->target ? ": " : "", step_words[step], error_name(error));
	if (step == STEP_BTF) {
		explain_btf(finding, item, facts);
	} else if (step == STEP_TRACEFS && !facts->tracefs) {
		explain_tracefs(finding);
	} else if (error == EPERM || error == EACCES) {
		explain_refusal(finding, item, facts, step, error);
	} else if (is_absent(error) || is_likely_absent(step, error)) {
		explain_absence(finding, item, facts, step, error);
	} else {
		finding__cause(finding, "%s", strerror(error));
		finding__remedy(finding, "See what the kernel says in dmesg.");
	}
}
