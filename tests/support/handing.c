// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "handing.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static int to_partner[2], from_partner[2];

/* To the end of the program. */
static void *partner__run(void *unused)
{
	char byte;

	while (read(to_partner[0], &byte, 1) == 1 && write(from_partner[1], &byte, 1) == 1)
		;
	test__fatal("handing", "cannot pass a byte on: %s", strerror(errno));
	return unused;
}

void handing__once(void)
{
	static pthread_t partner;
	char byte;

	if (!partner && (pipe(to_partner) || pipe(from_partner) ||
			 pthread_create(&partner, NULL, partner__run, NULL)))
		test__fatal("handing", "cannot start a thread: %s", strerror(errno));
	if (write(to_partner[1], "", 1) != 1 || read(from_partner[0], &byte, 1) != 1)
		test__fatal("handing", "cannot hand a byte over: %s", strerror(errno));
}
