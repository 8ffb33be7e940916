// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "small_program.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "scratch.h"

const char *small_program(const char *name)
{
	/* xor %edi,%edi; mov $60,%eax (exit); syscall */
	static const unsigned char code[] = { 0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05 };
	const Elf64_Addr base = 0x400000;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		unsigned char code[sizeof(code)];
	} file = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = base + offsetof(typeof(file), code),
			.e_phoff = offsetof(typeof(file), segment),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = base,
			.p_filesz = sizeof(file),
			.p_memsz = sizeof(file),
			.p_align = 4096,
		},
	};

	memcpy(file.code, code, sizeof(code));
	return scratch__write(name, &file, sizeof(file), 0755);
}
