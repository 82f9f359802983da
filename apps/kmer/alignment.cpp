// SPDX-License-Identifier: Apache-2.0
// htslib gets descriptors, because it reads more into names than names: `data:,x`, `preload:x`, `a##idx##b`. A stream is
// passed on to it through a pipe of our own, because its first bytes have been read already.
#include "alignment.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <htslib/hfile.h>
#include <htslib/hts.h>
#include <htslib/sam.h>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "end_mark.hpp"
#include "error.hpp"

namespace kmer {

namespace {

class pump {
public:
  explicit pump(std::unique_ptr<byte_source> from) : from_(std::move(from)) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw bad_input("standard input: no pipe can be made");
    out_ = ends[0];
    in_ = ends[1];
    worker_ = std::thread([this] { run(); });
  }
  ~pump() { // the reading end is closed by then, which ends a write
    if (worker_.joinable()) worker_.join();
  }
  pump(const pump&) = delete;
  pump& operator=(const pump&) = delete;
  int reading_end() const { return out_; }

  // Throws the error that has ended the stream, if there was one.
  void rethrow() {
    const std::lock_guard hold(lock_);
    if (why_) std::rethrow_exception(why_);
  }
  // Call this for a stream that was read to its end, after the reading end was closed. What it ended with; false: something was left.
  bool finish(std::string& tail) {
    worker_.join();
    rethrow();
    tail = last_.view();
    return !left_;
  }

private:
  void run() {
    // The reader may stop early: then a write fails, and no signal ends the program.
    sigset_t broken_pipe;
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    std::array<char, 65536> buffer;
    for (std::size_t got = read(buffer); got != 0 && !left_; got = read(buffer)) {
      last_.add({buffer.data(), got});
      left_ = !write_all(buffer.data(), got);
    }
    ::close(in_);
  }
  // A read error ends the stream.
  std::size_t read(std::span<char> into) {
    try {
      return from_->read(into);
    } catch (const bad_input&) {
      const std::lock_guard hold(lock_);
      why_ = std::current_exception();
      return 0;
    }
  }
  bool write_all(const char* from, std::size_t count) const {
    while (count != 0) {
      const ssize_t done = ::write(in_, from, count);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      from += done;
      count -= static_cast<std::size_t>(done);
    }
    return true;
  }

  std::unique_ptr<byte_source> from_;
  int in_ = -1;
  int out_ = -1;
  last_bytes last_;
  bool left_ = false; // bytes that were not taken
  std::mutex lock_;
  std::exception_ptr why_;
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

// Null: it cannot be read. The descriptor is closed with the file, or now.
htsFile* open_descriptor(int descriptor) {
  hFILE* const stream = descriptor < 0 ? nullptr : ::hdopen(descriptor, "r");
  htsFile* const file = stream == nullptr ? nullptr : ::hts_hopen(stream, "-", "r");
  if (file == nullptr && stream != nullptr) ::hclose_abruptly(stream);
  else if (file == nullptr && descriptor >= 0) ::close(descriptor);
  return file;
}

// A relative name such as `file:x` would be taken for that of something else. The index lies beside it, so a name it is.
std::string name_for_htslib(const std::string& reference) {
  return is_fetched(reference) || reference.starts_with('/') ? reference : "./" + reference;
}

class alignment_source : public batch_source {
public:
  alignment_source(const std::string& path, opened_input input, const std::string& reference)
      : name_(shown_name(path)), mark_(input.mark), form_(std::move(input.form)), record_(::bam_init1()) {
    ::hts_set_log_level(HTS_LOG_OFF);
    if (path == "-" || !std::filesystem::is_regular_file(path)) {
      pump_ = std::make_unique<pump>(std::move(input.bytes));
      file_.reset(open_descriptor(pump_->reading_end()));
    } else {
      input.bytes.reset();
      check_end(path, input);
      file_.reset(open_descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
    }
    if (file_ && !reference.empty() && ::hts_set_fai_filename(file_.get(), name_for_htslib(reference).c_str()) != 0)
      throw bad_input(fmt::format("{}: --reference '{}' cannot be used", name_, reference));
    if (file_) header_.reset(::sam_hdr_read(file_.get()));
    if (!file_ || !header_) refuse("its header cannot be read as BAM or CRAM");
  }

  bool next(batch& out) override {
    out.letters.clear();
    out.file = name_;
    out.first_record = figures_.records + 1;
    while (!ended_ && out.letters.size() < batch_bytes) {
      const int got = ::sam_read1(file_.get(), header_.get(), record_.get());
      ended_ = got < 0;
      if (got < -1)
        refuse(fmt::format("record {}: cannot be read; the file is truncated or damaged, or CRAM wants its --reference",
                           figures_.records + 1));
      if (got >= 0) add(out.letters);
      else finish();
    }
    return !out.letters.empty();
  }
  input_figures figures() const override { return figures_; }
  std::string doubt() const override {
    return mark_ == end_mark::none ? fmt::format("is {}, which has no end-of-file mark", form_) : std::string();
  }

private:
  [[noreturn]] void refuse(const std::string& why) {
    if (pump_) pump_->rethrow();
    throw bad_input(fmt::format("{}: {}", name_, why));
  }

  // htslib accepts an end between two records. Here it is checked what a stream ends with.
  void finish() {
    file_.reset();
    if (!pump_) return;
    std::string tail;
    if (!pump_->finish(tail)) refuse("something follows its end");
    if (!is_marked(mark_, tail)) throw bad_input(unmarked(name_, "samtools view -b"));
  }

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
  end_mark mark_;
  std::string form_;
  std::unique_ptr<pump> pump_; // outlives the file that reads from it
  std::unique_ptr<bam1_t, record_destroyer> record_;
  std::unique_ptr<htsFile, hts_closer> file_;
  std::unique_ptr<sam_hdr_t, header_destroyer> header_;
  input_figures figures_;
  bool ended_ = false;
};

} // namespace

bool is_fetched(const std::string& reference) { return reference.find("://") != std::string::npos; }

std::unique_ptr<batch_source> open_alignment(const std::string& path, opened_input input,
                                             const std::string& reference) {
  return std::make_unique<alignment_source>(path, std::move(input), reference);
}

} // namespace kmer
