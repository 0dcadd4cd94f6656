#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# How does a stock Debian cloud kernel get into the cache?
#
# usage: vm-kernel.sh 6.1|6.12|7.2
# Prints its folder: vmlinuz, config, name (its Debian name) and modules.img, an ext4 image of
# /lib/modules/RELEASE. Fetched once; remove the folder to fetch a newer one.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=vm-lib.sh
. "$(dirname "$0")/vm-lib.sh"

# first FILE...: the first that exists.
first() {
	local file
	for file in "$@"; do
		if [[ -e $file ]]; then
			echo "$file"
			return
		fi
	done
	die "the kernel package has none of: $*"
}

make_kernel() {
	local kernel=$1 work=$2 release modules
	say "fetching kernel $kernel ..."
	mkdir -p "$work/done"
	unpack_kernel "$kernel" amd64 "$work"
	cd "$work/root"
	# depmod -b wants /lib/modules, where packages before the /usr merge have them.
	[[ -e lib ]] || ln -s usr/lib lib
	modules=$(echo lib/modules/*)
	release=$(basename "$modules")
	depmod -b "$work/root" "$release"
	cp "$(first "boot/vmlinuz-$release" "$modules/vmlinuz")" "$work/done/vmlinuz"
	cp "$(first "boot/config-$release" "$modules/config")" "$work/done/config"
	rm -f "$modules/vmlinuz"
	echo "$release" >"$work/done/name"
	ext4_image "$modules" "$work/done/modules.img" \
		"$(du -sm "$modules" | awk '{ print int($1 * 1.15) + 16 }')"
}

# ext4_image DIR FILE MEGABYTES
ext4_image() {
	mke2fs -qq -t ext4 -O ^has_journal -m 0 -E root_owner=0:0 -d "$1" "$2" "$3M" >/dev/null
}

kernel=${1-}
[[ -n $kernel && -n ${debian_suites[$kernel]-} ]] || die "no kernel '$kernel': the kernels are 6.1, 6.12 and 7.2"
if [[ ! -e $comet_cache/kernel-$kernel ]]; then
	need apt-get dpkg-deb depmod mke2fs flock
	make_cached "kernel-$kernel" make_kernel "$kernel"
fi
echo "$comet_cache/kernel-$kernel"
