# SPDX-License-Identifier: Apache-2.0
# Conan 2 recipe of the tree it lies in: conan create packaging/conan -s compiler.cppstd=20
# Headers alone: one package for every compiler and processor that the library accepts.
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load

REPOSITORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Cubby(ConanFile):
    name = "cubby"
    license = "Apache-2.0"
    description = "Published concurrent hash tables behind one C++20 API"
    topics = ("hash-table", "concurrent", "lock-free", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def set_version(self):
        text = load(self, os.path.join(REPOSITORY, "CMakeLists.txt"))
        self.version = re.search(r"project\(cubby VERSION ([\d.]+)", text).group(1)

    def export_sources(self):
        copy(self, "include/*", REPOSITORY, self.export_sources_folder)
        copy(self, "LICENSE", REPOSITORY, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("cubby needs Linux on x86-64 or AArch64")

    def package(self):
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.system_libs = ["pthread"]
        self.cpp_info.set_property("cmake_file_name", "cubby")
        self.cpp_info.set_property("cmake_target_name", "cubby::cubby")
        self.cpp_info.set_property("pkg_config_name", "cubby")
