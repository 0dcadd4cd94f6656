#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Which Debian packages does Comet need, and are they installed?
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/setup.sh [build|demo|test]

Installs with apt what is missing of the Debian 12 packages that Comet needs:
  build   to compile it (make)
  demo    also to show it on this machine's own kernel (make demo)
  test    to compile it and to test it (make check, check-vm, check-fuzz, format); the default
Says nothing when all is there.
END
}

build=(
	gcc make clang llvm bpftool libbpf-dev libelf-dev zlib1g-dev libyaml-dev libjansson-dev
	libcap-ng-dev libsqlite3-dev pkg-config scdoc
)
demo=(python3 openssl mount util-linux)
# libclang-rt: sanitizers and libFuzzer; kmod and fdisk: depmod and sfdisk, for the VM's disk
# (a minimal root has neither); libc6-dev: the guest's init is linked statically.
test=(
	libcmocka-dev libclang-rt-14-dev clang-format e2fsprogs mmdebstrap debian-archive-keyring
	python3 shellcheck git xz-utils zstd cpio kmod fdisk libc6-dev qemu-system-x86
)

case "${1-test}" in
build) want=("${build[@]}") ;;
demo) want=("${build[@]}" "${demo[@]}") ;;
test) want=("${build[@]}" "${test[@]}") ;;
-h | --help)
	usage
	exit 0
	;;
*)
	usage >&2
	exit 2
	;;
esac

# dpkg-query fails when it knows a name not at all: that is an answer here, not an error.
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${want[@]}" 2>/dev/null || true)
missing=()
for package in "${want[@]}"; do
	[[ $'\n'"$installed"$'\n' == *$'\n'"installed $package"$'\n'* ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
	exit 0
fi

if ((EUID != 0)); then
	echo "setup.sh: these packages are missing and only root can install them: ${missing[*]}" >&2
	exit 1
fi

echo "setup.sh: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
# Quiet unless it fails: then the whole log is what one needs.
if ! { apt-get update -q && apt-get install -q -y --no-install-recommends "${missing[@]}"; } \
	</dev/null >"$log" 2>&1; then
	cat "$log" >&2
	echo "setup.sh: apt could not install the packages named above" >&2
	exit 1
fi
