/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a test program does when it is run again as its own workload, so that the
 * live tests need no other program of the machine. The role is the words of
 * VANTAGE_ROLE ("exit 7"); without that variable, the name of the file that was
 * executed followed by its arguments.
 *
 *	true			ends with 0
 *	exit N			ends with N
 *	argc			ends with the number of its arguments
 *	argv FILE		writes its arguments to FILE, each ended by NUL
 *	signal N		dies by signal N
 *	abort			dies by SIGABRT with a core file, where the limit allows one
 *	sleep MS		sleeps
 *	chain MS		sleeps in chain_leaf(), by way of chain_outer() and
 *				chain_middle(), all with frame pointers
 *	stacks N		sleeps for a moment at N different stacks, with frame pointers
 *	hold			ends with 0 at the end of its standard input
 *	burn MS			uses MS milliseconds of user CPU time
 *	burn-system MS		the same inside the kernel
 *	burn-threads MS		two threads that use MS milliseconds each
 *	grow KIB		touches that much memory
 *	leader-gone MS N	the first thread ends at once, the other by exit(N) after MS
 *	leader-first N M	the first thread ends with N, the last one later with M
 *	together N		N threads that end at the same moment
 *	thread-exec FILE PATH	a second thread writes its id to FILE and executes PATH as "true"
 *	catch SIGNAL FILE	writes "ready", then "caught" at the signal, and ends with 42
 *	count SIGNAL MS FILE	writes "ready", then "caught" at each signal until none came for MS
 *	status FILE		copies /proc/self/status to FILE, and what its descriptors are
 *	agent			writes its process id to a file named as itself with ".pid"
 *	spawn N PATH		runs PATH N times, one after another
 *	hand N FILE		two threads on one CPU hand each other a byte N times; writes the
 *				nanoseconds of one wake-up and switch to FILE
 *	nappers N MS		N threads that sleep for 500 ms again and again, for MS
 *	nest N PATH		on CPU N, or another: runs PATH as "nest N-1 PATH", down to 0
 */
#ifndef VANTAGE_TESTS_ROLE_H
#define VANTAGE_TESTS_ROLE_H

/* First statement of main in every live test: plays the role and ends the process, or returns
 * when there is none. */
void role__play(int argc, char **argv);

#endif
