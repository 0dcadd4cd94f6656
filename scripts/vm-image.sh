#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What is in the test VM's root disk?
#
# usage: vm-image.sh
# Makes the image, if it is not in the cache, and prints its name: an ext4 filesystem with Debian 12,
# the packages below, the user `agent` and our init. It is made anew when this file or the init changes.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=vm-lib.sh
. "$here/vm-lib.sh"

packages=(
	# what Comet links to
	libbpf1 libelf1 libyaml-0-2 libjansson4 libcap-ng0 libseccomp2 libsqlite3-0 zlib1g
	# what agents run, and what answers them
	bash python3 nodejs git curl openssl ca-certificates tzdata nginx-light dnsmasq-base netbase
	# what developers' tools do to files: installers, builders, copiers, an editor
	npm python3-pip python3-venv make rsync vim-tiny
	# what tests look and poke with
	acl attr bind9-dnsutils bpftool bubblewrap btrfs-progs busybox-static dosfstools e2fsprogs file
	iproute2 kmod libcap2-bin mount passwd procps psmisc socat sqlite3 strace sudo util-linux
)
megabytes=2000

fill_root() {
	local root=$1
	chroot "$root" useradd -m -u 1000 -s /bin/bash agent
	# As on a developer's machine; a confined agent has no_new_privs and gets nowhere with it.
	echo 'agent ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/agent"
	chmod 440 "$root/etc/sudoers.d/agent"
	echo comet-vm >"$root/etc/hostname"
	printf '%s\n' '127.0.0.1 localhost' '127.0.1.1 comet-vm' '::1 localhost' >"$root/etc/hosts"
	ln -sf ../proc/self/mounts "$root/etc/mtab"
	# mmdebstrap copied this machine's: names that no test serves should fail at once.
	echo 'nameserver 127.0.0.1' >"$root/etc/resolv.conf"
	rm -rf "$root"/etc/apt "$root"/var/lib/apt "$root"/var/cache/apt
	mkdir -p "$root/with" "$root/usr/lib/modules" "$root/usr/lib/comet-vm"
	gcc -O2 -Wall -Wextra -Werror -static -o "$root/usr/lib/comet-vm/init" \
		"$here/vm-init.c" "$here/vm-init-host.c"
}

make_image() {
	local work=$1
	say "building the guest image (once, 2 to 3 min) ..."
	debian_sources bookworm >"$work/sources.list"
	# mmdebstrap does not see the machine's own way to its mirror, apart from the sources.
	apt-config dump Acquire | sed -n '/^Acquire::\(Check-\|.*::Proxy\)/p' >"$work/acquire"
	if ! TMPDIR=$work mmdebstrap --mode=root --variant=essential \
		--include="$(IFS=,; echo "${packages[*]}")" --aptopt="$work/acquire" \
		--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt='path-exclude=/usr/share/info/*' \
		bookworm "$work/root" "$work/sources.list" >"$work/log" 2>&1; then
		cat "$work/log" >&2
		return 1
	fi
	fill_root "$work/root"
	# Nothing is left to be initialised in the background, which would disturb measurements.
	mke2fs -q -t ext4 -m 0 -E root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0 \
		-d "$work/root" "$work/done" "${megabytes}M" >"$work/log"
	# Images of other versions of these files, unused for a day.
	find "$comet_cache" -maxdepth 1 -name 'image-*' -mmin +1440 -delete
}

image=image-$(cat "$here/vm-image.sh" "$here"/vm-init*.[ch] | sha256sum | cut -c 1-12)
if [[ ! -e $comet_cache/$image ]]; then
	((EUID == 0)) || die "the guest image must be built by root: sudo scripts/vm --prepare"
	need mmdebstrap mke2fs gcc flock
	make_cached "$image" make_image
fi
# Its last use, for the clean-up above.
touch -c "$comet_cache/$image" 2>/dev/null || true
echo "$comet_cache/$image"
