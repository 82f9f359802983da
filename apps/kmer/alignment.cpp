// SPDX-License-Identifier: Apache-2.0
// Files are opened by htslib itself; what comes through a pipe is pumped on to it through a pipe of our own, since its
// first bytes have been looked at.
#include "alignment.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <fmt/core.h>
#include <htslib/hfile.h>
#include <htslib/hts.h>
#include <htslib/sam.h>
#include <thread>
#include <unistd.h>

#include "error.hpp"

namespace kmer {

namespace {

class pump {
public:
  explicit pump(std::unique_ptr<byte_source> from) : from_(std::move(from)) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw bad_input("standard input: no pipe to be had");
    out_ = ends[0];
    in_ = ends[1];
    worker_ = std::thread([this] { run(); });
  }
  ~pump() { worker_.join(); } // the reading end is closed by then, which ends a write
  pump(const pump&) = delete;
  pump& operator=(const pump&) = delete;
  int reading_end() const { return out_; }

private:
  void run() {
    // Who reads may stop early: then a write fails, and no signal ends the program.
    sigset_t broken_pipe;
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    std::array<char, 65536> buffer;
    for (std::size_t got = read(buffer); got != 0; got = read(buffer))
      if (!write_all(buffer.data(), got)) break;
    ::close(in_);
  }
  // What cannot be read ends the stream, and htslib says that it is truncated.
  std::size_t read(std::span<char> into) const {
    try {
      return from_->read(into);
    } catch (const bad_input&) {
      return 0;
    }
  }
  bool write_all(const char* from, std::size_t count) const {
    while (count != 0) {
      const ssize_t done = ::write(in_, from, count);
      if (done <= 0) return false;
      from += done;
      count -= static_cast<std::size_t>(done);
    }
    return true;
  }

  std::unique_ptr<byte_source> from_;
  int in_ = -1;
  int out_ = -1;
  std::thread worker_;
};

struct hts_closer {
  void operator()(htsFile* f) const { ::hts_close(f); }
};
struct header_destroyer {
  void operator()(sam_hdr_t* h) const { ::sam_hdr_destroy(h); }
};
struct record_destroyer {
  void operator()(bam1_t* b) const { ::bam_destroy1(b); }
};

class alignment_source : public batch_source {
public:
  alignment_source(const std::string& path, std::unique_ptr<byte_source> bytes, const std::string& reference)
      : name_(shown_name(path)), record_(::bam_init1()) {
    ::hts_set_log_level(HTS_LOG_OFF);
    const bool reads_twice = path != "-" && std::filesystem::is_regular_file(path);
    if (!reads_twice) {
      pump_ = std::make_unique<pump>(std::move(bytes));
      hFILE* const stream = ::hdopen(pump_->reading_end(), "r");
      if (stream != nullptr) file_.reset(::hts_hopen(stream, "-", "r"));
      if (stream != nullptr && !file_) ::hclose_abruptly(stream);
    } else {
      bytes.reset();
      file_.reset(::hts_open(path.c_str(), "r"));
    }
    if (file_ && !reference.empty() && ::hts_set_fai_filename(file_.get(), reference.c_str()) != 0)
      throw bad_input(fmt::format("{}: --reference '{}' cannot be used", name_, reference));
    if (file_ && reads_twice && ::hts_check_EOF(file_.get()) == 0)
      throw bad_input(fmt::format("{}: has no end marker: the file is truncated", name_));
    if (file_) header_.reset(::sam_hdr_read(file_.get()));
    if (!file_ || !header_) throw bad_input(fmt::format("{}: its header cannot be read as BAM or CRAM", name_));
  }

  bool next(batch& out) override {
    out.letters.clear();
    out.file = name_;
    out.first_record = figures_.records + 1;
    while (!ended_ && out.letters.size() < batch_bytes) {
      const int got = ::sam_read1(file_.get(), header_.get(), record_.get());
      ended_ = got < 0;
      if (got < -1)
        throw bad_input(fmt::format("{}: record {}: cannot be read; the file is truncated or damaged, or CRAM wants "
                                    "its --reference",
                                    name_, figures_.records + 1));
      if (!ended_) add(out.letters);
    }
    return !out.letters.empty();
  }
  input_figures figures() const override { return figures_; }

private:
  void add(std::string& letters) {
    ++figures_.records;
    const bam1_core_t& core = record_->core;
    if ((core.flag & (BAM_FSECONDARY | BAM_FSUPPLEMENTARY)) == 0) {
      const std::uint8_t* const sequence = bam_get_seq(record_.get());
      const bool turned = (core.flag & BAM_FREVERSE) != 0;
      for (std::int32_t i = 0; i < core.l_qseq; ++i) {
        const std::int32_t at = turned ? core.l_qseq - 1 - i : i;
        const char* const names = turned ? "NTGNCNNNANNNNNNN" : "NACNGNNNTNNNNNNN";
        letters.push_back(names[bam_seqi(sequence, at)]);
      }
      figures_.bases += static_cast<std::uint64_t>(core.l_qseq);
    }
    letters.push_back('\n');
  }

  std::string name_;
  std::unique_ptr<pump> pump_; // outlives the file that reads from it
  std::unique_ptr<bam1_t, record_destroyer> record_;
  std::unique_ptr<htsFile, hts_closer> file_;
  std::unique_ptr<sam_hdr_t, header_destroyer> header_;
  input_figures figures_;
  bool ended_ = false;
};

} // namespace

std::unique_ptr<batch_source> open_alignment(const std::string& path, std::unique_ptr<byte_source> bytes,
                                             const std::string& reference) {
  return std::make_unique<alignment_source>(path, std::move(bytes), reference);
}

} // namespace kmer
