// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where do the maps live? Here, once; see maps.bpf.h. */
#define COMET_MAP
#include "bpf/maps.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
