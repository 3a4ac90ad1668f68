#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzzers and runs each for SECONDS (default 60), two at a time. What crashes, hangs or takes over 2 GB stands
# afterwards in build/fuzz/findings. Usage: tests/fuzz/run.sh [SECONDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${1:-60}
cmake --preset fuzz
cmake --build --preset fuzz
work=build/fuzz
mkdir -p $work/findings
$work/bin/fuzz_seeds $work/seeds

fuzz() {
    local name=$1 dictionary=()
    [ "$name" = fuzz_kineto ] && dictionary=(-dict=tests/fuzz/kineto.dict)
    mkdir -p "$work/corpus/$name"
    if ! "$work/bin/$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 "${dictionary[@]}" \
        -artifact_prefix="$work/findings/$name-" "$work/corpus/$name" "$work/seeds/$name" >"$work/$name.log" 2>&1; then
        tail -40 "$work/$name.log"
        return 1
    fi
    printf '%s: %s runs, no finding\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.log")"
}
export -f fuzz
export work seconds
printf '%s\0' fuzz_kineto fuzz_nsys fuzz_archive fuzz_fp8trace | xargs -0 -n 1 -P 2 bash -c 'fuzz "$1"' bash
