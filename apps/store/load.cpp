// SPDX-License-Identifier: Apache-2.0
// Records are added one by one. Every so often the table is synced, and then the mark says how far that was.
#include "load.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/core.h>
#include <new>
#include <string_view>
#include <unistd.h>
#include <unordered_set>
#include <utility>

#include "../console.hpp"
#include "counted.hpp"
#include "error.hpp"
#include "input.hpp"
#include "load_mark.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace store {

namespace {

// Records between two marks, at most, where a key that is there is an error. A later run cannot tell whether it was there before, or comes from a record
// behind the last mark, so there should be few such records.
constexpr std::uint64_t most_unmarked = 65'536;

class loader {
public:
  explicit loader(const load_request& request)
      : request_(request), to_(request.table, table::access::write), marks_(request.table) {
    mark_.request =
        fmt::format("{}, {}", request.format ? *request.format == record_format::tsv ? "tsv" : "jsonl" : "auto",
                    request.on_duplicate == duplicate_policy::replace ? "replace"
                    : request.on_duplicate == duplicate_policy::keep  ? "keep"
                                                                      : "fail");
  }

  void run() {
    const load_mark earlier = find_mark();
    resuming_ = !earlier.places.empty();
    if (!resuming_) save();
    try {
      for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
        const bool was_opened = i < earlier.places.size();
        resuming_ = was_opened;
        load_input(request_.inputs[i], was_opened ? &earlier.places[i] : nullptr, i + 1 < earlier.places.size());
      }
    } catch (const std::exception& e) {
      stop(e);
    }
    shown_.finish();
    to_.sync();
    marks_.remove();
    to_.close();
    if (!request_.quiet) tell();
  }

private:
  // What an earlier run has left, if this one can go on from there.
  load_mark find_mark() {
    marks_.clean();
    load_mark found;
    if (!marks_.read(found)) return {};
    const char* why = why_not(found);
    if (why != nullptr) {
      console::say("cubby store load: {}: {}; this load begins at the first record\n", marks_.path(), why);
      return {};
    }
    mark_.records = found.records;
    unsure_ = request_.on_duplicate == duplicate_policy::fail ? most_unmarked : 0;
    console::say("cubby store load: {}: resumes a load that was cut short, behind its first {}\n", to_.path(),
                 counted(found.records, "record", "records"));
    return found;
  }

  const char* why_not(const load_mark& found) const {
    const table_identity now = to_.identity();
    if (found.of.file != now.file) return "of a load into another table";
    if (found.of.sequence > now.sequence) return "of a load into a later state of this table";
    if (found.request != mark_.request) return "of a load with other flags";
    if (found.places.size() > request_.inputs.size()) return "of a load of other inputs";
    for (std::size_t i = 0; i < found.places.size(); ++i)
      if (input::identity_of(request_.inputs[i]) != found.places[i].file)
        return "of a load of other inputs, or they have changed since";
    return nullptr;
  }

  void load_input(const std::string& path, const input_place* earlier, bool was_ended) {
    if (was_ended && !earlier->file.empty()) {
      mark_.places.push_back(*earlier);
      return;
    }
    input from(path);
    mark_.places.push_back({from.identity(), {}});
    const record_format format =
        request_.format.value_or(from.first() == '{' ? record_format::jsonl : record_format::tsv);
    if (earlier != nullptr) go_on(from, *earlier, was_ended);
    resuming_ = was_ended;
    std::string_view line;
    while (from.next(line)) {
      if (!line.empty()) load_line(from, line, format);
      mark_.places.back().at = from.at();
      if (++unmarked_ % 16 == 0) pause(from);
    }
    if (from.ends_within_line())
      console::say(
          "cubby store load: warning: {}: the last line has no end; if the input is truncated, so is the value\n",
          from.name());
  }

  // A stream has to be read again up to the place, because it could be another one.
  void go_on(input& from, const input_place& earlier, bool was_ended) {
    std::string_view line;
    if (!from.go_to(earlier) || (was_ended && from.next(line)))
      throw refused(fmt::format("{}: not the input of the load that was cut short; give that one, or remove {} to load "
                                "this one from its beginning",
                                from.name(), marks_.path()));
    mark_.places.back() = earlier;
  }

  void load_line(const input& from, std::string_view line, record_format format) {
    const std::string wrong = format == record_format::tsv ? read_tsv(line, now_) : read_json(line, now_);
    const auto refuse = [&](const std::string& why) {
      throw refused(fmt::format("{}: line {}: {}", from.name(), from.at().line, why));
    };
    if (!wrong.empty()) refuse(wrong);
    const bool is_new = request_.on_duplicate == duplicate_policy::replace ? to_.put(now_.key, now_.value)
                                                                           : to_.add(now_.key, now_.value);
    if (request_.on_duplicate == duplicate_policy::fail && !may_be_here(is_new))
      refuse(fmt::format("the key '{}' is there already; --on-duplicate replace or keep would go on", shown(now_.key)));
    ++(is_new ? new_ : old_);
    ++mark_.records;
  }

  // Whether the record is new, or may be one that the killed run has loaded behind its last mark.
  bool may_be_here(bool is_new) {
    if (unsure_ == 0) return is_new;
    const bool once = seen_.insert(now_.key).second;
    if (--unsure_ == 0) seen_.clear();
    return once && (is_new || has_this_value());
  }
  bool has_this_value() const {
    bool same = false;
    to_.get(now_.key, [&](std::string_view value) { same = value == now_.value; });
    return same;
  }

  void pause(const input& from) {
    shown_.show(from.name(), mark_.records, from.bytes_read(), from.bytes());
    const auto now = std::chrono::steady_clock::now();
    const bool is_due = request_.on_duplicate == duplicate_policy::fail && unmarked_ >= most_unmarked;
    if (now - last_ >= request_.sync_every || is_due) save();
  }

  void save() {
    mark_.of = to_.identity(); // before the sync, which makes it durable
    to_.sync();
    marks_.write(mark_);
    unmarked_ = 0;
    last_ = std::chrono::steady_clock::now();
  }

  // False: the disk takes nothing any more. An older mark is there, and right; the first failure is the one to tell.
  bool is_saved() {
    try {
      save();
      return true;
    } catch (const refused&) {
      return false;
    }
  }

  // There is nothing to go on with.
  void forget() const {
    try {
      marks_.remove();
    } catch (const refused&) { // NOLINT(bugprone-empty-catch): the failure before it is the one to tell
    }
  }

  // What was loaded stays, and a later run can go on with the line that was refused.
  [[noreturn]] void stop(const std::exception& why) {
    shown_.finish();
    const bool is_memory = dynamic_cast<const std::bad_alloc*>(&why) != nullptr;
    std::string text = is_memory ? "memory ran out, perhaps for a line that is too long" : why.what();
    if (resuming_) throw refused(text); // the older mark says more
    if (mark_.records == 0) forget();
    else if (is_saved())
      text += fmt::format("; the {} before it {} in the table", counted(mark_.records, "record", "records"),
                          mark_.records == 1 ? "is" : "are");
    throw refused(text);
  }

  void tell() const {
    console::say("{}: {}: {} new, {} {}, in {:.1f} s\n", to_.path(), counted(mark_.records, "record", "records"), new_,
                 old_, request_.on_duplicate == duplicate_policy::replace ? "replaced" : "there before",
                 shown_.seconds());
  }

  const load_request& request_;
  table to_;
  load_mark_file marks_;
  load_mark mark_;
  progress shown_;
  record now_;
  std::uint64_t new_ = 0; // of this run
  std::uint64_t old_ = 0;
  std::uint64_t unmarked_ = 0; // lines
  bool resuming_ = false;      // not yet where the killed run was
  std::uint64_t unsure_ = 0;   // records that a killed run may have loaded, with `fail`
  std::unordered_set<std::string> seen_;
  std::chrono::steady_clock::time_point last_;
};

} // namespace

void load(const load_request& request) {
  if (std::count(request.inputs.begin(), request.inputs.end(), "-") > 1)
    throw refused("- is given twice; standard input can be read once");
  for (const std::string& path : request.inputs) // before the first is loaded
    if (path != "-") input::look_at(path);
  loader(request).run();
}

} // namespace store
