// SPDX-License-Identifier: Apache-2.0
// Records are added one by one. Every so often the table is synced, and then the mark says how far that was. The table has a word of the mark, so
// that a mark counts for no older copy of the table (load_mark.hpp).
#include "load.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/core.h>
#include <new>
#include <optional>
#include <random>
#include <string_view>
#include <unistd.h>
#include <unordered_set>
#include <utility>

#include "../console.hpp"
#include "../counted.hpp"
#include "error.hpp"
#include "input.hpp"
#include "load_mark.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace store {

using console::counted;

namespace {

// Lines between two marks, at most, where a key that is there is an error. A later run cannot tell whether it was there before, or comes from a record
// behind the last mark, so there should be few such records.
constexpr std::uint64_t most_unmarked = 65'536;

// Not 0.
std::uint64_t new_word() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random() | 1;
}

class loader {
public:
  explicit loader(const load_request& request)
      : request_(request), to_(request.table, table::access::write), marks_(request.table) {
    mark_.request =
        fmt::format("{}, {}", request.format ? *request.format == record_format::tsv ? "tsv" : "jsonl" : "auto",
                    request.on_duplicate == duplicate_policy::replace ? "replace"
                    : request.on_duplicate == duplicate_policy::keep  ? "keep"
                                                                      : "fail");
    mark_.next = new_word();
  }

  void run() {
    const std::optional<load_mark> earlier = find_mark();
    const std::size_t opened = earlier ? earlier->places.size() : 0;
    resuming_ = opened != 0;
    if (!earlier) save(false);
    else if (!resuming_) write_mark(false);
    try {
      for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
        resuming_ = i < opened;
        load_input(request_.inputs[i], resuming_ ? &earlier->places[i] : nullptr, i + 1 < opened);
      }
    } catch (const std::exception& e) {
      stop(e);
    }
    shown_.finish();
    to_.close(); // it stays locked, so nobody else has a mark here
    marks_.remove();
    if (!request_.quiet) tell();
  }

private:
  // What an earlier run has left, if this one can go on from there.
  std::optional<load_mark> find_mark() {
    marks_.clean();
    load_mark found;
    if (!marks_.read(found)) return std::nullopt;
    const char* why = why_not(found);
    if (why != nullptr) {
      console::say("cubby store load: {}: {}; this load begins at the first record\n", marks_.path(), why);
      return std::nullopt;
    }
    mark_.records = found.records;
    mark_.next = found.next;
    unsure_ = request_.on_duplicate == duplicate_policy::fail && !found.is_exact;
    if (found.records == 0)
      console::say("cubby store load: {}: a load was cut short before its first sync; this one begins at the first "
                   "record\n",
                   to_.path());
    else
      console::say("cubby store load: {}: resumes a load that was cut short, behind its first {}\n", to_.path(),
                   counted(found.records, "record", "records"));
    return found;
  }

  const char* why_not(const load_mark& found) const {
    const table_identity now = to_.identity();
    if (found.note == 0) return "of an older version of cubby";
    if (found.table != now.file) return "of a load into another table";
    if (found.note != now.note && found.next != now.note) return "of a load into another copy of this table";
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
    mark_.places.push_back({from.identity(), from.at()});
    const record_format format =
        request_.format.value_or(from.first() == '{' ? record_format::jsonl : record_format::tsv);
    if (earlier != nullptr) go_on(from, *earlier, was_ended);
    if (std::exchange(resuming_, was_ended) && !resuming_) write_mark(false);
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
    if (!unsure_) return is_new;
    return seen_.insert(now_.key).second && (is_new || has_this_value());
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
    if (now - last_ < request_.sync_every && !is_due) return;
    if (unsure_ && !is_due) sync();
    else save(false);
  }

  void sync() {
    to_.sync();
    last_ = std::chrono::steady_clock::now();
  }
  // While records may be those of a killed run, its mark stays: only from there on all keys are seen that are twice in the input.
  void save(bool is_exact) {
    to_.set_note(mark_.next);
    sync();
    write_mark(is_exact);
    unmarked_ = 0;
    unsure_ = false;
    seen_.clear();
  }
  // With a new word for the next sync: none of a run that was killed comes a second time, when more is in the table.
  void write_mark(bool is_exact) {
    load_mark now = mark_;
    const table_identity of = to_.identity();
    now.table = of.file;
    now.note = of.note;
    now.next = new_word();
    now.is_exact = is_exact;
    marks_.write(now);
    mark_.next = now.next; // not before: the table gets no word that is in no mark
  }

  // False: the disk takes nothing any more. An older mark is there, and right; the first failure is the one to tell.
  bool is_saved(bool is_exact) {
    try {
      if (unsure_) sync();
      else save(is_exact);
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
    if (mark_.records == 0 && !unsure_) forget();
    else if (is_saved(!is_memory) && mark_.records != 0) // it may have run out behind a change
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
  std::uint64_t unmarked_ = 0;           // lines
  bool resuming_ = false;                // not yet where the killed run was
  bool unsure_ = false;                  // a killed run may have loaded these records, with `fail`
  std::unordered_set<std::string> seen_; // while unsure
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
