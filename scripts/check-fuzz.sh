#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Does a parser survive mutated input? usage: FUZZ_RUNS=N check-fuzz.sh PROGRAM...
# Each libFuzzer program gets its seeds from tests/fuzz/seeds.txt (program, then folders of seeds).
set -euo pipefail

cd "$(dirname "$0")/.."
runs=${FUZZ_RUNS:-1000000}
passed=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for program in "$@"; do
	name=$(basename "$program")
	corpus=$work/$name
	mkdir -p "$corpus"
	n=0
	while read -r target folder; do
		[[ $target == "$name" ]] || continue
		while IFS= read -r -d '' seed; do
			cp "$seed" "$corpus/seed-$((n++))"
		done < <(find "$folder" -type f -print0)
	done <tests/fuzz/seeds.txt
	echo "$name: $runs mutations of $n seeds ..."
	if "$program" -runs="$runs" -max_len=16384 -timeout=20 -rss_limit_mb=4096 \
		-artifact_prefix="$work/" "$corpus" >"$work/log" 2>&1; then
		grep -E '^(Done|#[0-9]+.*DONE)' "$work/log" | tail -n 1
		passed=$((passed + 1))
	else
		tail -n 60 "$work/log"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
