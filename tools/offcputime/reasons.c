// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "reasons.h"

#include <stdlib.h>
#include <string.h>

const char *const reason_names[REASON_NR] = {
	[REASON_DISK] = "disk",	      [REASON_FAULT] = "page fault", [REASON_LOCK] = "lock",
	[REASON_PIPE] = "pipe",	      [REASON_SOCKET] = "socket",    [REASON_POLL] = "poll",
	[REASON_SLEEP] = "sleep",     [REASON_CHILD] = "child",	     [REASON_TERMINAL] = "terminal",
	[REASON_STOPPED] = "stopped", [REASON_KERNEL] = "kernel",    [REASON_CPU] = "cpu",
	[REASON_OTHER] = "other",
};

struct rule {
	const char *function; /* with a * at its end: so it begins */
	enum reason reason;
	bool idle;
};

/* A fault is one whatever it waits for; so these come before all others. */
static const struct rule fault_rules[] = {
	{ "handle_mm_fault", REASON_FAULT, false },
	{ "exc_page_fault", REASON_FAULT, false },
	{ "asm_exc_page_fault", REASON_FAULT, false },
	{ "do_user_addr_fault", REASON_FAULT, false },
	{ "handle_userfault", REASON_FAULT, false },
};

/* The innermost frame that a rule names decides. */
static const struct rule rules[] = {
	{ "folio_wait_*", REASON_DISK, false },
	{ "__folio_lock*", REASON_DISK, false },
	{ "wait_on_page_*", REASON_DISK, false },
	{ "__lock_page*", REASON_DISK, false },
	{ "submit_bio_wait", REASON_DISK, false },
	{ "blkdev_*", REASON_DISK, false },
	{ "__blkdev_*", REASON_DISK, false },
	{ "__wait_on_buffer", REASON_DISK, false },
	{ "blk_mq_get_tag", REASON_DISK, false },
	{ "rq_qos_wait", REASON_DISK, false },
	{ "iomap_dio_*", REASON_DISK, false },
	{ "__iomap_dio_rw", REASON_DISK, false },
	{ "do_blockdev_direct_IO", REASON_DISK, false },
	{ "filemap_*", REASON_DISK, false },
	{ "generic_file_buffered_read", REASON_DISK, false },
	{ "balance_dirty_pages*", REASON_DISK, false },
	{ "jbd2_log_wait_commit", REASON_DISK, false },
	{ "jbd2_journal_commit_transaction", REASON_DISK, false },
	{ "xfs_buf_iowait", REASON_DISK, false },
	{ "xlog_wait*", REASON_DISK, false },

	{ "futex_*", REASON_LOCK, false },
	{ "__futex_wait", REASON_LOCK, false },
	{ "do_futex", REASON_LOCK, false },
	{ "mutex_lock*", REASON_LOCK, false },
	{ "__mutex_lock*", REASON_LOCK, false },
	{ "rwsem_down_*", REASON_LOCK, false },
	{ "down", REASON_LOCK, false },
	{ "down_*", REASON_LOCK, false },
	{ "__down*", REASON_LOCK, false },
	{ "percpu_rwsem_wait", REASON_LOCK, false },
	{ "rt_mutex_*", REASON_LOCK, false },
	{ "locks_lock_inode_wait", REASON_LOCK, false },
	{ "do_lock_file_wait", REASON_LOCK, false },
	{ "do_semtimedop", REASON_LOCK, false },
	{ "__do_semtimedop", REASON_LOCK, false },

	{ "pipe_*", REASON_PIPE, false },
	{ "anon_pipe_*", REASON_PIPE, false },
	{ "fifo_*", REASON_PIPE, false },
	{ "wait_for_partner", REASON_PIPE, false },

	{ "inet_csk_accept", REASON_SOCKET, true },
	{ "unix_accept", REASON_SOCKET, true },
	{ "sk_*", REASON_SOCKET, false },
	{ "tcp_*", REASON_SOCKET, false },
	{ "unix_*", REASON_SOCKET, false },
	{ "inet_*", REASON_SOCKET, false },
	{ "netlink_*", REASON_SOCKET, false },
	{ "skb_*", REASON_SOCKET, false },
	{ "__skb_*", REASON_SOCKET, false },
	{ "sock_*", REASON_SOCKET, false },

	{ "ep_poll", REASON_POLL, true },
	{ "do_epoll_wait", REASON_POLL, true },
	{ "do_poll*", REASON_POLL, true },
	{ "do_sys_poll", REASON_POLL, true },
	{ "do_select", REASON_POLL, true },
	{ "core_sys_select", REASON_POLL, true },
	{ "poll_schedule_timeout*", REASON_POLL, true },
	{ "io_cqring_wait", REASON_POLL, true },
	{ "read_events", REASON_POLL, true },
	{ "inotify_read", REASON_POLL, true },
	{ "eventfd_read", REASON_POLL, true },
	{ "signalfd_*", REASON_POLL, true },
	{ "timerfd_read*", REASON_POLL, true },

	{ "hrtimer_nanosleep", REASON_SLEEP, false },
	{ "common_nsleep*", REASON_SLEEP, false },
	{ "msleep*", REASON_SLEEP, false },
	{ "usleep_range*", REASON_SLEEP, false },
	{ "do_sigtimedwait", REASON_SLEEP, true },
	{ "sigsuspend", REASON_SLEEP, true },
	{ "__do_sys_pause", REASON_SLEEP, true },
	{ "__x64_sys_pause", REASON_SLEEP, true },

	{ "do_wait*", REASON_CHILD, false },
	{ "__do_wait", REASON_CHILD, false },
	{ "kernel_wait4", REASON_CHILD, false },
	{ "kernel_clone", REASON_CHILD, false },

	{ "n_tty_*", REASON_TERMINAL, false },
	{ "tty_*", REASON_TERMINAL, false },

	{ "do_signal_stop", REASON_STOPPED, false },
	{ "ptrace_stop*", REASON_STOPPED, false },
	{ "do_freezer_trap", REASON_STOPPED, false },
	{ "do_jobctl_trap", REASON_STOPPED, false },

	{ "worker_thread", REASON_KERNEL, true },
	{ "rescuer_thread", REASON_KERNEL, true },
	{ "kthreadd", REASON_KERNEL, true },
	{ "smpboot_thread_fn", REASON_KERNEL, true },
	{ "irq_thread", REASON_KERNEL, true },
	{ "kswapd", REASON_KERNEL, true },
	{ "kauditd_thread", REASON_KERNEL, true },
	{ "kcompactd", REASON_KERNEL, true },
	{ "khugepaged", REASON_KERNEL, true },
	{ "ksm_scan_thread", REASON_KERNEL, true },
	{ "oom_reaper", REASON_KERNEL, true },
	{ "rcu_gp_kthread", REASON_KERNEL, true },
	{ "rcu_tasks_kthread", REASON_KERNEL, true },
	{ "rcu_tasks_one_gp", REASON_KERNEL, true },
	{ "rcu_gp_fqs_loop", REASON_KERNEL, true },
	{ "kjournald2", REASON_KERNEL, true },
	{ "kthread_worker_fn", REASON_KERNEL, true },
	{ "kdamond_fn", REASON_KERNEL, true },
	{ "devtmpfs_work_loop", REASON_KERNEL, true },
	{ "watchdog", REASON_KERNEL, true },
	{ "hwrng_fillfn", REASON_KERNEL, true },
	{ "psi_rtpoll_worker", REASON_KERNEL, true },
	{ "kthread", REASON_KERNEL, false },
	{ "flush_work", REASON_KERNEL, false },
	{ "wait_for_completion*", REASON_KERNEL, false },
	{ "synchronize_*", REASON_KERNEL, false },
	{ "__wait_rcu_gp", REASON_KERNEL, false },
};

static bool rule__names(const struct rule *rule, const char *function)
{
	size_t length = strlen(rule->function);

	if (rule->function[length - 1] == '*')
		return !strncmp(rule->function, function, length - 1);
	/* A compiler adds to the names of what it has changed: ".constprop.0". */
	return !strncmp(rule->function, function, length) &&
	       (!function[length] || function[length] == '.');
}

/* at: of the frame that it names. */
static const struct rule *find_rule(const struct frames *kernel, const struct rule *table,
				    size_t nr, size_t *at)
{
	for (*at = 0; *at < kernel->nr; ++*at)
		for (size_t j = 0; kernel->items[*at].symbol.name && j < nr; j++)
			if (rule__names(&table[j], kernel->items[*at].symbol.name))
				return &table[j];
	return NULL;
}

enum reason reason__of(const struct frames *kernel, bool *idle)
{
	size_t at;
	const struct rule *rule = find_rule(kernel, fault_rules,
					    sizeof(fault_rules) / sizeof(fault_rules[0]), &at);

	if (!rule)
		rule = find_rule(kernel, rules, sizeof(rules) / sizeof(rules[0]), &at);
	/* The kernel's own threads work in functions that their loops call. */
	*idle = rule && rule->idle && (rule->reason != REASON_KERNEL || !at);
	return rule ? rule->reason : REASON_OTHER;
}

bool reasons__add(struct reasons *reasons, const struct stay_row *row, const struct frames *kernel)
{
	uint64_t cpu_ns = row->runnable_ns + row->preempted_ns;
	uint64_t blocked_ns = row->total_ns - cpu_ns;
	enum reason reason;
	bool idle;

	reason = reason__of(kernel, &idle);
	reasons->ns[REASON_CPU] += cpu_ns;
	if (idle)
		reasons->idle_ns[reason] += blocked_ns;
	else
		reasons->ns[reason] += blocked_ns;
	/* What was preempted on its way there had something to do. */
	return idle && !row->preempted_ns;
}

static int compare_times(const void *left, const void *right)
{
	const struct reason_time *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (int)a->reason - (int)b->reason;
}

size_t reasons__list(const struct reasons *reasons, struct reason_time times[REASON_TIMES_MAX])
{
	size_t nr = 0;

	for (int i = 0; i < REASON_NR; i++) {
		if (reasons->ns[i])
			times[nr++] = (struct reason_time){ i, false, reasons->ns[i] };
		if (reasons->idle_ns[i])
			times[nr++] = (struct reason_time){ i, true, reasons->idle_ns[i] };
	}
	if (nr)
		qsort(times, nr, sizeof(*times), compare_times);
	return nr;
}
