// SPDX-License-Identifier: GPL-2.0-only
/* Adds a value to a histogram on demand: as a syscall program, or raw_tp before 5.14. */
#include "bpf/hist.bpf.h"
#include "hist_test.h"

char LICENSE[] SEC("license") = "GPL";

struct hist_test hist_test = {};

static __always_inline int add(void)
{
	struct hist_key key = hist_test.key;

	if (hist_test.keyed)
		return hist__add_keyed(&key, key.comm, bpf_ktime_get_ns(), hist_test.value);
	hist__add(hist_test.value);
	return 1;
}

SEC("?syscall")
int add_syscall(void *ctx)
{
	return add();
}

SEC("?raw_tp")
int add_raw_tp(void *ctx)
{
	return add();
}
