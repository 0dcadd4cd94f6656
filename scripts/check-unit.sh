#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Do all unit tests pass? usage: check-unit.sh PROGRAM...
# Runs each cmocka program and adds up; the last line is "N passed, N failed".
set -uo pipefail

passed=0
failed=0
for program in "$@"; do
	if output=$(CMOCKA_MESSAGE_OUTPUT=tap "$program" 2>&1); then
		status=0
	else
		status=$?
	fi
	good=$(grep -c '^ok ' <<<"$output")
	bad=$(grep -c '^not ok ' <<<"$output")
	# A crash, a sanitizer's finding or a program that ran nothing is a failure of its own.
	if ((status != 0 && bad == 0)) || ((good + bad == 0)); then
		bad=1
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
	printf '%-40s %3d passed, %d failed\n' "$(basename "$program")" "$good" "$bad"
	((bad == 0)) || printf '%s\n' "$output"
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
