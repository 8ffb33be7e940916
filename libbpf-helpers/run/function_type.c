// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/function_type.h"

#include <bpf/btf.h>

static void function_type__read_result(struct function_type *type, const struct btf *btf,
				       const struct btf_type *function)
{
	const struct btf_type *prototype = btf__type_by_id(btf, function->type);
	const struct btf_type *result;
	int64_t size;
	int id;

	if (!prototype || !prototype->type) {
		type->returns_nothing = !!prototype;
		type->known = !!prototype;
		return;
	}
	id = btf__resolve_type((struct btf *)btf, prototype->type);
	result = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);
	size = id < 0 ? id : btf__resolve_size(btf, (__u32)id);
	if (!result || size < 0 || size > 8)
		return;
	type->known = true;
	type->size = (uint32_t)size;
	type->is_signed = !btf_is_int(result) || btf_int_encoding(result) & BTF_INT_SIGNED;
}

void function_type__read(struct function_type *type, const char *function)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id;

	*type = (struct function_type){};
	if (!btf)
		return;
	id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);
	if (id > 0)
		function_type__read_result(type, btf, btf__type_by_id(btf, (__u32)id));
	btf__free(btf);
}

uint32_t function_type__shift(const struct function_type *type)
{
	if (!type->known || !type->size || type->size >= sizeof(uint64_t))
		return 0;
	return 8 * (uint32_t)(sizeof(uint64_t) - type->size);
}

bool function_type__has_errors(const struct function_type *type)
{
	return !type->known || type->is_signed || type->size >= sizeof(uint64_t);
}

int64_t function_type__result(const struct function_type *type, uint64_t value)
{
	uint32_t unused = function_type__shift(type);

	if (!unused || type->is_signed)
		return (int64_t)(value << unused) >> unused;
	return (int64_t)(value << unused >> unused);
}
