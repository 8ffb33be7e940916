/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call of exec as its caller made it, seen from sys_exit: the registers still hold
 * what was passed, since only a successful exec replaces them. Path and arguments are
 * read from the caller's memory, without faulting pages in. For x86.
 */
#ifndef VANTAGE_BPF_EXEC_CALL_H
#define VANTAGE_BPF_EXEC_CALL_H

#include "bpf/kernel.bpf.h"

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
	EXEC_WORDS_FULL, /* the room, or most, did not suffice */
	EXEC_WORDS_COMPLETE, /* all arguments are there, each whole or marked unreadable */
	EXEC_WORDS_LOST, /* the next pointer of argv could not be read */
};

/* The most arguments that can be read; a power of two. */
#define EXEC_WORDS_MOST 2048

/*
 * How far a reading is. Lies in a ring's record and not on the stack: what it cannot follow, the
 * verifier need not look at once for each value.
 */
struct exec_words_state {
	__u64 failures; /* not 0: a bit of unreadable is set */
	__u32 size; /* bytes of the words that were read */
	__u32 end; /* enum exec_words_end */
	/* Bits: an argument that is an empty word instead. */
	__u64 unreadable[EXEC_WORDS_MOST / 64];
};

/* A reading of the arguments. state: all 0 at first. */
struct exec_words {
	struct exec_call call;
	struct exec_words_state *state;
	char *data; /* the words go here, one behind another, each with its NUL */
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
 * Reads argument i. 0 to go on; 1: it was the end. room: bytes at data. longest: a power of two; a
 * word begins only where so much is left, and is cut there. most: pointers that are read, the NULL
 * at the end among them, up to EXEC_WORDS_MOST. All three are constants: of what it finds in
 * memory, the verifier forgets the bounds from one round to the next.
 */
static __always_inline long exec_words__read_one(__u64 i, struct exec_words *words,
						 const __u32 room, const __u32 longest,
						 const __u32 most)
{
	__u64 size = words->call.pointer_size & 12; /* whose bound the verifier sees */
	__u64 used = words->state->size, pointer[2] = {}, failed, length;

	if (bpf_probe_read_user(pointer, size, (void *)(words->call.argv + i * size))) {
		words->state->end = words->call.argv ? EXEC_WORDS_LOST : EXEC_WORDS_COMPLETE;
		return 1;
	}
	if (!pointer[0]) {
		words->state->end = EXEC_WORDS_COMPLETE;
		return 1;
	}
	if (i >= most || used > room - longest)
		return 1;
	words->data[used] = '\0';
	length = bpf_probe_read_user_str(words->data + used, longest, (void *)pointer[0]);
	/* Without branches: the verifier would follow each through all later rounds. */
	failed = length >> 63;
	words->state->failures |= failed;
	words->state->unreadable[i / 64 % (EXEC_WORDS_MOST / 64)] |= failed << (i % 64);
	length = ((length & (failed - 1)) | failed) & (2 * longest - 1);
	/* Of an empty string, 5.10 does not count the NUL. */
	length += (length - 1) >> 63;
	words->state->size = used + length;
	return length == longest;
}

/* Defines a function that reads one argument so, as bpf_loop() calls it. */
#define EXEC_WORDS_READER(name, room, longest, most)                                               \
	static long name(__u64 i, struct exec_words *words)                                        \
	{                                                                                          \
		return exec_words__read_one(i, words, room, longest, most);                        \
	}

#endif
