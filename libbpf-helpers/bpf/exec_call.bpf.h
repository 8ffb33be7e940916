/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call of exec as its caller made it, seen from sys_exit: the registers still hold
 * what was passed, since only a successful exec replaces them. Path and arguments are
 * read from the caller's memory, without faulting pages in. For x86.
 */
#ifndef VANTAGE_BPF_EXEC_CALL_H
#define VANTAGE_BPF_EXEC_CALL_H

#include "bpf/kernel.bpf.h"

/* arch/x86/include/asm/thread_info.h: a 32-bit call is running. */
#define TS_COMPAT 0x0002

/* arch/x86/entry/syscalls/syscall_64.tbl and syscall_32.tbl */
#define NR_EXECVE 59
#define NR_EXECVEAT 322
#define NR_X32_EXECVE (0x40000000 | 520)
#define NR_X32_EXECVEAT (0x40000000 | 545)
#define NR_I386_EXECVE 11
#define NR_I386_EXECVEAT 358

struct exec_call {
	__u64 path;
	__u64 argv;
	__u32 pointer_size; /* of the pointers in argv: 4 or 8 */
};

/* Fills *call and returns true when the system call that ends was execve or execveat. */
static __always_inline bool exec_call__read(struct pt_regs *regs, struct exec_call *call)
{
	__u64 nr = regs->orig_ax;
	struct task_struct *task;
	__u32 compat, x32;

	if (nr != NR_EXECVE && nr != NR_EXECVEAT && nr != NR_X32_EXECVE && nr != NR_X32_EXECVEAT &&
	    nr != NR_I386_EXECVE && nr != NR_I386_EXECVEAT)
		return false;
	task = (struct task_struct *)bpf_get_current_task();
	compat = BPF_CORE_READ(task, thread_info.status) & TS_COMPAT;
	if (!!compat != (nr == NR_I386_EXECVE || nr == NR_I386_EXECVEAT))
		return false;
	if (compat) {
		bool at = nr == NR_I386_EXECVEAT;

		call->path = (__u32)(at ? regs->cx : regs->bx);
		call->argv = (__u32)(at ? regs->dx : regs->cx);
	} else {
		bool at = nr == NR_EXECVEAT || nr == NR_X32_EXECVEAT;

		call->path = at ? regs->si : regs->di;
		call->argv = at ? regs->dx : regs->si;
	}
	/* Read anew and without branches: of a size it knows, the verifier would go through all
	 * that follows once for each. */
	x32 = *(volatile unsigned long *)&regs->orig_ax >> 30 & 1;
	compat = *(volatile __u32 *)&compat;
	call->pointer_size = 8 >> (compat / TS_COMPAT | x32);
	return true;
}

enum exec_words_end {
	EXEC_WORDS_COMPLETE, /* all arguments are there, each whole or marked unreadable */
	EXEC_WORDS_FULL, /* the room, or most, did not suffice */
	EXEC_WORDS_LOST, /* the next pointer of argv could not be read */
};

struct exec_words {
	__u32 size; /* bytes of the words that were read */
	enum exec_words_end end;
	bool readable; /* no argument is marked */
};

/* Reads the path into size bytes. What it takes with its NUL (size: not all of it, or just), or
 * -errno. */
static __always_inline long exec_call__read_path(const struct exec_call *call, char *path,
						 const __u32 size)
{
	long length = bpf_probe_read_user_str(path, size, (void *)call->path);

	/* Of an empty string, 5.10 does not count the NUL, nor write it. */
	if (!length)
		path[length++] = '\0';
	return length;
}

/*
 * Reads the arguments into room bytes at data, one behind another, each with its NUL. One that
 * cannot be read is an empty one whose bit in unreadable (most bits, all 0) is set. Reads at most
 * that many pointers, the NULL at the end among them; ends before an argument for which longest
 * bytes (a power of two) may not be left, and inside one that is longer.
 */
static __always_inline void exec_call__read_words(const struct exec_call *call, char *data,
						  const __u32 room, const __u32 longest,
						  __u64 *unreadable, const __u32 most,
						  struct exec_words *words)
{
	__u64 used = 0, failures = 0, failed, length, pointer[2] = {};
	__u64 size = call->pointer_size & 12; /* whose bound the verifier sees */
	enum exec_words_end end = EXEC_WORDS_FULL;

	for (__u32 i = 0; i < most; i++) {
		if (bpf_probe_read_user(pointer, size, (void *)(call->argv + i * size))) {
			end = call->argv ? EXEC_WORDS_LOST : EXEC_WORDS_COMPLETE;
			break;
		}
		if (!pointer[0]) {
			end = EXEC_WORDS_COMPLETE;
			break;
		}
		if (used > room - longest)
			break;
		data[used] = '\0';
		length = bpf_probe_read_user_str(data + used, longest, (void *)pointer[0]);
		/* Without branches: the verifier would follow each through all later rounds. */
		failed = length >> 63;
		failures |= failed;
		unreadable[i / 64] |= failed << (i % 64);
		length = ((length & (failed - 1)) | failed) & (2 * longest - 1);
		/* Of an empty string, 5.10 does not count the NUL. */
		length += (length - 1) >> 63;
		used += length;
		if (length == longest)
			break;
	}
	words->size = used;
	words->end = end;
	words->readable = !failures && end != EXEC_WORDS_LOST;
}

#endif
