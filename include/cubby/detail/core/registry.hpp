// SPDX-License-Identifier: Apache-2.0
// Which domain and which thread record: the domain of an image, in which the tables that it makes begin, and the calling thread's
// own thread record in the domain of a table. What is found here is kept once for each image; what tables share is in the domain.
#pragma once

#include <new>

#include <cubby/detail/core/domain.hpp>

namespace cubby::inline v0::detail {

/// A domain that code of this image has taken a thread record in, so that it can be set right after a fork.
struct known_domain {
  domain_ref held;
  sync::word<known_domain*> next;
};

/// What is there once for each image. Never destroyed; `image_end` lets go of the domains when the image is closed.
struct image_state {
  small_lock<> lock;
  sync::word<known_domain*> known; // scanned in the child of a fork; changed under the lock
  sync::word<domain*> last;        // the one that was looked up last
  sync::word<domain*> own;         // of tables that this image makes
  sync::word<std::uint32_t> armed; // 1: hears of forks, and of its end
};
CUBBY_OF_IMAGE inline image_state& state_of_image() noexcept {
  static constinit image_state state;
  return state;
}

/// In the child of a fork, before anybody else runs there.
CUBBY_OF_IMAGE inline void begin_child() {
  image_state& here = state_of_image();
  here.lock.unlock();
  // relaxed, both: nobody else is here
  for (known_domain* one = here.known.load(sync::relaxed); one != nullptr; one = one->next.load(sync::relaxed))
    one->held->forget_others();
}

/// Lets go of domains that nobody else holds, but for `kept`; or of all. Under the lock.
CUBBY_OF_IMAGE inline void prune(image_state& here, const domain* kept, bool all) noexcept {
  sync::word<known_domain*>* from = &here.known;
  // relaxed: under the lock; in the child of a fork each state of the list is whole
  while (known_domain* const one = from->load(sync::relaxed)) {
    domain* const d = &*one->held;
    // relaxed: a thread that could hold it again would have to reach it through a holder
    const bool needed = d == kept || d == here.own.load(sync::relaxed) || d->holders.load(sync::relaxed) != 1;
    if (needed && !all) {
      from = &one->next;
      continue;
    }
    from->store(one->next.load(sync::relaxed), sync::relaxed);                       // relaxed: as above
    if (here.last.load(sync::relaxed) == d) here.last.store(nullptr, sync::relaxed); // relaxed: as above
    delete one;
  }
}

/// When the image is closed, or the program ends.
CUBBY_OF_IMAGE inline void end_image(void*) {
  image_state& here = state_of_image();
  lock_scope alone(here.lock);
  here.own.store(nullptr, sync::relaxed); // relaxed: under the lock
  prune(here, nullptr, true);
}

/// Has the image hear of forks and of its own end. Not under the image's lock: the child of a fork at this moment would find
/// the lock taken and nobody who is told. Two threads that come first at the same time ask twice, which does no harm.
CUBBY_OF_IMAGE inline bool arm(image_state& here) noexcept {
  // relaxed, both: what it stands for is in the C library, under a lock of its own
  if (here.armed.load(sync::relaxed) != 0) return true;
  if (!image::in_each_child(begin_child) || !image::at_image_end(end_image)) return false;
  here.armed.store(1, sync::relaxed); // relaxed: as above
  return true;
}

/// Notes that code of this image takes thread records in `d`, which the caller keeps alive. False: no memory.
CUBBY_OF_IMAGE inline bool know(domain& d) noexcept {
  image_state& here = state_of_image();
  // relaxed: the caller's hold keeps it in the list
  if (here.last.load(sync::relaxed) == &d) return true;
  if (!arm(here)) return false;
  const sync::one_step section(&here.lock);
  lock_scope alone(here.lock);
  prune(here, &d, false);
  known_domain* one = here.known.load(sync::relaxed);                              // relaxed: under the lock
  while (one != nullptr && &*one->held != &d) one = one->next.load(sync::relaxed); // relaxed: under the lock
  if (one == nullptr) {
    one = new (std::nothrow) known_domain;
    if (one == nullptr) return false;
    d.hold();
    one->held = domain_ref(&d);
    one->next.store(here.known.load(sync::relaxed), sync::relaxed); // relaxed: under the lock
    here.known.store(one, sync::relaxed);                           // relaxed: under the lock
  }
  here.last.store(&d, sync::relaxed); // relaxed: under the lock
  return true;
}

/// The domain of this image; null: no memory.
CUBBY_OF_IMAGE CUBBY_NEVER_INLINE inline domain* make_domain_of_image() noexcept {
  image_state& here = state_of_image();
  auto* const made = new (std::nothrow) domain;
  if (made == nullptr) return nullptr;
  const domain_ref first(made);
  if (!know(*made)) return nullptr;
  const sync::one_step section(&here.lock);
  lock_scope alone(here.lock);
  // relaxed: under the lock
  domain* const others = here.own.load(sync::relaxed);
  if (others != nullptr) return others;
  // [own-domain] release: pairs with [image-domain]
  here.own.store(made, sync::release);
  return made;
}
CUBBY_OF_IMAGE CUBBY_ALWAYS_INLINE domain* domain_of_image() noexcept {
  // [image-domain] acquire: pairs with [own-domain]
  domain* const own = state_of_image().own.load(sync::acquire);
  return own != nullptr ? own : make_domain_of_image();
}

/// A domain that the calling thread has a thread record in, on behalf of this image.
struct thread_place {
  domain* in;
  thread_record* mine = nullptr;
  thread_place* next = nullptr;
};
/// What is there once for each thread in each image.
struct thread_state {
  domain* in = nullptr; // the two that were used last
  thread_record* mine = nullptr;
  thread_place* places = nullptr;
  bool armed = false; // it hears of the thread's end
};
CUBBY_OF_IMAGE inline thread_state& state_of_thread() noexcept {
  static constinit thread_local thread_state state;
  return state;
}

/// At the end of a thread. What is claimed after it, in later destructors of the thread, asks for another call.
CUBBY_OF_IMAGE inline void end_thread(void*) {
  thread_state& here = state_of_thread();
  thread_place* one = here.places;
  here = thread_state();
  while (one != nullptr) {
    thread_place* const next = one->next;
    domain::release_after_guards(one->mine);
    delete one;
    one = next;
  }
}

class registry {
public:
  /// The domain in which a table of this image begins; empty: no memory.
  CUBBY_OF_IMAGE static domain_ref own_domain() noexcept {
    domain* const own = detail::domain_of_image();
    if (own != nullptr) own->hold();
    return domain_ref(own);
  }

  /// A thread record of the caller's own, or null when there is no memory for one. Constant time.
  CUBBY_OF_IMAGE static thread_record* claim(domain& d) noexcept {
    return detail::know(d) ? domain::claim(d) : nullptr;
  }
  CUBBY_OF_IMAGE static thread_record* claim() noexcept {
    domain* const own = detail::domain_of_image();
    return own != nullptr ? claim(*own) : nullptr;
  }
  /// Gives a thread record back. It must be outside every pin.
  static void release(thread_record* s) noexcept { domain::release(s); }
  /// The same, once its last guard has ended.
  static void release_after_guards(thread_record* s) noexcept { domain::release_after_guards(s); }
  static void begin_guard(thread_record& s) noexcept { ++s.guards_; }
  static void end_guard(thread_record& s) noexcept {
    if (--s.guards_ == 0 && s.given_up_) domain::release(&s);
  }

  /// The calling thread's own record, claimed at its first use and given back when the thread ends; null: no memory.
  CUBBY_OF_IMAGE CUBBY_ALWAYS_INLINE static thread_record* local(domain& d) noexcept {
    const detail::thread_state& here = detail::state_of_thread();
    if (here.in == &d) [[likely]] {
      cpu::assume(here.mine != nullptr); // spares the caller its question
      return here.mine;
    }
    return local_elsewhere(d);
  }
  CUBBY_OF_IMAGE static thread_record* local() noexcept {
    domain* const own = detail::domain_of_image();
    return own != nullptr ? local(*own) : nullptr;
  }
  /// Says that the calling thread uses `s`, a handle's, from here on.
  CUBBY_ALWAYS_INLINE static void use(thread_record& s) noexcept { s.user_.set(image::this_thread()); }

  CUBBY_ALWAYS_INLINE static void enter(thread_record& s) noexcept { domain::enter(s); }
  CUBBY_ALWAYS_INLINE static void leave(thread_record& s) noexcept { domain::leave(s); }
  CUBBY_ALWAYS_INLINE static void enter_alone(thread_record& s) noexcept { domain::enter_alone(s); }
  CUBBY_ALWAYS_INLINE static void leave_alone(thread_record& s) noexcept { domain::leave_alone(s); }

  /// Whether the owner of `s`, who asks, is inside a pin of it.
  static bool inside(const thread_record& s) noexcept {
    return s.depth_ != 0 || s.epoch_.load(sync::relaxed) != 0; // relaxed: the caller's own store
  }
  /// Whether a counted pin of `s` lives: the owner need not enter.
  CUBBY_ALWAYS_INLINE static bool is_held(const thread_record& s) noexcept { return s.depth_ != 0; }
  /// Whether the calling thread is inside a pin in the domain: of its own thread record, or of a handle that it uses.
  static bool inside(domain& d) noexcept { return d.inside(); }
  CUBBY_OF_IMAGE static bool inside() noexcept {
    domain* const own = detail::domain_of_image();
    return own != nullptr && own->inside();
  }

  /// For code of one image: `advance` and `oldest` of its domain, which a thread record of the caller's, or a table, has made.
  CUBBY_OF_IMAGE static std::uint64_t advance() noexcept { return detail::domain_of_image()->advance(); }
  CUBBY_OF_IMAGE static std::uint64_t oldest() noexcept { return detail::domain_of_image()->oldest(); }

private:
  CUBBY_OF_IMAGE CUBBY_NEVER_INLINE static thread_record* local_elsewhere(domain& d) noexcept {
    detail::thread_state& here = detail::state_of_thread();
    detail::thread_place* one = here.places;
    while (one != nullptr && one->in != &d) one = one->next;
    if (one == nullptr) one = settle(here, d);
    if (one == nullptr) return nullptr;
    here.in = one->in;
    here.mine = one->mine;
    return one->mine;
  }
  CUBBY_OF_IMAGE static detail::thread_place* settle(detail::thread_state& here, domain& d) noexcept {
    if (!here.armed) here.armed = image::at_thread_end(detail::end_thread, nullptr);
    if (!here.armed) return nullptr;
    auto* const one = new (std::nothrow) detail::thread_place{&d};
    if (one == nullptr) return nullptr;
    one->mine = claim(d);
    if (one->mine == nullptr) {
      delete one;
      return nullptr;
    }
    one->mine->user_.set(image::this_thread());
    one->mine->of_thread_ = true;
    one->next = here.places;
    here.places = one;
    return one;
  }
};

/// The domain of a table that is being made: that of the image whose code makes it; empty: no memory, or nobody to share with.
template <class Threads> CUBBY_OF_IMAGE domain_ref domain_of_table() noexcept {
  if constexpr (Threads::is_shared) return registry::own_domain();
  else return domain_ref();
}

/// A stay inside: nothing that a table shows is freed before it ends. Nests; costs one store in and one out.
class [[nodiscard]] thread_pin {
public:
  explicit thread_pin(thread_record& s) noexcept : thread_record_(s) { registry::enter(thread_record_); }
  ~thread_pin() { registry::leave(thread_record_); }
  thread_pin(const thread_pin&) = delete;
  thread_pin& operator=(const thread_pin&) = delete;

private:
  thread_record& thread_record_;
};

/// A stay inside of a handle's record by a call that runs no function of the user's but a hash, which may not use the map: nobody
/// else enters the thread record meanwhile. Not counted, and so cheaper. For a thread record that is not held.
class [[nodiscard]] lone_pin {
public:
  CUBBY_ALWAYS_INLINE explicit lone_pin(thread_record& s) noexcept : thread_record_(s) {
    registry::enter_alone(thread_record_);
  }
  CUBBY_ALWAYS_INLINE ~lone_pin() { registry::leave_alone(thread_record_); }
  lone_pin(const lone_pin&) = delete;
  lone_pin& operator=(const lone_pin&) = delete;

private:
  thread_record& thread_record_;
};

} // namespace cubby::inline v0::detail
