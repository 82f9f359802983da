// SPDX-License-Identifier: Apache-2.0
// What a file says as text: histogram, dump, figures, single counts.
#include "operations.hpp"

#include <array>
#include <charconv>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "error.hpp"
#include "json_text.hpp"
#include "output_file.hpp"
#include "output_place.hpp"
#include "parse.hpp"
#include "reader.hpp"
#include "super_kmers.hpp"
#include "text_parser.hpp"

namespace kmer {

namespace {

void add_number(std::string& text, std::uint64_t value) {
  std::array<char, 20> digits{};
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

template <class Word> void dump_all(const kmer_file& file, output_file& out, const count_range& range) {
  const unsigned k = file.of().k;
  std::string line(k, 'A');
  for (cursor<Word> c(file); !c.ended(); c.advance()) {
    if (!range.holds(c.at().count)) continue;
    line.resize(k);
    write_text(c.at().word, k, line.data());
    line.push_back(' ');
    add_number(line, c.at().count);
    line.push_back('\n');
    out.write(line);
  }
}

template <class Word> class asker {
public:
  asker(const kmer_file& file, output_file& out) : file_(file), finder_(file), out_(out) {}

  void ask(const std::string& text) {
    const unsigned k = file_.of().k;
    if (text.size() != k)
      refuse(text, fmt::format("has {} letters; the k-mers of {} have {}", text.size(), file_.path(), k));
    strands<Word> both(k);
    for (const char letter : text) {
      const std::uint8_t code = codes[static_cast<unsigned char>(letter)];
      if (code >= breaks) refuse(text, fmt::format("has {}; k-mers have A, C, G and T", shown(letter)));
      both.push(code);
    }
    print(both);
  }
  void ask_all(std::span<const std::uint8_t> run) {
    strands<Word> both(file_.of().k);
    for (std::size_t i = 0; i < run.size(); ++i) {
      both.push(run[i]);
      if (i + 1 >= file_.of().k) print(both);
    }
  }

private:
  [[noreturn]] static void refuse(const std::string& text, const std::string& why) {
    throw bad_input(fmt::format("'{}' {}{}", text, why, status_of(text) ? "; give a file of sequences by -s" : ""));
  }
  void print(const strands<Word>& both) {
    const Word word = file_.of().canonical ? both.canonical() : both.forward();
    out_.write(fmt::format("{} {}\n", text_of(word, file_.of().k), finder_.find(word)));
  }

  const kmer_file& file_;
  finder<Word> finder_;
  output_file& out_;
};

template <class Word> void check_order(const kmer_file& file) {
  const shape s = file.of();
  histogram counts;
  std::optional<std::pair<std::uint32_t, Word>> last;
  for (cursor<Word> c(file); !c.ended(); c.advance()) {
    const std::pair<std::uint32_t, Word> here(c.partition(), c.at().word);
    if ((last && here <= *last) || partition_of(s, c.at().word) != c.partition())
      throw bad_input(fmt::format("{}: is damaged: {} is out of order", file.path(), text_of(c.at().word, s.k)));
    if (s.canonical && c.at().word > reverse_complement(c.at().word, s.k))
      throw bad_input(fmt::format("{}: is damaged: {} is not canonical", file.path(), text_of(c.at().word, s.k)));
    last = here;
    counts.add(c.at().count);
  }
  auto row = file.counts().begin();
  counts.visit([&](std::uint32_t count, std::uint64_t kmers) {
    if (row == file.counts().end() || row->count != count || row->kmers != kmers)
      throw bad_input(fmt::format("{}: is damaged: it holds {} k-mers with count {}, and its histogram says otherwise",
                                  file.path(), kmers, count));
    ++row;
  });
}

std::string lines_of(const nlohmann::ordered_json& figures) {
  std::string text;
  for (const auto& [name, value] : figures.items())
    text +=
        fmt::format("{:<12} {}\n", name + ":", value.is_string() ? value.template get<std::string>() : value.dump());
  return text;
}

} // namespace

std::uint64_t print_histogram(const std::string& path, const std::string& output, const count_range& range) {
  const kmer_file file(path);
  output_file out(output);
  std::uint64_t above = 0;
  for (const histogram_entry& h : file.counts()) {
    if (h.count > range.high) above += h.kmers;
    else if (h.count >= range.low) out.write(fmt::format("{} {}\n", h.count, h.kmers));
  }
  out.commit();
  return above;
}

void dump(const std::string& path, const std::string& output, const count_range& range) {
  const kmer_file file(path);
  output_file out(output);
  with_word(file.of().k, [&](auto word) { dump_all<decltype(word)>(file, out, range); });
  out.commit();
}

void print_stats(const std::string& path, const std::string& json) {
  const kmer_file file(path);
  output_file shown("-");
  std::optional<output_file> told;
  if (!json.empty() && json != "-") told.emplace(json);
  with_word(file.of().k, [&](auto word) { check_order<decltype(word)>(file); });
  std::uint64_t unique = 0;
  for (const histogram_entry& h : file.counts())
    if (h.count == 1) unique = h.kmers;
  const std::uint64_t most = file.counts().empty() ? 0 : file.counts().back().count;
  nlohmann::ordered_json all;
  all["file"] = path;
  all["k"] = file.of().k;
  all["canonical"] = file.of().canonical;
  all["min_count"] = file.header().min_count;
  all["count_limit"] = file.header().count_limit;
  all["unique"] = unique;
  all["distinct"] = file.footer().distinct;
  all["total"] = file.footer().total;
  all["max_count"] = most;
  all["saturated"] = file.footer().saturated;
  all["left_out"] = file.footer().left_out;
  all["bytes"] = file.bytes();
  if (told) {
    told->write(json_text(all));
    told->commit();
  }
  shown.write(json == "-" ? json_text(all) : lines_of(all));
  shown.commit();
}

std::vector<std::string> query(const std::string& path, const std::vector<std::string>& kmers,
                               const std::vector<std::string>& sequences, const std::string& output) {
  const kmer_file file(path);
  output_file out(output);
  batch_sources inputs(sequences, file.of().k, {});
  with_word(file.of().k, [&](auto word) {
    asker<decltype(word)> one(file, out);
    for (const std::string& text : kmers) one.ask(text);
    splitter cut(file.of());
    for (batch b; inputs.next(b);) cut.runs(b, [&](std::span<const std::uint8_t> run) { one.ask_all(run); });
  });
  out.commit();
  return inputs.warnings();
}

} // namespace kmer
