# SPDX-License-Identifier: Apache-2.0
# The ways to use the library in a build, each tested by a small project: an installed package, a subdirectory,
# pkg-config, a linker that optimises, and the single header. Each starts from an empty folder, so that an old install cannot hide a broken one.
import os
import shutil

from .shell import BUILD, Failure, ROOT, need
from .source import COMPILERS, FLAGS, STRICT

HERE = ROOT / "tests" / "consumer"


def fresh(name):
    folder = BUILD / "consumers" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def install(shell):
    """Installs the library alone, with a header folder of another name, and moves the tree away from its prefix."""
    build, prefix = fresh("library"), fresh("prefix")
    switches = [f"-DCUBBY_BUILD_{what}=OFF" for what in ("PROGRAMS", "TESTS", "EXAMPLES")]
    folders = ["-DCMAKE_INSTALL_INCLUDEDIR=headers/here"]
    shell.run("configure the library", ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *switches, *folders])
    shell.run("install it", ["cmake", "--install", build, "--prefix", prefix])
    for path in prefix.rglob("*"):
        if path.is_file() and str(ROOT) in path.read_text(errors="ignore"):
            raise Failure(f"{path.name} names the folder it was built in")
    moved = prefix.with_name("moved")
    shutil.rmtree(moved, ignore_errors=True)
    prefix.rename(moved)
    return moved


def cmake_project(shell, name, *settings):
    build = fresh(name)
    shell.run(f"configure {name}", ["cmake", "-S", HERE / name, "-B", build, "-G", "Ninja", *settings])
    shell.run("build", ["cmake", "--build", build])
    shell.run("run", [build / "consumer"])


def single_header(shell):
    """Alone under the strict flags; in every program of this folder instead of the library; and in two files of one program."""
    need(*COMPILERS)
    out = fresh("single_header")
    header = out / "cubby_all.hpp"
    shell.run("write the single header", ["python3", ROOT / "tools" / "single_header.py", header])
    (out / "alone.cpp").write_text("#include <cubby_all.hpp>\n")
    (out / "cubby").mkdir()
    for public in sorted((ROOT / "include" / "cubby").glob("*.hpp")):
        (out / "cubby" / public.name).write_text("#include <cubby_all.hpp>\n")
    flags = [flag for flag in FLAGS if not flag.startswith("-I")] + ["-I", out, "-pthread"]
    for compiler in COMPILERS:
        shell.run(f"alone with {compiler}", [compiler, *flags, *STRICT[compiler], "-c", out / "alone.cpp", "-o", "/dev/null"])
        files = sorted((HERE / "single_header").glob("*.cpp"))
        programs = {"two_files": files, "main": [HERE / "main.cpp"]}
        if compiler != "g++":  # takes half as long with clang; `alone` has it with both, from the headers
            programs["every_verb"] = [HERE / "every_verb.cpp"]
        for name, sources in programs.items():
            shell.run(f"build {name} with {compiler}", [compiler, *flags, *sources, "-o", out / name])
            shell.run("run", [out / name])


def consumers(shell):
    prefix = install(shell)
    cmake_project(shell, "installed", f"-DCMAKE_PREFIX_PATH={prefix}")
    cmake_project(shell, "subdirectory", f"-DCUBBY_SOURCE_DIR={ROOT}")
    out = fresh("pkgconfig")
    found = {"PKG_CONFIG_PATH": os.fspath(prefix / "share" / "pkgconfig")}
    shell.run("build with pkg-config", ["make", "-C", HERE / "pkgconfig", f"OUT={out}"], env=found)
    shell.run("run", [out / "consumer"])
    linked = fresh("link_time") / "consumer"
    flags = ["-std=c++20", "-O2", "-flto=auto", "-Wall", "-Wextra", "-Werror", "-pthread", "-I", ROOT / "include"]
    shell.run("optimise while linking", ["g++", *flags, HERE / "main.cpp", "-o", linked])
    shell.run("run", [linked])
    single_header(shell)
    return "find_package, add_subdirectory, pkg-config, link-time optimisation, single header"
