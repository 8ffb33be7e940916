/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What libbpf says, as messages of --verbose: the report of a failure is its caller's. */
#ifndef VANTAGE_RUN_LIBBPF_LOG_H
#define VANTAGE_RUN_LIBBPF_LOG_H

/* From now on libbpf's warnings and information are LOG_DEBUG; its own debug level is dropped. */
void libbpf_log__install(void);

#endif
