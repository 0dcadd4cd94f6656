#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Where do vmlinux/*/vmlinux.h come from?
#
# usage: scripts/vmlinux.sh [x86|arm64]...      both, when none is named
# Writes vmlinux/ARCH/vmlinux.h and vmlinux/README.md from the stock Debian cloud kernel 6.12: x86 as
# the kernel itself tells its types in a VM, arm64 (no VM here runs it) from the image in its package.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=vm-lib.sh
. "$here/vm-lib.sh"

kernel=6.12
folder=$here/../vmlinux
bpftool=$(type -P bpftool || echo /usr/sbin/bpftool)

# find_btf IMAGE: the BTF section of an uncompressed kernel image, on standard output. Its header says
# how long it is, and that types come first and strings, which begin with an empty one, end it.
find_btf() {
	python3 - "$1" <<'END'
import struct
import sys

with open(sys.argv[1], "rb") as file:
    image = file.read()
found = b""
magic = struct.pack("<HBBI", 0xEB9F, 1, 0, 24)
at = image.find(magic)
while at >= 0:
    types, types_len, strings, strings_len = struct.unpack_from("<IIII", image, at + 8)
    blob = image[at:at + 24 + strings + strings_len]
    if (types == 0 and strings == types_len and len(blob) == 24 + strings + strings_len
            and blob[24 + strings:][:1] == b"\0" and blob[-1:] == b"\0" and len(blob) > len(found)):
        found = blob
    at = image.find(magic, at + 1)
if not found:
    sys.exit(f"{sys.argv[1]}: no BTF in it (is it compressed?)")
sys.stdout.buffer.write(found)
END
}

make_x86() {
	local work=$1
	say "x86: asking kernel $kernel in a VM ..."
	"$here/vm" --kernel "$kernel" -- \
		bpftool btf dump file /sys/kernel/btf/vmlinux format c >"$work/vmlinux.h"
	release=$(<"$("$here/vm-kernel.sh" "$kernel")/name")
}

make_arm64() {
	local work=$1 image
	say "arm64: fetching kernel $kernel ..."
	unpack_kernel "$kernel" arm64 "$work"
	image=$(echo "$work"/root/boot/vmlinuz-*)
	find_btf "$image" >"$work/btf"
	"$bpftool" btf dump file "$work/btf" format c >"$work/vmlinux.h"
	release=${image##*/vmlinuz-}
}

# row ARCH [RELEASE]: the README's line on one header; without RELEASE the line as it stands.
row() {
	if [[ -n ${2-} ]]; then
		echo "| \`$1/vmlinux.h\` | \`$2\` |"
	else
		grep -F "| \`$1/vmlinux.h\` |" "$folder/README.md" 2>/dev/null || true
	fi
}

write_readme() {
	local x86 arm64
	x86=$(row x86 "${releases[x86]-}")
	arm64=$(row arm64 "${releases[arm64]-}")
	cat >"$folder/README.md.new" <<END
# The kernel's types

\`vmlinux.h\` holds the types of one kernel for the programs in \`bpf/\`. They are built once (CO-RE): at
load the offsets are corrected to those of the running kernel, so that one build serves all kernels.

| file | Debian kernel |
| --- | --- |
$x86
$arm64

Made by \`scripts/vmlinux.sh\`, and by nothing else:

- x86: \`scripts/vm --kernel $kernel -- bpftool btf dump file /sys/kernel/btf/vmlinux format c\`
- arm64: the .BTF section cut out of the image in Debian's package \`linux-image-cloud-arm64\` (trixie), then
  \`bpftool btf dump file BTF format c\`
END
	mv "$folder/README.md.new" "$folder/README.md"
}

declare -A releases=()
architectures=("$@")
((${#architectures[@]} > 0)) || architectures=(x86 arm64)
for architecture in "${architectures[@]}"; do
	[[ $architecture =~ ^(x86|arm64)$ ]] || die "no architecture '$architecture': they are x86 and arm64"
done
need python3 apt-get dpkg-deb "$bpftool"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# apt as root reads its files as another user.
chmod 755 "$work"

for architecture in "${architectures[@]}"; do
	mkdir "$work/$architecture"
	"make_$architecture" "$work/$architecture"
	releases[$architecture]=$release
	mkdir -p "$folder/$architecture"
	mv "$work/$architecture/vmlinux.h" "$folder/$architecture/vmlinux.h"
	say "$architecture: $(wc -l <"$folder/$architecture/vmlinux.h") lines from $release"
done
write_readme
