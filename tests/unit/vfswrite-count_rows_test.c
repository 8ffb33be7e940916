// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows out of what the kernel's tables hold: sums over CPUs, names, doubles, differences, order. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "support/test.h"
#include "vfswrite-count/rows.h"

#define NR_CPUS 2
#define KEY_SIZE (offsetof(struct vfswrite_key, tid) + sizeof(__u32))
#define ROW_SIZE (KEY_SIZE + NR_CPUS * sizeof(struct vfswrite_row))
#define ERROR_SIZE (offsetof(struct vfswrite_error_key, key) + KEY_SIZE + sizeof(__u64))

/* Tables as the kernel hands them over. */
struct tables {
	char rows[8][ROW_SIZE];
	size_t nr_rows;
	char errors[8][ERROR_SIZE];
	size_t nr_errors;
};

static struct vfswrite_key key_of(const char *comm, __u32 pid)
{
	struct vfswrite_key key = { .pid = pid };

	memcpy(key.comm, comm, strlen(comm));
	return key;
}

static void add_row(struct tables *tables, const struct vfswrite_key *key, __u64 calls0,
		    __u64 calls1, __u64 bytes)
{
	struct vfswrite_row values[NR_CPUS] = { { calls0, 0, bytes }, { calls1, 0, 0 } };
	char *entry = tables->rows[tables->nr_rows++];

	memcpy(entry, key, KEY_SIZE);
	memcpy(entry + KEY_SIZE, values, sizeof(values));
}

static void add_error(struct tables *tables, const struct vfswrite_key *key, __u32 error,
		      __u64 count)
{
	struct vfswrite_error_key error_key = { .error = error, .key = *key };
	char *entry = tables->errors[tables->nr_errors++];

	memcpy(entry, &error_key, ERROR_SIZE - sizeof(count));
	memcpy(entry + ERROR_SIZE - sizeof(count), &count, sizeof(count));
}

static void read_tables(struct rows *rows, const struct tables *tables, uint32_t by)
{
	const struct rows_source source = {
		.rows = tables->rows,
		.nr_rows = tables->nr_rows,
		.errors = tables->errors,
		.nr_errors = tables->nr_errors,
		.key_size = KEY_SIZE,
		.nr_cpus = NR_CPUS,
		.by = by,
	};

	if (rows__read(rows, &source))
		test__fatal("rows", "out of memory");
}

static void check_sums(void)
{
	struct vfswrite_key a = key_of("a", 1), b = key_of("b", 2);
	struct tables tables = { .nr_rows = 0 };
	struct rows rows;

	add_row(&tables, &b, 1, 2, 30);
	add_row(&tables, &a, 0, 5, 7);
	add_error(&tables, &b, ENOSPC, 2);
	add_error(&tables, &b, EPIPE, 1);
	read_tables(&rows, &tables, 1U << VFSWRITE_BY_COMM);
	test__equal("sums: a row for each key", rows.nr, 2);
	test__equal("sums: over the CPUs", rows.items[1].calls, 3);
	test__equal("sums: errors", rows.items[1].errors, 3);
	test__equal("sums: causes in the order of their numbers", rows.items[1].causes[0].error,
		    ENOSPC);
	test__equal("sums: of one row alone", rows.items[0].errors, 0);
	test__equal("sums: the total", rows__total(&rows).calls, 8);
	rows__free(&rows);
}

/* A process that had several names is one row; an entry that came twice counts once; what stands
 * behind the end of a name is no part of it. */
static void check_merging(void)
{
	struct vfswrite_key sh = key_of("sh", 1), dd = key_of("dd", 1), rest = key_of("dd", 1);
	struct tables tables = { .nr_rows = 0 };
	struct rows rows;

	rest.comm[5] = 'x';
	add_row(&tables, &sh, 2, 0, 2);
	add_row(&tables, &dd, 40, 0, 40);
	add_row(&tables, &sh, 3, 0, 3);
	add_row(&tables, &rest, 100, 0, 100);
	add_error(&tables, &sh, EPIPE, 1);
	add_error(&tables, &sh, EPIPE, 2);
	add_error(&tables, &dd, EPIPE, 4);
	read_tables(&rows, &tables, 1U << VFSWRITE_BY_PID);
	test__equal("merging: one process", rows.nr, 1);
	test__equal("merging: its calls", rows.items[0].calls, 143);
	test__same("merging: the name that it had most", rows.items[0].key.comm, "dd");
	test__equal("merging: its errors", rows.items[0].errors, 6);
	test__equal("merging: of one cause", rows.items[0].nr_causes, 1);
	rows__free(&rows);
	read_tables(&rows, &tables, 1U << VFSWRITE_BY_COMM);
	test__equal("merging: by name there are two", rows.nr, 2);
	rows__free(&rows);
}

static void check_differences(void)
{
	struct vfswrite_key a = key_of("a", 1), b = key_of("b", 2), c = key_of("c", 3);
	struct tables first = { .nr_rows = 0 }, second = { .nr_rows = 0 };
	struct rows before, now, difference;

	add_row(&first, &a, 5, 0, 5);
	add_row(&first, &b, 5, 0, 5);
	add_error(&first, &b, EPIPE, 1);
	add_row(&second, &c, 1, 0, 4096);
	add_row(&second, &a, 5, 0, 5);
	add_row(&second, &b, 5, 6, 8);
	add_error(&second, &b, EPIPE, 1);
	add_error(&second, &b, ENOSPC, 2);
	read_tables(&before, &first, 1U << VFSWRITE_BY_PID);
	read_tables(&now, &second, 1U << VFSWRITE_BY_PID);
	if (rows__subtract(&difference, &now, &before, ROWS_BY_CALLS))
		test__fatal("differences", "out of memory");
	test__equal("differences: rows in which something came", difference.nr, 2);
	test__equal("differences: the most calls last", difference.items[1].calls, 6);
	test__equal("differences: bytes", difference.items[1].bytes, 3);
	test__equal("differences: new causes alone", difference.items[1].nr_causes, 1);
	test__equal("differences: as many as came", difference.items[1].errors, 2);
	rows__free(&difference);
	if (rows__subtract(&difference, &now, &before, ROWS_BY_BYTES))
		test__fatal("differences", "out of memory");
	test__equal("differences: the most bytes last", difference.items[1].bytes, 4096);
	rows__free(&difference);
	rows__free(&before);
	rows__free(&now);
}

/* What is counted in front of the table is added to what is in it, CPU by CPU. */
static void check_hot(void)
{
	struct vfswrite_key a = key_of("a", 1);
	struct vfswrite_hot hot[3] = { { .row = { .calls = 0 } },
				       { .row = { 3, 2, 30 } },
				       { .row = { 4, 4, 40 } } };
	struct tables tables = { .nr_rows = 0 };
	struct rows_source source = {
		.rows = tables.rows,
		.hot = hot,
		.nr_hot = 3,
		.errors = tables.errors,
		.key_size = KEY_SIZE,
		.nr_cpus = NR_CPUS,
		.by = 1U << VFSWRITE_BY_PID,
	};
	struct rows rows;

	add_row(&tables, &a, 1, 0, 10);
	source.nr_rows = tables.nr_rows;
	memcpy(hot[1].words, &a, KEY_SIZE);
	memcpy(hot[2].words, &a, KEY_SIZE);
	if (rows__read(&rows, &source))
		test__fatal("rows", "out of memory");
	test__equal("hot: one row", rows.nr, 1);
	test__equal("hot: calls", rows.items[0].calls, 8);
	test__equal("hot: results", rows.items[0].results, 6);
	test__equal("hot: bytes", rows.items[0].bytes, 80);
	rows__free(&rows);
}

int main(void)
{
	check_sums();
	check_merging();
	check_differences();
	check_hot();
	return test__done();
}
