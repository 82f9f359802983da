#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks headers of two rivals, newer than this system may have them, into build/rivals: Boost's concurrent_flat_map and
# parallel-hashmap, from packages of Debian 13. Only `cubby bench` is built with them, and nothing of the system is touched.
# Where they cannot be had it says so, and the bench is built without these two engines.
set -eu
cd "$(dirname "$0")/.."
suite=trixie
packages="libboost1.88-dev libparallel-hashmap-dev"
into=build/rivals
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

is_there() { [ -e "$into/usr/include/boost/unordered/concurrent_flat_map.hpp" ] && [ -e "$into/usr/include/parallel_hashmap/phmap.h" ]; }

leave_out() {
  echo "cubby: the bench is built without the engines boost and phmap: $1" >&2
  exit 0
}

is_there && exit 0
command -v apt-get >/dev/null 2>&1 || leave_out "there is no apt-get to fetch their headers with"
[ -r "$keyring" ] || leave_out "this is not Debian, whose packages have their headers"
# The mirror that this system uses already; security updates have one of their own.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep '/debian/*$' | head -n 1)
[ -n "$mirror" ] || leave_out "apt-get knows no mirror of Debian"

mkdir -p build
work=$(mktemp -d build/rivals.XXXXXX)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/parts" "$work/lists/partial" "$work/cache/archives/partial" "$work/new"
printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' "$mirror" "$suite" "$keyring" >"$work/parts/rivals.sources"
top=$PWD/$work
apt() {
  apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$top/parts" -o Dir::State::Lists="$top/lists" \
    -o Dir::Cache="$top/cache" -o APT::Sandbox::User=root "$@" >"$top/log" 2>&1
}
apt update || leave_out "the list of Debian's packages cannot be fetched ($(tail -n 1 "$top/log"))"
(cd "$top" && apt download $packages) || leave_out "their packages cannot be fetched ($(tail -n 1 "$top/log"))"
for package in "$work"/*.deb; do dpkg-deb --extract "$package" "$work/new"; done
rm -rf "$into"
mv "$work/new" "$into"
is_there || { echo "cubby: the packages $packages do not hold the headers that they held before" >&2; exit 2; }
