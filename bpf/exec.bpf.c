// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which programs may start?
 *
 * bprm_check_security: once for each file that execve, execveat or fexecve hands to the kernel,
 *   scripts and their interpreters alike, before anything of it runs. The ELF loader of a dynamic
 *   program does not come by here (it is read, file_open), but started as a program itself it does.
 *
 * A program's rule is on its name in its directory and on the inode that stood there when the
 * policy was made: a copy, a hard link or a replacement is another program.
 */
#include "bpf/decide.bpf.h"

SEC("lsm/bprm_check_security")
int BPF_PROG(comet_bprm_check_security, struct linux_binprm *bprm, int ret)
{
	struct comet_layers *layers;
	struct comet_request request = {
		.need = COMET_FS_EXEC,
		.op = COMET_OP_EXEC,
		.exec = 1,
		.create = 1, /* file_open hid what may not be read: here the answer is EACCES */
	};

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	comet_request_path(&request, &bprm->file->f_path);
	return comet_verdict(comet_decide_file(layers, &request));
}
