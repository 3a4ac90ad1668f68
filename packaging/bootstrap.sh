#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up fp8scope on a fresh machine: installs the packages, configures, builds, and then runs the demo or the tests.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

usage() {
    cat <<'TEXT'
usage: packaging/bootstrap.sh demo|test|build [PRESET]

  demo    install, build, train the demo in bf16, fp8 and fp8-fused on the CPU, print where the time
          went, and write demo.fp8trace and demo.pdf into the current checkout
  test    install, build, and run every test
  build   install and build only
  PRESET  release (default), dev, asan, tsan or nogpu (CMakePresets.json)

environment: FP8SCOPE_SKIP_INSTALL=1 leaves the system's packages alone; FP8SCOPE_JOBS=N build jobs
TEXT
}

say() { printf '\n== %s\n' "$*"; }

die() {
    printf 'bootstrap: %s\n' "$*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "installing packages needs root or sudo; or install those of packaging/packages-debian.txt and set FP8SCOPE_SKIP_INSTALL=1"
    fi
}

missing_packages() {
    local package
    grep -Ev '^(#|$)' packaging/packages-debian.txt | while read -r package; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf '%s\n' "$package"
    done
}

install_packages() {
    if [ "${FP8SCOPE_SKIP_INSTALL:-0}" = 1 ]; then
        say "packages: left alone (FP8SCOPE_SKIP_INSTALL)"
        return
    fi
    command -v apt-get >/dev/null ||
        die "this script knows Debian and Ubuntu; elsewhere install what packaging/packages-debian.txt lists and set FP8SCOPE_SKIP_INSTALL=1"
    local missing
    mapfile -t missing < <(missing_packages)
    if [ "${#missing[@]}" -eq 0 ]; then
        say "packages: all there"
        return
    fi
    say "packages: installing ${missing[*]}"
    as_root apt-get update -q
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

build() {
    say "configuring and building (preset $preset)"
    cmake --preset "$preset" ${FP8SCOPE_CMAKE_ARGS:-}
    cmake --build "build/$preset" --parallel "${FP8SCOPE_JOBS:-$(nproc)}"
}

demo() {
    local bin="build/$preset/bin"
    say "training the demo in three modes on the CPU (half a minute or so)"
    "$bin/fp8scope" run --preset demo --force -o demo.fp8trace
    say "writing the report"
    "$bin/fp8scope" report demo.fp8trace -o demo.pdf
    printf '\nMade demo.fp8trace and demo.pdf. Next: %s/fp8scope-gui demo.fp8trace\n' "$bin"
}

run_tests() {
    say "running the tests"
    ctest --preset "$preset" --parallel "${FP8SCOPE_TEST_JOBS:-$(nproc)}"
    printf '\nAll tests of build/%s passed. Next: packaging/bootstrap.sh demo\n' "$preset"
}

command=${1:-}
preset=${2:-release}
case "$command" in
demo | test | build) ;;
-h | --help)
    usage
    exit 0
    ;;
*)
    usage >&2
    exit 2
    ;;
esac
grep -q "\"name\": \"$preset\"" CMakePresets.json || die "there is no preset '$preset'; see CMakePresets.json"

install_packages
build
case "$command" in
demo) demo ;;
test) run_tests ;;
build) printf '\nBuilt build/%s/bin/fp8scope and fp8scope-gui. Next: packaging/bootstrap.sh demo\n' "$preset" ;;
esac
