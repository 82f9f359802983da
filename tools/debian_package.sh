#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Debian's source and binary packages of this tree by dpkg-buildpackage, into build/debian, and has lintian look at them.
# Usage: tools/debian_package.sh. Exit 1: a build failed, or lintian found an error or a warning. Exit 2: a tool is missing.
set -eu
cd "$(dirname "$0")/.."

for tool in git dpkg-buildpackage dh lintian; do
  command -v "$tool" >/dev/null 2>&1 || { echo "debian_package: $tool is missing; run tools/install_packages.sh verify" >&2; exit 2; }
done
version=$(sed -n 's/^project(cubby VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
out=build/debian
rm -rf "$out"
mkdir -p "$out"
# The files of the tree, with the time of the changelog's entry: the same tree gives the same archive.
date=$(dpkg-parsechangelog -l packaging/debian/changelog -S Timestamp)
git ls-files -z --cached --others --exclude-standard -- . ':!packaging/debian' |
  tar --create --gzip --file "$out/cubby_$version.orig.tar.gz" --null --files-from - --sort=name --mtime="@$date" \
    --owner=0 --group=0 --numeric-owner --transform "s,^,cubby-$version/,"
tar --extract --gzip --file "$out/cubby_$version.orig.tar.gz" --directory "$out"
cp -R packaging/debian "$out/cubby-$version/debian"
# A compiler cache of the user is used, although the build has a home folder of its own.
export CCACHE_DIR="${CCACHE_DIR:-$HOME/.cache/ccache}"
(cd "$out/cubby-$version" && dpkg-buildpackage --unsigned-source --unsigned-changes)
lintian --fail-on error,warning --display-info "$out"/cubby_"$version"-*.changes
ls -l "$out"/*.deb "$out"/*.dsc
