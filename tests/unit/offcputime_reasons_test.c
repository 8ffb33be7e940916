// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What was waited for, by stacks of several kernels. */
#include "offcputime/reasons.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

#define FRAMES_MAX 12

/* names: the innermost first, NULL-terminated. */
static struct frames frames_of(const char *const *names, struct frame items[FRAMES_MAX])
{
	struct frames frames = { .items = items };

	for (; names[frames.nr]; frames.nr++)
		items[frames.nr] = (struct frame){ .symbol.name = names[frames.nr] };
	return frames;
}

static const struct {
	const char *names[FRAMES_MAX];
	enum reason reason;
	bool idle;
} cases[] = {
	{ { "anon_pipe_read", "vfs_read", "ksys_read", "do_syscall_64" }, REASON_PIPE, false },
	{ { "pipe_read", "new_sync_read", "vfs_read", "do_syscall_64" }, REASON_PIPE, false },
	{ { "futex_do_wait", "__futex_wait", "futex_wait", "do_futex" }, REASON_LOCK, false },
	{ { "futex_wait_queue_me", "futex_wait", "do_futex" }, REASON_LOCK, false },
	{ { "rwsem_down_write_slowpath", "vm_mmap_pgoff" }, REASON_LOCK, false },
	{ { "hrtimer_nanosleep", "common_nsleep", "do_syscall_64" }, REASON_SLEEP, false },
	{ { "poll_schedule_timeout.constprop.0", "do_sys_poll" }, REASON_POLL, true },
	{ { "ep_poll", "do_epoll_wait", "__x64_sys_epoll_wait" }, REASON_POLL, true },
	{ { "inet_csk_accept", "inet_accept", "__sys_accept4" }, REASON_SOCKET, true },
	{ { "sk_wait_data", "tcp_recvmsg_locked", "tcp_recvmsg" }, REASON_SOCKET, false },
	{ { "folio_wait_bit", "folio_wait_writeback", "do_fsync" }, REASON_DISK, false },
	{ { "submit_bio_wait", "blkdev_issue_flush", "ext4_sync_file" }, REASON_DISK, false },
	{ { "wait_on_page_bit", "wait_on_page_writeback" }, REASON_DISK, false },
	{ { "__folio_lock_or_retry", "filemap_fault", "handle_mm_fault", "exc_page_fault" },
	  REASON_FAULT,
	  false },
	{ { "handle_userfault", "do_anonymous_page", "handle_mm_fault" }, REASON_FAULT, false },
	{ { "do_wait", "kernel_wait4", "do_syscall_64" }, REASON_CHILD, false },
	{ { "n_tty_read", "tty_read", "vfs_read" }, REASON_TERMINAL, false },
	{ { "worker_thread", "kthread", "ret_from_fork" }, REASON_KERNEL, true },
	{ { "some_wait", "process_one_work", "worker_thread", "kthread" }, REASON_KERNEL, false },
	{ { "some_thread", "kthread", "ret_from_fork" }, REASON_KERNEL, false },
	{ { "do_signal_stop", "get_signal" }, REASON_STOPPED, false },
	{ { "some_driver_wait", "do_syscall_64" }, REASON_OTHER, false },
	{ { NULL }, REASON_OTHER, false },
};

static void check_cases(void)
{
	struct frame items[FRAMES_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct frames frames = frames_of(cases[i].names, items);
		char check[80];
		bool idle;
		enum reason reason = reason__of(&frames, &idle);

		snprintf(check, sizeof(check), "reason of %s",
			 cases[i].names[0] ? cases[i].names[0] : "no stack");
		test__check(reason == cases[i].reason && idle == cases[i].idle, check, "%s%s",
			    reason_names[reason], idle ? ", idle" : "");
	}
}

static void check_sums(void)
{
	static const char *const pipe[] = { "pipe_read", NULL }, *const poll[] = { "ep_poll",
										   NULL };
	struct stay_row row = { .total_ns = 100, .runnable_ns = 10, .preempted_ns = 5 };
	struct stay_row idle = { .total_ns = 50, .runnable_ns = 1 };
	struct reason_time times[REASON_TIMES_MAX];
	struct frame items[FRAMES_MAX];
	struct reasons reasons = {};
	struct frames frames = frames_of(pipe, items);
	size_t nr;

	test__check(!reasons__add(&reasons, &row, &frames), "sums: no idle wait", "it is one");
	frames = frames_of(poll, items);
	test__check(reasons__add(&reasons, &idle, &frames), "sums: an idle wait", "it is none");
	nr = reasons__list(&reasons, times);
	test__check(nr == 3 && times[0].reason == REASON_CPU && times[0].ns == 16 &&
			    times[1].reason == REASON_POLL && times[1].idle && times[1].ns == 49 &&
			    times[2].reason == REASON_PIPE && !times[2].idle && times[2].ns == 85,
		    "sums: by reason, the most last", "%zu", nr);
	for (int i = 0; i < REASON_NR; i++)
		if (!reason_names[i] || !*reason_names[i])
			test__fatal("names", "reason %d has none", i);
}

int main(void)
{
	check_cases();
	check_sums();
	return test__done();
}
