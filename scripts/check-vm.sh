#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Does Comet hold on real kernels? usage: [TESTS='PATTERN...'] [LANES=N] check-vm.sh KERNEL...
# Boots a VM for each kernel and variant of the host and runs tests/vm in it; adds up. A VM keeps
# one CPU busy, but for its waits: LANES of them run at a time, by default one more than there are
# CPUs. One that does not come to its end is a failure. The last line is "N passed, N failed".
set -uo pipefail

cd "$(dirname "$0")/.." || exit
out=${COMET_OUT:-out}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
read -r -a patterns <<<"${TESTS:-}"

# run_vm LABEL KERNEL VARIANT [VM-OPTION...]: leaves "PASSED FAILED" in a file of its own
run_vm() {
	local label=$1 kernel=$2 variant=$3 log line good=0 bad=1 status
	shift 3
	log=$out/tests/vm-${label// /-}.log
	mkdir -p "$(dirname "$log")"
	scripts/vm --kernel "$kernel" --timeout 1800 --with tests/vm --with "$out/tests/vm/probes" \
		--with "$out/faults" --with docs/demo/estate --with scripts/demo "$@" -- \
		python3 /with/vm/run.py --variant "$variant" "${patterns[@]}" >"$log" 2>&1
	status=$?
	line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
	if [[ -n $line ]]; then
		good=${line%% *}
		bad=${line#*, }
		bad=${bad%% *}
		((status == 0 || bad > 0)) || bad=1
	else
		echo "no result from the VM ($label, exit $status)" >>"$log"
	fi
	echo "$good $bad" >"$results/${label// /-}"
	# In one piece, whatever ends at the same time.
	(
		flock 9
		echo "== $label"
		cat "$log"
	) 9>"$results/.lock"
}

lanes=${LANES:-$(($(nproc) + 1))}
started=0

# in_lane ARGUMENT...: run_vm, as soon as one of the lanes is free
in_lane() {
	((started < lanes)) || wait -n
	((started += 1))
	run_vm "$@" &
}

# Minutes each, and about Comet and other programs more than about the kernel: on one.
in_lane "kernel ${!#} with developers tools" "${!#}" tools
in_lane "kernel ${!#} with faults" "${!#}" faults
# 300 runs at once have a ring buffer of 1 MiB each.
in_lane "kernel ${!#} with many runs" "${!#}" crowd --memory 3072
for kernel in "$@"; do
	in_lane "kernel $kernel" "$kernel" main
	in_lane "kernel $kernel without the BPF LSM" "$kernel" no-bpf-lsm \
		--append 'lsm=lockdown,yama,loadpin,safesetid,integrity'
	in_lane "kernel $kernel with cgroup v1 only" "$kernel" cgroup-v1 --cgroup v1
	in_lane "kernel $kernel with hybrid cgroups" "$kernel" cgroup-hybrid --cgroup hybrid
	in_lane "kernel $kernel with cgroup v2 at an odd place" "$kernel" cgroup-odd --cgroup odd
done
wait

passed=0
failed=0
while read -r good bad; do
	passed=$((passed + good))
	failed=$((failed + bad))
	started=$((started - 1))
done < <(cat "$results"/*)
# A lane that died without a word.
failed=$((failed + started))
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
