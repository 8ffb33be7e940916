/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a kernel refuses as a whole, known without loading a tool's programs: a try that must fail
 * costs as much time as one that works, nearly all of it for reading the kernel's types. Where
 * nothing is known for sure, the real try decides.
 */
#ifndef VANTAGE_RUN_REFUSAL_H
#define VANTAGE_RUN_REFUSAL_H

#include "run/attach.h"

/* 0 when a try makes sense; else -errno, reported with the cause. */
int attach__check_refusal(enum attach_mechanism mechanism);

#endif
