// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/error_name.h"

#include <string.h>

const char *kernel_error__name(uint32_t error)
{
	static const char *const internal[] = {
		"ERESTARTSYS", "ERESTARTNOINTR",	"ERESTARTNOHAND",
		"ENOIOCTLCMD", "ERESTART_RESTARTBLOCK",
	};
	const uint32_t first = 512;
	const char *name = strerrorname_np((int)error);

	if (!name && error >= first && error < first + sizeof(internal) / sizeof(internal[0]))
		name = internal[error - first];
	return name ? name : "other";
}
