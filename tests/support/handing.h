/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two threads of this process that hand each other a byte through pipes. */
#ifndef VANTAGE_TESTS_HANDING_H
#define VANTAGE_TESTS_HANDING_H

/*
 * Gives the byte to the other thread, which the first call starts, and waits until it is back: two
 * wake-ups and two switches, where both have one CPU. For one thread of the process. Whatever goes
 * wrong ends the program.
 */
void handing__once(void);

#endif
