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

declare -A suites=([6.1]=bookworm [6.12]=trixie [7.2]=sid)

# private_apt WORK COMMAND...: apt with its own state, so that the machine's apt never learns of
# another suite.
private_apt() {
	local work=$1 command=$2
	shift 2
	"$command" -o Dir::State="$work/state" -o Dir::State::status="$work/state/status" \
		-o Dir::Cache="$work/cache" -o Dir::Etc::sourcelist="$work/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o APT::Architecture=amd64 \
		-o APT::Architectures=amd64 -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

# depends WORK PACKAGE: the packages that PACKAGE depends on, one a line.
depends() {
	private_apt "$1" apt-cache depends "$2" | sed -n 's/^ *|\?Depends: \(<\?\)/\1/p'
}

# image_package WORK KERNEL: the package of the kernel image.
image_package() {
	local work=$1 kernel=$2 newest exact
	newest=$(depends "$work" linux-image-cloud-amd64 | sed -n '/^linux-image-[0-9]/{p;q}')
	if [[ $newest == "linux-image-$kernel."* ]]; then
		echo "$newest"
		return
	fi
	exact=$(private_apt "$work" apt-cache pkgnames "linux-image-$kernel." |
		sed -n '/-cloud-amd64$/p' | sort -V | tail -n 1)
	if [[ -n $exact ]]; then
		echo "$exact"
	elif [[ -n $newest ]]; then
		say "Debian ${suites[$kernel]} has no kernel $kernel any more: taking $newest"
		echo "$newest"
	else
		die "Debian ${suites[$kernel]} has no cloud kernel"
	fi
}

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
	local kernel=$1 work=$2 image parts part release modules
	say "fetching kernel $kernel ..."
	mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/deb" "$work/root" "$work/done"
	: >"$work/state/status"
	debian_sources "${suites[$kernel]}" >"$work/sources.list"
	private_apt "$work" apt-get update -qq >&2
	image=$(image_package "$work" "$kernel")
	# Since 7.x the image, its modules and its config are packages of their own.
	mapfile -t parts < <(depends "$work" "$image" | sed -n '/^linux-\(base\|binary\|modules\)-[0-9]/p')
	cd "$work/deb"
	private_apt "$work" apt-get download -qq "$image" "${parts[@]}" >&2
	for part in ./*.deb; do
		dpkg-deb -x "$part" "$work/root"
	done
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
	mke2fs -qq -t ext4 -O ^has_journal -m 0 -E root_owner=0:0 -d "$1" "$2" "$3M"
}

kernel=${1-}
[[ -n $kernel && -n ${suites[$kernel]-} ]] || die "no kernel '$kernel': the kernels are 6.1, 6.12 and 7.2"
if [[ ! -e $comet_cache/kernel-$kernel ]]; then
	need apt-get dpkg-deb depmod mke2fs flock
	make_cached "kernel-$kernel" make_kernel "$kernel"
fi
echo "$comet_cache/kernel-$kernel"
