#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Is everything in order? Set-up, build, unit tests, fuzz smoke, lint, VM tests and the table of
# roads on all kernels: what `make test` and the project's CI run. The last line is "N passed, N failed".
set -uo pipefail

cd "$(dirname "$0")/.." || exit
passed=0
failed=0
log=$(mktemp)
failures=$(mktemp)
trap 'rm -f "$log" "$failures"' EXIT

# step NAME COMMAND...: runs it, shows its output, adds its closing line.
step() {
	local name=$1 line good bad status
	shift
	printf '\n==== %s\n' "$name"
	"$@" 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
	if [[ -z $line ]]; then
		line="$((status == 0)) passed, $((status != 0)) failed"
	fi
	good=${line%% *}
	bad=${line#*, }
	bad=${bad%% *}
	((status == 0 || bad > 0)) || bad=1
	passed=$((passed + good))
	failed=$((failed + bad))
	# Where a log is cut, its end is kept: what failed, and why, stands there once more.
	((bad == 0)) || {
		printf -- '-- %s\n' "$name"
		grep -aE '^(== |not ok |open |no result |  [|>] )|FAIL|error:' "$log" | tail -n 120
	} >>"$failures"
	return "$status"
}

finish() {
	echo
	cat "$failures"
	echo "$passed passed, $failed failed"
	((failed == 0 && passed > 0))
	exit
}

step "set-up: packages" scripts/setup.sh test || finish
step "set-up: VM image and kernels" scripts/vm --prepare || finish
step "build" make --no-print-directory -j"$(nproc)" all || finish
step "build for arm64 (BPF side)" make --no-print-directory arm64
step "lint" make --no-print-directory lint
step "unit tests" make --no-print-directory -j"$(nproc)" check
step "fuzz smoke" make --no-print-directory -j"$(nproc)" check-fuzz FUZZ_RUNS="${SMOKE_RUNS:-50000}"
step "VM tests" make --no-print-directory -j"$(nproc)" check-vm
step "coverage" make --no-print-directory -j"$(nproc)" coverage
finish
