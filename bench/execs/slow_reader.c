// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "slow_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "spawn.h"
#include "test.h"
#include "tool.h"
#include "workload.h"

#define EXECS_PER_SECOND 2000
#define LINES_PER_SECOND 1000

/* After the commands, how long nothing comes before the reader stops the tracer; and how long it
 * reads at the most, since there may be commands of others. */
#define QUIET_MS 3000
#define REST_MS 10000

struct taken {
	char *text;
	size_t size;
	size_t room;
	uint64_t lines;
};

/* Takes what is there by then, a block at most; false at the end, or when none came. */
static bool taken__read(struct taken *taken, int fd, int ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	const size_t block = 4096;
	ssize_t size;

	if (poll(&poll_fd, 1, ms) <= 0)
		return false;
	if (taken->room - taken->size <= block) {
		taken->room = 2 * taken->room + (1 << 20);
		taken->text = realloc(taken->text, taken->room);
		if (!taken->text)
			test__fatal("slow reader", "out of memory");
	}
	size = read(fd, taken->text + taken->size, block);
	if (size <= 0)
		return false;
	for (ssize_t i = 0; i < size; i++)
		taken->lines += taken->text[taken->size + (size_t)i] == '\n';
	taken->size += (size_t)size;
	taken->text[taken->size] = '\0';
	return true;
}

static struct spawned *start_spawner(double seconds, pid_t *pid)
{
	struct spawned *spawned = mmap(NULL, sizeof(*spawned), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (spawned == MAP_FAILED)
		test__fatal("slow reader", "mmap: %s", strerror(errno));
	spawn__program();
	*pid = fork();
	if (*pid < 0)
		test__fatal("slow reader", "fork: %s", strerror(errno));
	if (!*pid) {
		*spawned = spawn__paced(EXECS_PER_SECOND, seconds);
		_exit(0);
	}
	children__add(*pid);
	return spawned;
}

static bool line_has(const char *line, size_t length, const char *word)
{
	return memmem(line, length, word, strlen(word));
}

/* Lines of stderr that speak of a loss, in the words of the peers or of execsnoop. */
static uint64_t messages_in_errors(const char *text)
{
	uint64_t nr = 0;

	while (text && *text) {
		size_t length = strcspn(text, "\n");

		nr += line_has(text, length, "lower_bound") || line_has(text, length, "are lost") ||
		      line_has(text, length, "Lost ");
		text += length + (text[length] == '\n');
	}
	return nr;
}

/* "Lost 7 events" between the records, as bpftrace tells it. */
static uint64_t messages_in_output(const char *text)
{
	uint64_t nr = 0;

	while (text && (text = strstr(text, "Lost "))) {
		text += strlen("Lost ");
		nr += *text >= '0' && *text <= '9';
	}
	return nr;
}

void slow_reader__measure(const struct tracer *tracer, double seconds)
{
	struct taken taken = {};
	struct spawned *spawned;
	struct tracer_run run;
	struct seen seen;
	uint64_t begin_ns, end_ns;
	pid_t spawner;

	tracer_run__start(&run, tracer, true, true);
	spawned = start_spawner(seconds, &spawner);
	begin_ns = test__now_ns();
	while (!process__ends(spawner, 0)) {
		double due = (double)(test__now_ns() - begin_ns) / 1e9 * LINES_PER_SECOND;

		if ((double)taken.lines > due || !taken__read(&taken, run.out_fd, 1))
			usleep(500);
	}
	workload__wait(spawner, NULL);
	end_ns = test__now_ns();
	while (taken__read(&taken, run.out_fd, QUIET_MS) &&
	       test__now_ns() < end_ns + REST_MS * 1000000ULL)
		;
	tracer_run__interrupt(&run);
	while (taken__read(&taken, run.out_fd, QUIET_MS))
		;
	tracer_run__end(&run);
	seen = spawn__seen(taken.text ? taken.text : "", spawned->nr);
	printf("%-32s %9" PRIu64 " %9.0f %9" PRIu64, tracer->name, spawned->nr,
	       (double)spawned->nr / spawned->seconds, spawned->nr - seen.nr);
	if (seen.missing < spawned->nr)
		printf(" %15.1f", spawned->seconds * (double)seen.missing / (double)spawned->nr);
	else
		printf(" %15s", "-");
	printf(" %9" PRIu64 "\n", messages_in_output(taken.text) + messages_in_errors(run.err));
	munmap(spawned, sizeof(*spawned));
	tracer_run__free(&run);
	free(taken.text);
}
