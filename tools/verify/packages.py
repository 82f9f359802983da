# SPDX-License-Identifier: Apache-2.0
# Debian's packages: built by dpkg-buildpackage, looked at by lintian, unpacked, and used as they lie there. Nothing is installed.
import os
import re
import shutil

from suite.shell import BUILD, ROOT, Failure, need

TITLE = "Debian's source and binary packages: built, accepted by lintian, and used"


def unpack(shell, folder):
    shutil.rmtree(folder, ignore_errors=True)
    packages = [path for path in sorted((BUILD / "debian").glob("*.deb")) if "dbgsym" not in path.name]
    names = {path.name.split("_")[0] for path in packages}
    if names != {"libcubby-dev", "cubby-tools"}:
        raise Failure(f"the packages are {', '.join(sorted(names)) or 'missing'}")
    for package in packages:
        shell.run(f"unpack {package.name}", ["dpkg-deb", "--extract", package, folder])


def use(shell, usr):
    version = re.search(r"project\(cubby VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    if shell.run("ask the program for its version", [usr / "bin" / "cubby", "--version"]).strip() != f"cubby {version}":
        raise Failure(f"the program does not say that it is cubby {version}")
    consumer = ROOT / "tests" / "consumer"
    build = usr.parent / "consumer"
    prefix = f"-DCMAKE_PREFIX_PATH={usr}"
    shell.run("configure a user", ["cmake", "-S", consumer / "installed", "-B", build, "-G", "Ninja", prefix])
    shell.run("build it", ["cmake", "--build", build])
    shell.run("run it", [build / "consumer"])
    flags = ["-std=c++20", "-O2", "-flto=auto", "-Wall", "-Wextra", "-Werror", "-pthread", "-I", usr / "include"]
    shell.run("optimise every call while linking", ["g++", *flags, consumer / "every_verb.cpp", "-o", usr.parent / "every_verb"])
    shell.run("run it", [usr.parent / "every_verb"])
    found = {"PKG_CONFIG_PATH": os.fspath(usr / "share" / "pkgconfig")}
    shell.run("find it with pkg-config", ["pkg-config", "--exists", f"cubby = {version}"], env=found)
    for page in ("cubby", "cubby-bench", "cubby-kmer", "cubby-store"):
        if not (usr / "share" / "man" / "man1" / f"{page}.1.gz").exists():
            raise Failure(f"{page}(1) is missing")


def run(shell):
    need("dpkg-buildpackage", "dh", "lintian")
    output = shell.run("build the packages and look at them", ["tools/debian_package.sh"])
    remarks = re.findall(r"^[IWE]: .*", output, re.MULTILINE)
    folder = BUILD / "debian" / "unpacked"
    unpack(shell, folder)
    use(shell, folder / "usr")
    return f"2 packages; lintian: no error, no warning, {len(remarks)} remarks"
