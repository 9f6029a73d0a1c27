#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# articles.sh BUILD [OUT]  The figures of docs/articles.md, on one Hopper GPU, in a minute:
#     latencies and rates of memory (bench ceiling), rung 5 with spilled sums and the cycles of
#     rung 3 (articles.cu), hit rates of L2 by Nsight Compute, if ncu is found.
# BUILD: a build folder whose command has device code. Run it at the root of the repository.
set -eu
build=$(realpath "${1:?a build folder}"); out=$(realpath "${2:-.}"); command=$build/bin/tilewright
export PATH=$PATH:/usr/local/cuda/bin TILEWRIGHT_TUNE=off
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$command" bench ceiling --quick --json "$out/articles-ceiling.json"

# The libraries of the command, as they stand in its link line.
libraries=$(ninja -C "$build" -t commands bin/tilewright | tail -1 | tr ' ' '\n' |
  grep -E '\.(a|so)([.0-9]*)$|^-l' | grep -v _verb | sed 's/.*\.so\..*/-Xlinker &/' | tr '\n' ' ')
nvcc -std=c++20 --expt-relaxed-constexpr -gencode arch=compute_90a,code=sm_90a -O2 -I. -Iinclude \
  -Isrc bench/articles.cu -c -o "$work/articles.o"
# shellcheck disable=SC2086
(cd "$build" && nvcc "$work/articles.o" -Xlinker --start-group $libraries -Xlinker --end-group \
  -o "$work/articles")
"$work/articles"

command -v ncu >/dev/null || { echo "no ncu: no hit rates of L2"; exit 0; }
# hit_rate RUNG SIZE SMS REGEX: of the first launch whose mangled name matches, with cold caches.
hit_rate() {
  echo "rung $1, $2, $3 SMs"
  ncu --clock-control none --kernel-name-base mangled -k "regex:$4" --launch-count 1 --kill yes \
    --metrics lts__t_sector_hit_rate.pct,dram__bytes_read.sum,gpu__time_duration.sum \
    "$command" ladder --device gpu --rung "$1" --size "$2" --sms "$3" --quick --no-baseline 2>&1 |
    grep -E 'ERROR|lts__|dram__|gpu__'
}
# The fourth member of ladder::config is `grouped`.
for size in 4096 8192; do
  hit_rate 5 $size 132 'rung_05.*6configELb0ELi2ELb1'
  hit_rate 6 $size 132 'rung_06.*6configELb0ELi2ELb1ELb0'  # consecutive tiles
  hit_rate 6 $size 132 'rung_06.*6configELb0ELi2ELb1ELb1'
  hit_rate 6 $size 128 'rung_06.*6configELb0ELi2ELb1ELb1'
  hit_rate 7 $size 132 rung_07
  hit_rate 11 $size 132 rung_11
done
