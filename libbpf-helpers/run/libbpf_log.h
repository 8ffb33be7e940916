/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What libbpf says, as messages of --verbose, and the end of its warnings kept
 * for whoever reports why a load failed. It judges nothing: the report of a
 * failure is its caller's.
 */
#ifndef VANTAGE_RUN_LIBBPF_LOG_H
#define VANTAGE_RUN_LIBBPF_LOG_H

/* From now on libbpf's warnings and information are LOG_DEBUG; its own debug level is dropped. */
void libbpf_log__install(void);

/*
 * The warnings since libbpf_log__clear(), their lines joined by "; ", of which the last
 * 4 KiB are kept; "" when there was none. Valid until the next warning or the clear.
 */
const char *libbpf_log__last(void);
void libbpf_log__clear(void);

#endif
