#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Is every road closed on real kernels? usage: [LANES=N] coverage.sh KERNEL...
# Boots a VM for each kernel, all at a time (they often wait), tries all rows of tests/coverage
# in it, and fails if a cell is open. With all three kernels it writes docs/coverage.md. The last
# line is "N passed, N failed", in cells.
set -uo pipefail

cd "$(dirname "$0")/.." || exit
out=${COMET_OUT:-out}
lanes=${LANES:-$#}
started=0
passed=0
failed=0
tables=()

# try_kernel KERNEL: all rows, as all personas
try_kernel() {
	scripts/vm --kernel "$1" --timeout 1800 --with tests/vm --with "$out/faults" \
		--with "$out/tests/coverage/roads" -- python3 /with/vm/coverage.py >"$out/coverage/$1.log" 2>&1
	echo "exit $?" >>"$out/coverage/$1.log"
}

# add_up KERNEL: what its log says
add_up() {
	local log=$out/coverage/$1.log table=$out/coverage/$1.json good bad
	echo "== kernel $1"
	grep -av '^table ' "$log"
	read -r good bad < <(sed -nE 's/^[0-9]+ roads, ([0-9]+) cells closed, ([0-9]+) open$/\1 \2/p' "$log")
	if [[ -z ${bad-} ]]; then
		echo "no result from the VM (kernel $1)"
		failed=$((failed + 1))
		return
	fi
	((bad > 0)) || grep -qx "exit 0" "$log" || bad=1
	passed=$((passed + good))
	failed=$((failed + bad))
	sed -n 's/^table //p' "$log" >"$table"
	tables+=("$table")
}

mkdir -p "$out/coverage"
for kernel in "$@"; do
	((started < lanes)) || wait -n
	((started += 1))
	try_kernel "$kernel" &
done
wait
for kernel in "$@"; do
	add_up "$kernel"
done
if [[ $* == "6.1 6.12 7.2" ]] && ((${#tables[@]} == 3)); then
	python3 tests/coverage/document.py "${tables[@]}" >"$out/coverage/coverage.md" &&
		cp "$out/coverage/coverage.md" docs/coverage.md
fi
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
