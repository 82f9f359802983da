#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian or Ubuntu packages that `make demo`, `make test`, `make docs`, `make verify` or bench_stores needs and that are
# missing; names each one first. Touches nothing when all are there. Exit 2: the packages cannot be had here, and the message names them.
set -eu

build_packages="g++ cmake ninja-build pkg-config python3"
program_packages="libcli11-dev libfmt-dev nlohmann-json3-dev libtbb-dev libcuckoo-dev liburcu-dev libisal-dev libhts-dev libxxhash-dev"
gtest_packages="libgtest-dev libgmock-dev"
demo_packages="wamerican-huge gnuplot-nox bowtie2-examples"
test_packages="git clang-19 clang-format-19 clang-tidy-19 g++-aarch64-linux-gnu qemu-user ccache valgrind libclang-rt-19-dev"
shell_test_packages="zsh fish man-db mandoc"
kmer_test_packages="jellyfish kmc samtools tabix bowtie-examples"
store_packages="liblmdb-dev librocksdb-dev" # rivals of bench_stores and bench_ycsb
package_packages="debhelper lintian"
verify_packages="spin art-nextgen-simulation-tools"
docs_packages="doxygen python3-venv"
browser_packages="chromium fonts-dejavu-core" # opens the documentation and looks
go_packages="golang-go" # only where there is no Go from elsewhere

case "${1:-}" in
  demo) wanted="$build_packages $program_packages $gtest_packages $demo_packages" ;;
  test)
    wanted="$build_packages $program_packages $gtest_packages $demo_packages $test_packages $kmer_test_packages $shell_test_packages"
    wanted="$wanted $docs_packages" ;;
  docs) wanted="git python3 $docs_packages" ;;
  docs_check) wanted="git python3 $docs_packages $browser_packages" ;;
  stores) wanted="$build_packages $program_packages $gtest_packages $store_packages" ;;
  verify)
    wanted="$build_packages $program_packages $gtest_packages $demo_packages $test_packages"
    wanted="$wanted $kmer_test_packages $shell_test_packages $package_packages $docs_packages $browser_packages $verify_packages"
    command -v go >/dev/null 2>&1 || wanted="$wanted $go_packages" ;;
  *) echo "usage: $0 demo|test|docs|docs_check|stores|verify" >&2; exit 2 ;;
esac

is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
  echo "cubby: this is neither Debian nor Ubuntu, so nothing can be installed for you. What is needed, by Debian's names:" >&2
  printf '  %s\n' $wanted >&2
  echo "With these installed in your own way, build with: cmake --preset release && cmake --build --preset release" >&2
  exit 2
fi

missing=""
for package in $wanted; do
  is_installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1; then
  as_root="sudo"
else
  echo "cubby: these packages are missing, and there is no sudo to install them with:" >&2
  printf '  %s\n' $missing >&2
  exit 2
fi

echo "cubby: packages that will be installed with apt-get:"
printf '  %s\n' $missing

install() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends -qq $missing >"$log" 2>&1
}

# The lists that are there may do; they are fetched anew only when they do not.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! install; then
  $as_root apt-get update -qq
  if ! install; then
    tail -n 20 "$log" >&2
    echo "cubby: apt-get could not install all of:$missing" >&2
    exit 2
  fi
fi

for package in $missing; do
  is_installed "$package" || { echo "cubby: $package is still not installed" >&2; exit 2; }
done
