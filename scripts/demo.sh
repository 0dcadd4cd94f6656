#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What does Comet do? usage: scripts/demo.sh [--kernel 6.1|6.12|7.2]
# An agent does its work, is turned by its input while only watched, and is turned while held. On this
# machine's kernel where `comet doctor` is content, else (and with --kernel) in a VM. Exit code 0: all
# came as it must.
set -euo pipefail

cd "$(dirname "$0")/.."
out=${COMET_OUT:-out}
pack=docs/demo/estate
started=$SECONDS

# why_not REPORT: the first thing that `comet doctor` misses, in its words.
why_not() {
	local reason
	reason=$(sed -n 's/^  \(.*[^ ]\)  *missing  *\(.*\)$/\1: \2/p' <<<"$1" | head -n 1)
	echo "${reason:-it lacks a hook that Comet needs}"
}

play() {
	local colour=()
	if [[ -t 1 && -z ${NO_COLOR-} && ${TERM-dumb} != dumb ]]; then
		colour=(--colour)
	fi
	"$@" "${colour[@]}"
}

on_this_kernel() {
	scripts/setup.sh demo
	echo "On this machine's kernel, $(uname -r): comet doctor finds all that it needs."
	play unshare --mount --net python3 scripts/demo/play.py --comet "$out/comet" --pack "$pack"
}

in_vm() {
	local kernel=$1 why=$2
	scripts/setup.sh test
	echo "In a VM with Debian's kernel $kernel, $why."
	scripts/vm --prepare --kernel "$kernel"
	play scripts/vm --kernel "$kernel" --timeout 600 --with "$pack" --with scripts/demo -- \
		unshare --mount --net python3 /with/demo/play.py --pack "/with/$(basename "$pack")"
}

kernel=
case $#:${1-} in
0:) ;;
2:--kernel) kernel=$2 ;;
*)
	echo "usage: scripts/demo.sh [--kernel 6.1|6.12|7.2]" >&2
	exit 2
	;;
esac

scripts/setup.sh build
make --no-print-directory -s -j"$(nproc)" all

status=0
if [[ -n $kernel ]]; then
	in_vm "$kernel" "as --kernel asks for" || status=$?
elif report=$(NO_COLOR=1 "$out/comet" doctor); then
	on_this_kernel || status=$?
else
	in_vm 6.12 "for Comet cannot use this machine's own: $(why_not "$report")" || status=$?
fi
echo
if ((status == 0)); then
	echo "All came as it must ($((SECONDS - started)) s)."
else
	echo "The demo failed (exit $status)." >&2
fi
exit "$status"
