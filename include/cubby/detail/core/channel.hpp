// SPDX-License-Identifier: Apache-2.0
// A queue from one thread to another (DRAMHiT section 3.3): Lamport's ring, divided into sections. The threads write the shared
// counts once for each section: when it is filled, when it is read to its end, or when its filled part is flushed. No message is
// lost, and messages keep their order. A send to a full queue fails at once and never waits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/prefetch.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

/// Two words. The kind (0 to 3) that is sent with them says what they mean.
struct message {
  std::uint64_t first;
  std::uint64_t second;
};

/// Section: the messages in a section, a power of two up to 64. Sections: their number, a power of two, at least 2. Two words behind
/// a section hold two bits for each message, its kind. So a message has 16 bytes, and a line holds four.
template <std::size_t Section = 64, std::size_t Sections = 8> class channel {
  static_assert(std::has_single_bit(Section) && Section <= 64);
  static_assert(std::has_single_bit(Sections) && Sections >= 2 && Section * Sections <= (std::size_t{1} << 30));
  static constexpr std::uint32_t messages_in_line = cpu::cache_line / sizeof(message);
  struct alignas(cpu::cache_line) section {
    message all[Section]; // not initialized
    sync::word<std::uint64_t> kinds[2];
    section() noexcept {} // NOLINT(modernize-use-equals-default): the default one would clear the messages
  };

public:
  static constexpr std::uint32_t section_size = Section;
  static constexpr std::uint32_t capacity = Section * Sections;

  /// Messages are counted modulo 2^32, from `start`, rounded down to a whole section, so that a test can let the count wrap.
  explicit channel(std::uint32_t start = 0) noexcept : published_(in_sections(start)), consumed_(in_sections(start)) {}

  /// The sending end. It has 32 bytes, so that a line holds the ends of two channels of one sender, and no word that the receiver
  /// writes. A channel has one producer, from its beginning on.
  class producer {
  public:
    producer() noexcept = default;
    explicit producer(channel& to) noexcept
        : to_(&to), written_(to.published_.load(sync::relaxed)), end_(written_) {} // relaxed: no thread sends yet

    /// False: the queue is full, and nothing has been sent.
    CUBBY_ALWAYS_INLINE bool try_send(std::uint64_t first, std::uint64_t second, unsigned kind) noexcept {
      if (written_ == end_) [[unlikely]]
        if (!next_section()) return false;
      const std::uint32_t at = written_ % section_size;
      section& in = to_->section_of(written_);
      sync::hook(sync::step::store, &in.all[at]);
      in.all[at] = {first, second};
      kinds_[0] |= std::uint64_t{kind & 1} << at;
      kinds_[1] |= std::uint64_t{kind >> 1 & 1} << at;
      ++written_;
      if (written_ == end_) [[unlikely]]
        publish();
      else if (written_ % messages_in_line == 0) ask_ahead();
      return true;
    }
    /// Publishes the messages of the current section.
    void flush() noexcept {
      // relaxed: no other thread stores it
      if (to_->published_.load(sync::relaxed) != written_) publish();
    }
    /// Whether the last message has filled its section, or no message was sent.
    [[nodiscard]] CUBBY_ALWAYS_INLINE bool is_between_sections() const noexcept { return written_ == end_; }
    /// Whether the receiver has released all messages that were sent. If so, the caller sees what the receiver did before. The
    /// receiver sees only messages that are published (`flush`).
    [[nodiscard]] bool is_consumed() const noexcept {
      // [answered] acquire: pairs with [release-messages]
      return to_->consumed_.load(sync::acquire) == written_;
    }

  private:
    CUBBY_NEVER_INLINE bool next_section() noexcept {
      // [reuse-section] acquire: pairs with [release-messages]; the other end has read what is overwritten from now on
      const std::uint32_t gone = to_->consumed_.load(sync::acquire);
      if (written_ - gone > capacity - section_size) return false;
      kinds_[0] = kinds_[1] = 0;
      end_ = written_ + section_size;
      return true;
    }
    void publish() noexcept {
      section& in = to_->section_of(written_ - 1);
      // relaxed: a thread that reads them has seen the count below; a newer word has the same bits for the messages before it
      in.kinds[0].store(kinds_[0], sync::relaxed);
      in.kinds[1].store(kinds_[1], sync::relaxed); // relaxed: as above
      // [publish-messages] release: pairs with [take-messages]
      to_->published_.store(written_, sync::release);
    }
    /// Prefetches the next line of the ring, and near the end of a section the receiver's count.
    void ask_ahead() noexcept {
      const std::uint32_t next = written_ + messages_in_line;
      prefetch_line_to_write(&to_->section_of(next).all[next % section_size]);
      if (next == end_) prefetch_line(&to_->consumed_);
    }

    channel* to_ = nullptr;
    std::uint32_t written_ = 0;
    std::uint32_t end_ = 0; // of the section that is being filled
    std::uint64_t kinds_[2] = {0, 0};
  };

  /// Neighbouring messages of one section. Valid until they are released.
  struct batch {
    const message* all = nullptr;
    std::uint32_t count = 0;
    std::uint64_t kinds[2] = {0, 0};
    [[nodiscard]] const message& operator[](std::size_t i) const noexcept {
      sync::hook(sync::step::load, &all[i]);
      return all[i];
    }
    [[nodiscard]] unsigned kind(std::size_t i) const noexcept {
      return static_cast<unsigned>((kinds[0] >> i & 1) | (kinds[1] >> i & 1) << 1);
    }
  };

  /// The receiving end. One thread at a time uses it. Its users must order their uses, by a lock for example.
  class consumer {
  public:
    consumer() noexcept = default;
    explicit consumer(channel& from) noexcept
        : from_(&from), read_(from.consumed_.load(sync::relaxed)), known_(read_) {} // relaxed: no thread receives yet

    /// The messages that are published and not released, up to the end of a section. A count of 0: there are none.
    [[nodiscard]] batch peek() noexcept {
      if (read_ == known_) {
        // [take-messages] acquire: pairs with [publish-messages]
        known_ = from_->published_.load(sync::acquire);
        if (read_ == known_) return {};
      }
      const std::uint32_t at = read_ % section_size;
      const std::uint32_t ready = known_ - read_;
      const section& in = from_->section_of(read_);
      // relaxed: as in publish
      const std::uint64_t low = in.kinds[0].load(sync::relaxed) >> at;
      const std::uint64_t high = in.kinds[1].load(sync::relaxed) >> at; // relaxed: as in publish
      return {&in.all[at], ready < section_size - at ? ready : section_size - at, {low, high}};
    }
    /// Releases the first `count` messages of the batch.
    void release(std::uint32_t count) noexcept {
      read_ += count;
      if (read_ % section_size != 0 && read_ != known_) return;
      // [release-messages] release: pairs with [reuse-section], [answered]
      from_->consumed_.store(read_, sync::release);
      prefetch_line(&from_->published_);
    }
    /// Prefetches what `peek` will read.
    void prefetch() const noexcept {
      prefetch_line(&from_->published_);
      prefetch_line(&from_->section_of(read_).all[read_ % section_size]);
    }

  private:
    channel* from_ = nullptr;
    std::uint32_t read_ = 0;
    std::uint32_t known_ = 0; // the published count, as last read
  };

private:
  static constexpr std::uint32_t in_sections(std::uint32_t count) noexcept {
    return count / section_size * section_size;
  }
  section& section_of(std::uint32_t count) noexcept { return sections_[count / section_size % Sections]; }

  alignas(cpu::cache_line) sync::word<std::uint32_t> published_; // stored by the producer alone
  alignas(cpu::cache_line) sync::word<std::uint32_t> consumed_;  // stored by the consumer alone
  section sections_[Sections];
};

} // namespace cubby::inline v0::detail
