// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "records.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

const struct json_value *records__account(const struct records *records)
{
	const struct json_value *last;

	if (!records->nr)
		test__fatal("the last line is the account", "there is no line");
	last = records__at(records, records->nr - 1);
	if (!json__is(json__get(last, "type"), "account"))
		test__fatal("the last line is the account", "it is of type %s",
			    json__string(json__get(last, "type")));
	return last;
}

/* Adds up the numbers of an object; -1 when it is none or holds something else. null, where
 * allowed, is passed over. */
static int64_t sum_members(const struct json_value *object, bool null_allowed)
{
	int64_t sum = 0;

	if (!object || object->kind != JSON_OBJECT)
		return -1;
	for (size_t i = 0; i < object->object.nr; i++) {
		const struct json_value *value = &object->object.members[i].value;
		uint64_t number;

		if (value->kind == JSON_NULL && null_allowed)
			continue;
		if (!json__u64(value, &number))
			return -1;
		sum += (int64_t)number;
	}
	return sum;
}

int64_t account__term(const struct json_value *account, const char *kind, const char *term)
{
	const struct json_value *terms = account;

	if (kind)
		terms = json__get(json__get(account, "kinds"), kind);
	if (!strcmp(term, "lost") || !strcmp(term, "detail_lost"))
		return sum_members(json__get(terms, term), false);
	return record__number(terms, term);
}

bool account__is_blind(const struct json_value *account)
{
	const struct json_value *missed = json__get(account, "missed");
	const struct json_value *probes = json__get(account, "probes");
	bool all_tell = missed && missed->kind == JSON_OBJECT, all_tp_btf = true;

	for (size_t i = 0; all_tell && i < missed->object.nr; i++)
		all_tell = missed->object.members[i].value.kind != JSON_NULL;
	for (size_t i = 0; probes && probes->kind == JSON_ARRAY && i < probes->array.nr; i++)
		all_tp_btf = all_tp_btf &&
			     json__is(json__get(&probes->array.items[i], "mechanism"), "tp_btf");
	return !all_tell && !(probes && all_tp_btf);
}

static bool sum_holds(const struct json_value *account, const char *kind, char *text, size_t size)
{
	int64_t seen = account__term(account, kind, "seen");
	int64_t filtered = account__term(account, kind, "filtered");
	int64_t recorded = account__term(account, kind, "recorded");
	int64_t lost = account__term(account, kind, "lost");
	int64_t in_flight = account__term(account, kind, "in_flight");

	snprintf(text, size,
		 "%s: seen %" PRId64 ", filtered %" PRId64 ", recorded %" PRId64 ", lost %" PRId64
		 ", in flight %" PRId64,
		 kind ? kind : "all", seen, filtered, recorded, lost, in_flight);
	return seen >= 0 && filtered >= 0 && recorded >= 0 && lost >= 0 && in_flight >= 0 &&
	       seen == filtered + recorded + lost + in_flight;
}

static bool kinds_hold(const struct json_value *account, char *text, size_t size)
{
	static const char *const terms[] = { "seen", "filtered", "recorded", "lost", "in_flight" };
	const struct json_value *kinds = json__get(account, "kinds");

	if (!kinds)
		return true;
	for (size_t i = 0; i < kinds->object.nr; i++)
		if (!sum_holds(account, kinds->object.members[i].name, text, size))
			return false;
	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		int64_t whole = account__term(account, NULL, terms[i]), sum = 0;

		for (size_t j = 0; j < kinds->object.nr; j++)
			sum += account__term(account, kinds->object.members[j].name, terms[i]);
		snprintf(text, size, "%s: %" PRId64 " in all, %" PRId64 " over the kinds", terms[i],
			 whole, sum);
		if (whole != sum)
			return false;
	}
	return true;
}

static const char *due_verdict(const struct json_value *account)
{
	if (account__term(account, NULL, "lost") || account__term(account, NULL, "detail_lost") ||
	    sum_members(json__get(account, "missed"), true))
		return "lower_bound";
	return account__is_blind(account) ? "unknown" : "exact";
}

void check_account(const struct json_value *account, const char *name)
{
	char check[160], text[256];
	bool holds = sum_holds(account, NULL, text, sizeof(text)) &&
		     kinds_hold(account, text, sizeof(text));

	snprintf(check, sizeof(check), "%s: every sum of the account holds", name);
	test__check(holds, check, "%s", text);
	snprintf(check, sizeof(check), "%s: the verdict is what the account calls for", name);
	test__same(check, json__string(json__get(account, "verdict")), due_verdict(account));
}

/* A comment that names the programs whose runs were skipped. */
static void print_missed(const struct json_value *account)
{
	const struct json_value *missed = json__get(account, "missed");

	for (size_t i = 0; missed && missed->kind == JSON_OBJECT && i < missed->object.nr; i++) {
		const char *name = missed->object.members[i].name;

		if (record__number(missed, name) > 0)
			printf("# %s missed %" PRId64 "\n", name, record__number(missed, name));
	}
}

void check_exact(const struct json_value *account, const char *name)
{
	print_missed(account);
	char check[160];

	check_account(account, name);
	snprintf(check, sizeof(check), "%s: nothing is lost", name);
	test__same(check, json__string(json__get(account, "verdict")),
		   account__is_blind(account) ? "unknown" : "exact");
}
