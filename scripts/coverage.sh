#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Is every road closed on real kernels? usage: coverage.sh KERNEL...
# Boots a VM for each kernel, tries all rows of tests/coverage in it, and fails if a cell is open.
# With all three kernels it writes docs/coverage.md. The last line is "N passed, N failed", in cells.
set -uo pipefail

cd "$(dirname "$0")/.." || exit
out=${COMET_OUT:-out}
passed=0
failed=0
tables=()
mkdir -p "$out/coverage"

# try_kernel KERNEL: all rows, as all personas
try_kernel() {
	local kernel=$1 log=$out/coverage/$1.log table=$out/coverage/$1.json status good bad
	echo "== kernel $kernel"
	scripts/vm --kernel "$kernel" --timeout 900 --with tests/vm --with "$out/tests/coverage/roads" \
		-- python3 /with/vm/coverage.py >"$log" 2>&1
	status=$?
	grep -av '^table ' "$log"
	read -r good bad < <(sed -nE 's/^[0-9]+ roads, ([0-9]+) cells closed, ([0-9]+) open$/\1 \2/p' "$log")
	if [[ -z ${bad-} ]]; then
		echo "no result from the VM (kernel $kernel, exit $status)"
		failed=$((failed + 1))
		return
	fi
	((status == 0 || bad > 0)) || bad=1
	passed=$((passed + good))
	failed=$((failed + bad))
	sed -n 's/^table //p' "$log" >"$table"
	tables+=("$table")
}

for kernel in "$@"; do
	try_kernel "$kernel"
done
if [[ $* == "6.1 6.12 7.2" ]] && ((${#tables[@]} == 3)); then
	python3 tests/coverage/document.py "${tables[@]}" >"$out/coverage/coverage.md" &&
		cp "$out/coverage/coverage.md" docs/coverage.md
fi
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
