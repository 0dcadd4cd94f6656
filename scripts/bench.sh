#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# How many instructions does Comet add to an open, and each hook to an operation? usage: bench.sh KERNEL...
set -euo pipefail

cd "$(dirname "$0")/.."
out=${COMET_OUT:-out}
cp tests/bench/*.py "$out/tests/bench/"
for kernel in "$@"; do
	scripts/vm --kernel "$kernel" --icount --timeout 1200 --with "$out/tests/bench" -- \
		python3 /with/bench/run.py
done
