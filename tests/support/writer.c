// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "test.h"

#define NAMES_MAX 8
#define SIZE_MAX_OF_CALL 4096

const char *writer__name(const char *prefix)
{
	static char names[NAMES_MAX][16];
	static int next;
	char *name = names[next++ % NAMES_MAX];

	if ((size_t)snprintf(name, sizeof(names[0]), "%s.%d", prefix, getpid()) >= sizeof(names[0]))
		test__fatal("writer", "the name %s is too long", prefix);
	return name;
}

static void write_all(const struct writer *writer)
{
	static const char data[SIZE_MAX_OF_CALL];
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		_exit(1);
	for (unsigned long i = 0; i < writer->calls; i++)
		if (write(fd, data, writer->size) != (ssize_t)writer->size)
			_exit(2);
}

static void pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(3);
}

pid_t writer__start(const struct writer *writer)
{
	pid_t pid = fork();

	if (pid < 0)
		test__fatal("writer", "fork: %s", strerror(errno));
	if (pid) {
		children__add(pid);
		return pid;
	}
	if (writer->name)
		prctl(PR_SET_NAME, writer->name);
	pin(writer->cpu);
	if (writer->work)
		writer->work(writer);
	else
		write_all(writer);
	_exit(0);
}

void writer__wait(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		test__fatal("writer", "waitpid: %s", strerror(errno));
	children__remove(pid);
	if (status)
		test__fatal("writer", "it ended with wait status %#x", status);
}

void writer__run(const struct writer *writer)
{
	writer__wait(writer__start(writer));
}

static uint64_t sum_of_errors(const struct json_value *record)
{
	const struct json_value *errors = json__get(record, "errors");
	uint64_t sum = 0, number;

	for (size_t i = 0; errors && errors->kind == JSON_OBJECT && i < errors->object.nr; i++)
		if (json__u64(&errors->object.members[i].value, &number))
			sum += number;
	return sum;
}

static void counted__add(struct counted *counted, const struct json_value *record)
{
	counted->rows++;
	counted->calls += (uint64_t)record__number(record, "calls");
	counted->bytes += (uint64_t)record__number(record, "bytes");
	counted->errors += sum_of_errors(record);
}

static bool is_of(const struct json_value *record, const char *comm)
{
	return !comm || json__is(json__get(json__get(record, "key"), "comm"), comm);
}

struct counted counted__of(const struct records *records, const char *comm)
{
	const struct json_value *record;
	struct counted counted = { 0 };
	size_t index = 0;

	while ((record = records__next(records, "count", 0, &index)))
		if (is_of(record, comm))
			counted__add(&counted, record);
	return counted;
}

uint64_t counted__errors(const struct records *records, const char *comm, const char *error)
{
	const struct json_value *record;
	uint64_t sum = 0, number;
	size_t index = 0;

	while ((record = records__next(records, "count", 0, &index)))
		if (is_of(record, comm) &&
		    json__u64(json__get(json__get(record, "errors"), error), &number))
			sum += number;
	return sum;
}

struct counted counted__total(const struct records *records)
{
	const struct json_value *record;
	struct counted counted = { 0 };
	size_t index = 0;

	while ((record = records__next(records, "total", 0, &index)))
		counted__add(&counted, record);
	return counted;
}
