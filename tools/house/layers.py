# SPDX-License-Identifier: Apache-2.0
# Layers: an include goes down only, and no engine includes another one. The platform seam: conditional code,
# intrinsics, std::atomic and system calls stay below it. The library includes nothing but itself and the standard.
import posixpath
import re

from .tree import Finding

LIBRARY = "include/cubby/"
PLATFORM = LIBRARY + "detail/platform/"
SUPPORT = "tests/support/"
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')
DIRECTIVE = re.compile(r"^\s*#\s*(\w+)\s*(\w*)")

STANDARD = set(
    "algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits "
    "clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio "
    "cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream "
    "functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory "
    "memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator "
    "semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view "
    "strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility "
    "valarray variant vector version".split()
)

SEAM = [
    (re.compile(r"\bstd::atomic\w*"), "std::atomic"),
    (re.compile(r"\b(?:std::)?memory_order\w*"), "std::memory_order"),
    (re.compile(r"\b__builtin_\w+"), "a compiler builtin"),
    (re.compile(r"\b(?:__sync_|__atomic_)\w+"), "a compiler builtin"),
    (re.compile(r"\b_mm\d*_\w+"), "an intrinsic"),
    (re.compile(r"\b(?:asm|__asm__|__asm)\b"), "inline assembly"),
    (re.compile(r"\b__attribute__\b"), "a compiler attribute"),
    (re.compile(r"\bgnu::always_inline\b"), "inlining that is forced where nothing is optimised, too,"),
    (re.compile(r"\b__int128\b"), "a compiler's own type"),
    (re.compile(r"(?<![\w.>])(?:::)?(?:syscall|mmap|munmap|madvise)\s*\("), "a system call"),
]


def includes(source):
    for number, line in enumerate(source.code_lines, 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) or match.group(2), match.group(2) is not None


def library_target(tree, source, name, quoted):
    """The path in the tree of an included library header, or None for a header of another project."""
    if name.startswith("cubby/"):
        return "include/" + name
    if quoted:
        near = posixpath.normpath(posixpath.join(posixpath.dirname(source.path), name))
        if near.startswith(LIBRARY) or tree.exists(near):
            return near
    return None


LAYERS = ["platform", "core", "engines", "api"]  # folders of detail/, the lowest first; public headers stand above them
LAYER_NAMES = [*LAYERS, "a public header"]
ENGINES = LAYERS.index("engines")
# A variant of a paper's engine, and the engine on which it is built.
BUILT_ON = {"partitioned": "dramhit"}


def place(path):
    """The layer of a library header, None if it is in no layer; and its engine, where it is one's."""
    parts = path[len(LIBRARY):].split("/")
    if len(parts) == 1:
        return len(LAYERS), ""
    if parts[0] != "detail" or parts[1] not in LAYERS or len(parts) < 3:
        return None, ""
    layer = LAYERS.index(parts[1])
    return layer, parts[2] if layer == ENGINES else ""


def check_library_includes(tree):
    for source in tree.cpp(LIBRARY):
        layer, engine = place(source.path)
        if layer is None:
            yield Finding("layers", source.path, 1, f"belongs into {LIBRARY} if users include it, else into a layer of detail/")
            continue
        for number, name, quoted in includes(source):
            target = library_target(tree, source, name, quoted)
            if target is None:
                if name not in STANDARD and layer > 0:
                    yield Finding("dependency", source.path, number, f"<{name}> is not a standard C++ header")
                continue
            if not target.startswith(LIBRARY) or not tree.exists(target):
                yield Finding("layers", source.path, number, f"{name} is no header of the library")
                continue
            yield from judge_include(source, number, name, (layer, engine), place(target))


def judge_include(source, number, name, here, there):
    (layer, engine), (to_layer, to_engine) = here, there
    if to_layer is not None and to_layer > layer:
        text = f"{LAYER_NAMES[layer]} includes {name}, which stands higher ({LAYER_NAMES[to_layer]})"
        yield Finding("layers", source.path, number, text)
    elif layer == to_layer == ENGINES and to_engine not in (engine, BUILT_ON.get(engine)):
        yield Finding("engines", source.path, number, f"the engine {engine} includes the engine {to_engine}")


def is_for_users(target):
    return "/" not in target[len(LIBRARY):]


def check_user_includes(tree):
    for folder in ("apps/", "bench/", "examples/", "tests/consumer/"):
        for source in tree.cpp(folder):
            for number, name, quoted in includes(source):
                target = library_target(tree, source, name, quoted)
                if target is None or not target.startswith(LIBRARY):
                    continue
                if not tree.exists(target):
                    yield Finding("layers", source.path, number, f"{name} is no header of the library")
                elif not is_for_users(target):
                    yield Finding("layers", source.path, number, f"{name} is no public header")


def check_support(tree):
    """What all tests share depends on no engine: of the library it includes the contract and what lies below it."""
    for source in tree.cpp(SUPPORT):
        for number, name, quoted in includes(source):
            target = library_target(tree, source, name, quoted)
            if target is not None and (not target.startswith(LIBRARY) or place(target)[0] not in (0, 1)):
                yield Finding("layers", source.path, number, f"tests/support includes {name}, which stands above core")
            elif target is None and quoted and not name.startswith("support/"):
                yield Finding("layers", source.path, number, f"tests/support includes {name}, which is not part of it")


def check_platform_seam(tree):
    for source in tree.cpp(LIBRARY):
        if source.path.startswith(PLATFORM):
            continue
        for number, line in enumerate(source.code_lines, 1):
            directive = DIRECTIVE.match(line)
            if directive and directive.groups() != ("pragma", "once") and directive.group(1) != "include":
                yield Finding("platform", source.path, number, f"#{directive.group(1)} outside platform/")
            if re.match(r"^\s*#\s*include\s*<atomic>", line):
                yield Finding("platform", source.path, number, "<atomic> outside platform/")
            for pattern, what in SEAM:
                if pattern.search(line):
                    yield Finding("platform", source.path, number, f"{what} outside platform/")
