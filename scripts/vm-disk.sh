# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# How do files get into the VM? (sourced by vm)
#
# By one disk with three partitions (7.2 numbers several disks in varying order): the root image, the
# kernel's modules, and the payload, a tar archive that the init unpacks.

# make_payload RUN-DIR: makes RUN-DIR/payload of argv, env, with and the built Comet.
# shellcheck disable=SC2154 # argv, env and with are those of vm
make_payload() {
	local run=$1 path
	local tar=(tar --owner=0 --group=0 --numeric-owner -S -f "$run/payload")
	local out=${COMET_OUT:-$here/../out}
	mkdir "$run/.comet-vm"
	printf '%s\0' "${argv[@]}" >"$run/.comet-vm/argv"
	printf '%s\0' "${env[@]}" >"$run/.comet-vm/env"
	"${tar[@]}" -c -C "$run" .comet-vm
	if [[ -e $out/comet ]]; then
		append_tar -C "$out" --transform='flags=r;s,^,usr/bin/,' comet
	fi
	for path in "${with[@]}"; do
		append_tar -C "$(dirname "$path")" --transform='flags=rh;s,^,with/,' "$(basename "$path")"
	done
	# Partitions are made of whole sectors.
	truncate -s %1M "$run/payload"
}

append_tar() {
	# 1 is "changed as we read it", which tar has then said: somebody builds in there.
	"${tar[@]}" -r "$@" || (($? == 1))
}

# make_disk RUN-DIR PART...: makes RUN-DIR/disk.vmdk of the files PART..., without a copy of them: a
# VMDK description is the one format in which QEMU strings files together.
make_disk() {
	local run=$1 part sectors start=2048 table='' extents=''
	shift
	for part in "$@"; do
		sectors=$(($(stat -L -c %s "$part") / 512))
		table+="start=$start, size=$sectors, type=83"$'\n'
		extents+="RW $sectors FLAT \"$part\" 0"$'\n'
		start=$((start + sectors))
	done
	# sfdisk checks that the partitions fit, so the whole disk must be there for a moment.
	truncate -s $((start * 512)) "$run/table"
	sfdisk -q --no-reread --no-tell-kernel --wipe never "$run/table" <<<"label: dos"$'\n'"$table"
	truncate -s 1M "$run/table"
	# No empty line in there: QEMU would read the line after it twice.
	cat >"$run/disk.vmdk" <<END
# Disk DescriptorFile
version=1
CID=fffffffe
parentCID=ffffffff
createType="twoGbMaxExtentFlat"
RW 2048 FLAT "$run/table" 0
${extents}ddb.adapterType = "ide"
END
}
