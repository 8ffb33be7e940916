// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/distribution.h"

#include <errno.h>
#include <stdio.h>

#include "run/interval.h"
#include "run/log.h"
#include "run/number.h"

#define SLOWEST_DEFAULT 3

int distribution__open(struct distribution *distribution, const struct distribution_config *config)
{
	distribution->config = *config;
	distribution->reader = hist_reader__new(&distribution->source);
	distribution->record = histogram_record__new();
	if (!distribution->reader || !distribution->record ||
	    slowest__open(&distribution->slowest, config->slowest, config->slow_size))
		return log_error(ENOMEM, NULL, "cannot prepare the report");
	return 0;
}

void distribution__close(struct distribution *distribution)
{
	hist_reader__free(distribution->reader);
	histogram_record__free(distribution->record);
	slowest__close(&distribution->slowest);
	groups__free(&distribution->groups);
}

int distribution__slow(struct distribution *distribution, const void *slow)
{
	if (distribution->config.slowest) {
		slowest__add(&distribution->slowest, slow);
		return 0;
	}
	return distribution->config.write_slow(distribution->config.ctx, slow);
}

static void distribution__fill_key(struct distribution *distribution,
				   const struct hist_reading *reading,
				   struct value key[HISTOGRAM_KEY_NR_FIELDS])
{
	const struct distribution_config *config = &distribution->config;
	const char *cgroup = NULL;

	if (reading->nr_others) {
		histogram_key__of_others(reading->nr_others, key);
		return;
	}
	if (config->by & 1U << HIST_BY_CGROUP)
		cgroup = groups__path(&distribution->groups, reading->key.cgroup_id);
	histogram_key__values(&reading->key, reading->name, config->by, cgroup, key);
	if (config->fill_key)
		config->fill_key(config->ctx, &reading->key, config->by, key);
}

static int distribution__histogram(void *ctx, const struct hist_reading *reading)
{
	struct distribution *distribution = ctx;
	struct session *session = distribution->config.session;
	struct value key[HISTOGRAM_KEY_NR_FIELDS];
	struct record record;
	int err;

	distribution__fill_key(distribution, reading, key);
	record = histogram_record__fill(distribution->record, &reading->hist, &distribution->style,
					key, options__face(session->options) == FACE_TEXT);
	/* What can no longer be written is still read, to be counted as lost. */
	err = session__record_events(session, distribution->config.kind, reading->hist.stats.count,
				     &record);
	if (!distribution->err)
		distribution->err = err;
	return 0;
}

static uint64_t distribution__measure(void *ctx, const struct hist_reading *reading)
{
	const struct distribution *distribution = ctx;

	return hist__measure(&distribution->style.config, &reading->hist,
			     distribution->config.order);
}

int distribution__report(struct distribution *distribution, const struct session_span *span)
{
	const struct distribution_config *config = &distribution->config;
	const struct hist_view view = {
		.measure = config->order ? distribution__measure : NULL,
		.ctx = distribution,
		.top = config->top,
	};
	uint64_t interval = *distribution->source.interval;
	const void *slow;
	size_t nr;
	int err;

	distribution->style.width = sink__width(config->session->sink);
	distribution->err = config->intervals ?
				    interval__write(config->session, config->kind, span) :
				    0;
	err = hist_reader__read(distribution->reader, &view, distribution__histogram, distribution);
	if (!err)
		err = distribution->err;
	/* Those of this interval that are still on their way. */
	if (!err)
		err = session__take_all(config->session);
	nr = slowest__take(&distribution->slowest, interval, &slow);
	for (size_t i = 0; i < nr && !err; i++)
		err = config->write_slow(config->ctx, (const char *)slow + i * config->slow_size);
	return err;
}

uint32_t distribution__slowest(const struct common_options *options,
			       const struct optional_count *slowest, uint64_t slower_ns)
{
	if (slowest->given)
		return (uint32_t)slowest->count;
	return slower_ns || options__face(options) != FACE_TEXT ? 0 : SLOWEST_DEFAULT;
}

int distribution__check_keys(uint32_t by, const struct optional_count *top, int order,
			     const struct optional_count *max_keys)
{
	const char *without = top->given      ? "top" :
			      order	      ? "sort" :
			      max_keys->given ? "max-keys" :
						NULL;

	if (!without || by)
		return 0;
	return log_error_because(EINVAL, "it is about histograms by keys",
				 "Give --by, too, or an option that means it, such as -P.",
				 "option --%s has no sense here", without);
}

const char *distribution__aside(uint64_t slower_ns, char *text, size_t size)
{
	char slower[32];

	if (!slower_ns)
		return NULL;
	snprintf(text, size, "each longer than %s told", number__format_time(slower_ns, slower));
	return text;
}
