#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Each rule of the house reads a small tree that breaks it, and must report that; over a good tree it must report nothing.
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check_house  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HASH_SPDX = "# SPDX-License-Identifier: Apache-2.0\n"
MD_SPDX = "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
UNFINISHED = "TO" + "DO"


def header(*lines):
    return SPDX + "/// @file\n#pragma once\n" + "\n".join(lines) + "\n"


class House(unittest.TestCase):
    def findings(self, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                target = Path(root) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
            return check_house.check(root)[0]

    def catches(self, rule, files, count=1):
        found = self.findings(files)
        self.assertEqual([f.rule for f in found], [rule] * count, "\n".join(map(str, found)))
        return found

    def passes(self, files):
        found = self.findings(files)
        self.assertEqual(found, [], "\n".join(map(str, found)))


class Names(House):
    PAGE = {"docs/names.md": MD_SPDX + "| `map` | `map.hpp` | the map |\n"}

    def test_internals_are_in_detail(self):
        self.passes(self.PAGE | {
            "include/cubby/map.hpp": header("namespace cubby::inline v0 {", "", "namespace detail {", "", "struct inner {};", "",
                                            "} // namespace detail", "", "template <class K> class map {", "  int f() {", "  }", "};",
                                            "", "} // namespace cubby::inline v0"),
        })

    def test_public_name_that_the_page_does_not_know(self):
        for line in ("struct extra {};", "enum class extra { a };", "template <class T> using extra = T;", "inline int extra(int a) {",
                     "inline constexpr int extra = 1;", "template <class T> concept extra = true;", "class [[nodiscard]] extra;"):
            self.catches("names", self.PAGE | {
                "include/cubby/map.hpp": header("namespace cubby::inline v0 {", "", "class map;", line, "",
                                                "} // namespace cubby::inline v0"),
            })

    def test_public_header_without_a_comment_for_a_generator(self):
        for text in (SPDX + "#pragma once\n", SPDX + "// The map.\n#pragma once\n"):
            self.catches("names", {"include/cubby/map.hpp": text})
            self.passes({"include/cubby/detail/core/map.hpp": text})

    def test_name_of_the_page_that_no_header_declares(self):
        self.catches("names", self.PAGE)


class Layers(House):
    def test_down_is_allowed(self):
        self.passes({
            "include/cubby/detail/platform/sync.hpp": header("#include <atomic>", "#include <sys/mman.h>", "#if 1", "#endif"),
            "include/cubby/detail/core/hash.hpp": header("#include <cubby/detail/platform/sync.hpp>", "#include <cstdint>"),
            "include/cubby/detail/core/contract.hpp": header("#include <cubby/detail/core/hash.hpp>"),
            "include/cubby/detail/engines/dlht/lifecycle.hpp": header("#include <cubby/detail/core/contract.hpp>"),
            "include/cubby/detail/engines/dlht/grow.hpp": header(),
            "include/cubby/detail/engines/dlht/dlht.hpp": header('#include "lifecycle.hpp"'),
            "include/cubby/detail/engines/dlht/README.md": MD_SPDX + "# DLHT\n",
            "include/cubby/map.hpp": header("#include <cubby/detail/engines/dlht/dlht.hpp>"),
            "apps/main.cpp": SPDX + "#include <cubby/map.hpp>\n#include <fmt/core.h>\n",
            "tests/t.cpp": SPDX + "#include <cubby/detail/engines/dlht/lifecycle.hpp>\n",
        })

    def test_platform_may_not_see_core(self):
        self.catches("layers", {
            "include/cubby/detail/platform/sync.hpp": header("#include <cubby/detail/core/hash.hpp>"),
            "include/cubby/detail/core/hash.hpp": header(),
        })

    def test_core_may_not_see_an_engine(self):
        self.catches("layers", {
            "include/cubby/detail/core/hash.hpp": header('#include "../engines/dlht/layout.hpp"'),
            "include/cubby/detail/engines/dlht/layout.hpp": header(),
        })

    def test_engine_may_not_see_a_public_header(self):
        self.catches("layers", {
            "include/cubby/map.hpp": header(),
            "include/cubby/detail/engines/dlht/layout.hpp": header("#include <cubby/map.hpp>"),
        })

    def test_engine_may_not_include_another(self):
        self.catches("engines", {
            "include/cubby/detail/engines/dlht/find.hpp": header("#include <cubby/detail/engines/reference/lock.hpp>"),
            "include/cubby/detail/engines/reference/lock.hpp": header(),
        })

    def test_missing_header(self):
        self.catches("layers", {"include/cubby/map.hpp": header("#include <cubby/nowhere.hpp>")})

    def test_library_has_no_dependency(self):
        self.catches("dependency", {"include/cubby/detail/core/hash.hpp": header("#include <fmt/core.h>")})

    def test_programs_use_public_headers(self):
        files = {"include/cubby/detail/core/hash.hpp": header()}
        for folder in ("apps", "bench", "examples", "tests/consumer"):
            files[f"{folder}/main.cpp"] = SPDX + "#include <cubby/detail/core/hash.hpp>\n"
        self.catches("layers", files, count=4)

    def test_programs_may_not_include_an_engine_s_own_headers(self):
        files = {"include/cubby/dlht.hpp": header(), "include/cubby/detail/engines/dlht/dlht.hpp": header()}
        self.passes({**files, "apps/main.cpp": SPDX + "#include <cubby/dlht.hpp>\n"})
        self.catches("layers", {**files, "apps/main.cpp": SPDX + "#include <cubby/detail/engines/dlht/dlht.hpp>\n"})

    def test_variant_may_include_the_engine_that_it_is_built_on(self):
        self.passes({
            "include/cubby/detail/engines/partitioned/partition.hpp": header("#include <cubby/detail/engines/dramhit/find.hpp>"),
            "include/cubby/detail/engines/dramhit/find.hpp": header(),
        })

    def test_header_outside_the_layers(self):
        self.catches("layers", {"include/cubby/other/x.hpp": header()})


class Platform(House):
    def test_everything_below_the_seam_is_caught_above_it(self):
        lines = [
            "#ifdef X", "#endif", "#define Y 1", "#include <atomic>", "std::atomic<int> a;", "int b = __builtin_ctz(1);",
            'void c() { asm volatile("nop"); }', "auto d = _mm_setzero_si128();", "unsigned __int128 e;",
            "auto f = std::memory_order_acquire;", "void g() { syscall(1); }",
            "[[gnu::always_inline]] inline void h() {}",
        ]
        self.catches("platform", {"include/cubby/detail/core/x.hpp": header(*lines)}, count=len(lines))

    def test_comments_and_strings_are_not_code(self):
        text = header("// std::atomic and #if", "/* asm", "#define X", "*/", 'inline const char* s = "__builtin_x";')
        self.passes({"include/cubby/detail/core/x.hpp": text})


class Sizes(House):
    def function(self, lines, head="inline void f() {"):
        return [head, *["  g();"] * (lines - 2), "}"]

    def test_front_page_of_two_screens(self):
        page = MD_SPDX + "# Top\n"
        rest = 80 - page.count("\n")
        self.passes({"README.md": page + "x.\n" * rest})
        self.catches("size", {"README.md": page + "x.\n" * (rest + 1)})
        self.passes({"README.md": page + "x" * 120 + "\n"})
        self.catches("size", {"README.md": page + "x" * 121 + "\n"})

    def test_engine_that_is_too_large_says_why(self):
        half = header() + "// x.\n" * 390
        folder = "include/cubby/detail/engines/dlht/"
        files = {folder + name: half for name in ("a.hpp", "lifecycle.hpp", "grow.hpp")}
        self.passes({**files, folder + "README.md": MD_SPDX + "# DLHT\n"})
        files[folder + "d.hpp"] = half
        self.catches("size", {**files, folder + "README.md": MD_SPDX + "# DLHT\nNot a word about its size.\n"})
        self.passes({**files, folder + "README.md": MD_SPDX + "# DLHT\n\n## Size\nIt does much.\n"})

    def test_engine_of_several_headers_has_the_files_of_every_engine(self):
        folder = "include/cubby/detail/engines/dlht/"
        self.passes({folder + "dlht.hpp": header()})
        files = {folder + "dlht.hpp": header(), folder + "find.hpp": header(), folder + "README.md": MD_SPDX + "# DLHT\n"}
        usual = {folder + "lifecycle.hpp": header(), folder + "grow.hpp": header()}
        for missing in usual:
            self.catches(Path(missing).stem, {**files, **{name: text for name, text in usual.items() if name != missing}})
        self.catches("readme", {folder + "dlht.hpp": header(), **usual})
        self.passes({**files, **usual})

    def test_long_file(self):
        self.catches("size", {"tests/t.cpp": SPDX + "int x;\n" * 400})
        self.passes({"tests/t.cpp": SPDX + "int x;\n" * 399})

    def test_long_function(self):
        self.passes({"tests/t.cpp": SPDX + "\n".join(self.function(40))})
        self.catches("size", {"tests/t.cpp": SPDX + "\n".join(self.function(41))})

    def test_long_member_template(self):
        body = self.function(41, "template <class T> requires std::is_class_v<T> bool f(T&& t) noexcept(true) {")
        self.catches("size", {"tests/t.cpp": SPDX + "\n".join(["namespace a {", "struct b {", *body, "};", "}"])})

    def test_long_constructor_behind_an_initialiser_list(self):
        body = self.function(41, "a(int x) : b{x}, c{x} {")
        self.catches("size", {"tests/t.cpp": SPDX + "\n".join(["struct a {", *body, "};"])})

    def test_long_test_case(self):
        self.catches("size", {"tests/t.cpp": SPDX + "\n".join(self.function(41, "TEST(a, b) {"))})

    def test_long_type_and_list_are_no_functions(self):
        self.passes({"tests/t.cpp": SPDX + "\n".join([
            "struct s : base<decltype(f())> {", *["  int a;"] * 60, "};",
            "constexpr int table[] = {", *["  1,"] * 60, "};",
            "enum class e {", *["  a,"] * 60, "};",
        ])})

    def test_digit_separators_do_not_hide_code(self):
        text = ["int a = 1'000'000;", *self.function(41)]
        self.catches("size", {"tests/t.cpp": SPDX + "\n".join(text)})

    def test_long_python_function(self):
        self.catches("size", {"tools/t.py": HASH_SPDX + "def f():\n" + "    g()\n" * 40})


class Orders(House):
    def tree(self, *lines):
        return {"include/cubby/detail/core/x.hpp": header(*lines)}

    def test_both_ends(self):
        self.passes(self.tree(
            "// [publish] release: the record is whole; pairs", "// with [probe]", "a.store(1, sync::release);",
            "// [probe] acquire: pairs with [publish]", "while (b.load(sync::acquire)", "       != 1) {}",
            "// relaxed: only a counter", "c.load(sync::relaxed);",
        ))

    def test_order_on_failure(self):
        swap = ["// [push] release: pairs with [pop]", "// acquire on failure: the new head is read; pairs with [push]",
                "while (!a.compare_exchange(x, y, sync::release, sync::acquire)) {}",
                "// [pop] acquire: pairs with [push]"]
        self.passes(self.tree(*swap))
        self.catches("orders", self.tree(*[line.replace("pairs with [push]", "pairs with [pull]") for line in swap]), 2)
        self.catches("orders", self.tree(swap[0], *swap[2:]))

    def test_partner_that_does_not_exist(self):
        self.catches("orders", self.tree("// [publish] release: pairs with [probe]", "a.store(1, sync::release);"))

    def test_tag_without_partner(self):
        self.catches("orders", self.tree("// [publish] release: of a word", "a.store(1, sync::release);"))
        self.catches("orders", self.tree("// [publish] release", "a.store(1, sync::release);"))

    def test_the_page_argues_every_tag_and_no_other(self):
        pair = self.tree("// [publish] release: pairs with [probe]", "// [probe] acquire: pairs with [publish]")
        for text, count in (("`[publish]` and `[probe]`", 0), ("`[publish]`", 1), ("[publish], [probe]", 2),
                            ("`[publish]`, `[probe]`, `[gone]`", 1)):
            files = {**pair, "docs/memory-order.md": MD_SPDX + text + "\n"}
            self.catches("orders", files, count) if count else self.passes(files)

    def test_two_releases_do_not_pair(self):
        self.catches("orders", self.tree("// [a1] release: pairs with [b]", "// [b] release: pairs with [a1]"), count=2)

    def test_strong_order_without_tag(self):
        for order in ("acquire", "release", "acq_rel", "seq_cst"):
            self.catches("orders", self.tree("// some words", f"a.load(sync::{order});"))

    def test_tag_too_far_above(self):
        lines = ["// [a1] release: pairs with [b]", "int x;", "int y;", "a.store(1, sync::release);",
                 "// [b] acquire: pairs with [a1]", "a.load(sync::acquire);"]
        self.catches("orders", self.tree(*lines))

    def test_tag_of_another_order(self):
        lines = ["// [a1] release: pairs with [b]", "a.load(sync::acquire);", "// [b] acquire: pairs with [a1]"]
        self.catches("orders", self.tree(*lines[:2], "", "", "", "", lines[2]))

    def test_relaxed_without_a_word(self):
        self.catches("orders", self.tree("int x;", "", "a.load(sync::relaxed);"))

    def test_platform_defines_the_orders(self):
        self.passes({"include/cubby/detail/platform/sync.hpp": header("f(sync::acquire);", "f(sync::relaxed);")})


class Words(House):
    def test_licence_line(self):
        files = {"a.cpp": "int x;\n", "b.py": "x = 1\n", "CMakeLists.txt": "x()\n", "Makefile": "x:\n", "c.md": "# c\n"}
        self.catches("licence", files, count=len(files))
        self.passes({"a.json": "{}", "LICENSE": "text"})

    def test_unfinished(self):
        self.catches("words", {"a.cpp": SPDX + f"// {UNFINISHED}: later\n"})

    def test_words_that_the_field_has_others_for(self):
        self.catches("words", {"include/cubby/detail/core/x.hpp": header("// The seat of a thread.", "int chores_left;")}, count=2)
        self.catches("words", {"apps/x.cpp": SPDX + "int crew;\n"})
        self.catches("words", {"docs/a.md": MD_SPDX + "It walked over seats and buried napping readers.\n"}, count=4)
        self.passes({"packaging/x.cpp": SPDX + "int crew;\n", "tools/x.py": HASH_SPDX + "ast.walk(x)\n"})

    def test_long_sentences(self):
        short, long = "word " * 31 + "end. ", "word " * 33 + "end. "
        comment = [f"// {long[:80]}", f"// {long[80:]}", "int x;"]
        self.catches("sentences", {"docs/a.md": MD_SPDX + long + "\n"})
        self.catches("sentences", {"docs/a.md": MD_SPDX + "- " + long[:80] + "\n  " + long[80:] + "\n| " + long + "|\n"}, count=2)
        self.catches("sentences", {"apps/x.cpp": SPDX + "\n".join(comment) + "\n"})
        self.catches("sentences", {"apps/x.cpp": SPDX + f"int x; // {long}\n", "x.py": HASH_SPDX + f"# {long}\n"}, count=2)
        self.passes({"docs/a.md": MD_SPDX + short * 3 + "\n- " + short + "\n- " + short + "\n", "apps/x.cpp": SPDX + f"// {short}\n"})
        self.passes({"docs/a.md": MD_SPDX + "A figure<!-- " + "word " * 40 + "--> has a source in a comment.\n"})

    def test_what_is_no_prose_may_be_long(self):
        long = "word " * 40
        links = ", ".join(["[a](https://example.org/x) is one of the links of a long list"] * 9)
        self.passes({"docs/a.md": MD_SPDX + f"```\n{long}\n```\n`{long}`\n{links}\n",
                     "apps/x.cpp": SPDX + f"// state  | meaning  | {long}\nint x;\n", "a.json": long})

    def test_inputs_of_programs_are_not_text(self):
        self.passes({"fuzz/corpus/api/0a1b": UNFINISHED})

    def test_empty_names(self):
        self.catches("names", {"include/cubby/detail/core/hash_util.hpp": header()})
        self.catches("names", {"include/cubby/detail/core/misc/hash.hpp": header()})
        self.catches("names", {"include/cubby/detail/core/TableMgr.hpp": header()})
        self.catches("names", {"include/cubby/detail/core/slot_t.hpp": header()})
        self.passes({"include/cubby/detail/core/word16.hpp": header()})

    def test_links(self):
        good = MD_SPDX + "# One thing\n[a](b.md) [c](#one-thing) [d](https://example.org/x) [e](../README.md#top)\n"
        files = {"docs/a.md": good, "docs/b.md": MD_SPDX, "README.md": MD_SPDX + "# Top\n"}
        self.passes(files)
        self.catches("links", {"docs/a.md": MD_SPDX + "[a](nowhere.md)\n"})
        self.catches("links", {"README.md": MD_SPDX + "# Top\n[a](#bottom)\n"})

    def test_one_version(self):
        files = {"CMakeLists.txt": HASH_SPDX + "project(cubby VERSION 1.2.3)\n", "CHANGELOG.md": MD_SPDX + "## [1.2.2]\n"}
        self.catches("version", files)
        files["CHANGELOG.md"] = MD_SPDX + "## [1.2.3]\n"
        macros = "#define CUBBY_VERSION_MAJOR 1\n#define CUBBY_VERSION_MINOR 2\n#define CUBBY_VERSION_PATCH {}\n"
        files["include/cubby/detail/platform/version.hpp"] = header(macros.format(3))
        self.passes(files)
        self.catches("version", {**files, "include/cubby/detail/platform/version.hpp": header(macros.format(4))})
        self.catches("version", {**files, "packaging/debian/changelog": "cubby (1.2.2-1) unstable; urgency=medium\n"})

    def test_explained_packages(self):
        files = {"tools/install_packages.sh": HASH_SPDX + 'demo_packages="g++ cmake"\n',
                 "docs/dependencies.md": MD_SPDX + "`cmake`\n"}
        self.catches("dependencies", files)


class Evidence(House):
    LIST = SPDX + "#define EACH(X) \\\n  X(dlht, records) \\\n  X(reference, records)\n"

    def test_support_stands_below_the_engines(self):
        library = {
            "include/cubby/detail/platform/sync.hpp": header(),
            "include/cubby/detail/core/contract.hpp": header(),
            "include/cubby/map.hpp": header(),
            "tests/engines.hpp": header(),
        }
        good = SPDX + '#include <cubby/detail/core/contract.hpp>\n#include "support/random.hpp"\n'
        self.passes({**library, "tests/support/act.hpp": good})
        self.catches("layers", {**library, "tests/support/act.hpp": SPDX + "#include <cubby/map.hpp>\n"})
        self.catches("layers", {**library, "tests/support/act.hpp": SPDX + '#include "engines.hpp"\n'})

    def test_pages_name_every_engine(self):
        pages = {"README.md": MD_SPDX + "`dlht` `reference`\n", "tests/engine_list.hpp": self.LIST}
        self.passes({**pages, "docs/guarantees.md": MD_SPDX + "`reference`, `dlht`\n"})
        self.catches("engines", {**pages, "docs/guarantees.md": MD_SPDX + "`dlht`, not the reference\n"})
        self.catches("engines", {**pages, "README.md": MD_SPDX + "nothing\n"}, count=2)

    def test_the_contract_names_no_engine(self):
        pages = {"README.md": MD_SPDX + "`dlht` `reference`\n", "tests/engine_list.hpp": self.LIST}
        self.passes({**pages, "include/cubby/detail/core/contract/x.hpp": header("// A reference to DLHT, section 3.")})
        for line in ("// Only in `dlht`.", "using other = cubby::reference;"):
            self.catches("engines", {**pages, "include/cubby/detail/core/contract/x.hpp": header(line)})

    def test_the_matrix_names_every_test(self):
        page = MD_SPDX + "[find](unit/find.cpp), [all](compile/)\n"
        tree = {"tests/unit/find.cpp": SPDX, "tests/compile/one.cpp": SPDX}
        self.passes({**tree, "tests/README.md": page})
        self.catches("matrix", {**tree, "tests/README.md": page, "tests/unit/erase.cpp": SPDX})
        self.catches("links", {"tests/compile/one.cpp": SPDX, "tests/README.md": page})

    def test_cells_are_short(self):
        long = "[" + "x" * 100 + "](README.md) " + "y" * 100
        self.passes({"docs/proof.md": MD_SPDX + "| [a](" + "p" * 200 + ".md) |\n", "docs/" + "p" * 200 + ".md": MD_SPDX})
        self.catches("cells", {"docs/proof/dlht.md": MD_SPDX + f"| a | {long} |\n", "docs/proof/README.md": MD_SPDX})


if __name__ == "__main__":
    unittest.main()
