# SPDX-License-Identifier: Apache-2.0
# What full_tables.sh and durable_tables.sh share: how a program is run. CUBBY_BUILD is the build folder (build/release), CUBBY_MEASURE a
# command before each run, as one that waits for a quiet machine.
build=${CUBBY_BUILD:-build/release}
run() {
  echo
  echo "\$ $*"
  program=$1
  shift
  # Split on purpose: the prefix may have arguments.
  ${CUBBY_MEASURE:-} "$build/$program" "$@"
}
