#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Does Comet hold on real kernels? usage: [TESTS='PATTERN...'] check-vm.sh KERNEL...
# Boots a VM for each kernel and variant of the host and runs tests/vm in it; adds up. A VM that
# does not come to its end is a failure. The last line is "N passed, N failed".
set -uo pipefail

cd "$(dirname "$0")/.." || exit
out=${COMET_OUT:-out}
passed=0
failed=0
read -r -a patterns <<<"${TESTS:-}"

# run_vm LABEL KERNEL VARIANT [VM-OPTION...]
run_vm() {
	local label=$1 kernel=$2 variant=$3 log line good bad
	shift 3
	log=$out/tests/vm-${label// /-}.log
	mkdir -p "$(dirname "$log")"
	echo "== $label"
	scripts/vm --kernel "$kernel" --timeout 900 --with tests/vm --with "$out/tests/vm/probes" \
		--with docs/demo/estate --with scripts/demo "$@" -- \
		python3 /with/vm/run.py --variant "$variant" "${patterns[@]}" 2>&1 | tee "$log"
	local status=${PIPESTATUS[0]}
	line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
	if [[ -z $line ]]; then
		echo "no result from the VM ($label, exit $status)"
		failed=$((failed + 1))
		return
	fi
	good=${line%% *}
	bad=${line#*, }
	bad=${bad%% *}
	((status == 0 || bad > 0)) || bad=1
	passed=$((passed + good))
	failed=$((failed + bad))
}

for kernel in "$@"; do
	run_vm "kernel $kernel" "$kernel" main
	run_vm "kernel $kernel with developers tools" "$kernel" tools
	run_vm "kernel $kernel without the BPF LSM" "$kernel" no-bpf-lsm \
		--append 'lsm=lockdown,yama,loadpin,safesetid,integrity'
	run_vm "kernel $kernel with cgroup v1 only" "$kernel" cgroup-v1 --cgroup v1
	run_vm "kernel $kernel with hybrid cgroups" "$kernel" cgroup-hybrid --cgroup hybrid
	run_vm "kernel $kernel with cgroup v2 at an odd place" "$kernel" cgroup-odd --cgroup odd
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
