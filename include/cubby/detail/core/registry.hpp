// SPDX-License-Identifier: Apache-2.0
// How a call finds its domain and its thread record. New tables use the domain of an image (the program or a shared library).
// The calling thread has a record in the domain of each table that it uses. This state exists once for each image. Tables share
// only the domain itself.
#pragma once

#include <new>

#include <cubby/detail/core/domain.hpp>

namespace cubby::inline v0::detail {

/// A domain in which code of this image has claimed a thread record. The list of them is needed after a fork.
struct known_domain {
  domain_ref held;
  sync::word<known_domain*> next;
};

/// The state of an image. It is never destroyed; `end_image` releases the domains when the image is closed.
struct image_state {
  small_lock<> lock;
  sync::word<known_domain*> known; // scanned in the child of a fork; changed under the lock
  sync::word<domain*> last;        // the latest result of a search
  sync::word<domain*> own;         // the domain of tables that this image makes
  sync::word<std::uint32_t> armed; // 1: the callbacks for forks and for the image's end are registered
};
CUBBY_OF_IMAGE inline image_state& state_of_image() noexcept {
  static constinit image_state state;
  return state;
}

/// Runs in the child of a fork, before any other code there.
CUBBY_OF_IMAGE inline void begin_child() {
  image_state& here = state_of_image();
  here.lock.unlock();
  // relaxed, both: no other thread is here
  for (known_domain* one = here.known.load(sync::relaxed); one != nullptr; one = one->next.load(sync::relaxed))
    one->held->forget_others();
}

/// Releases the domains that nothing else holds, except `kept`; or all domains. Under the lock.
CUBBY_OF_IMAGE inline void prune(image_state& here, const domain* kept, bool all) noexcept {
  sync::word<known_domain*>* from = &here.known;
  // relaxed: under the lock; in the child of a fork each state of the list is consistent
  while (known_domain* const one = from->load(sync::relaxed)) {
    domain* const d = &*one->held;
    // relaxed: a thread can get a new hold only through an existing holder
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

/// Runs when the image is closed or the program ends.
CUBBY_OF_IMAGE inline void end_image(void*) {
  image_state& here = state_of_image();
  lock_scope alone(here.lock);
  here.own.store(nullptr, sync::relaxed); // relaxed: under the lock
  prune(here, nullptr, true);
}

/// Registers the callbacks for forks and for the image's end. Not under the image's lock: in the child of a fork at this moment the
/// lock would stay taken, with no callback to free it. Two threads may register at the same time, which does no harm.
CUBBY_OF_IMAGE inline bool arm(image_state& here) noexcept {
  // relaxed, both: the C library has the callbacks, under a lock of its own
  if (here.armed.load(sync::relaxed) != 0) return true;
  if (!image::in_each_child(begin_child) || !image::at_image_end(end_image)) return false;
  here.armed.store(1, sync::relaxed); // relaxed: as above
  return true;
}

/// Adds `d`, which the caller keeps alive, to the image's list of domains. False: no memory.
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

/// A domain in which the calling thread has a thread record, claimed by code of this image.
struct record_note {
  domain* in;
  thread_record* mine = nullptr;
  record_note* next = nullptr;
};
/// The state of a thread in an image.
struct thread_state {
  domain* in = nullptr; // the domain and the record that were used last
  thread_record* mine = nullptr;
  record_note* notes = nullptr;
  bool armed = false; // the callback for the thread's end is registered
};
CUBBY_OF_IMAGE inline thread_state& state_of_thread() noexcept {
  static constinit thread_local thread_state state;
  return state;
}

/// Runs at the end of a thread. A claim in a later destructor of the thread registers another call.
CUBBY_OF_IMAGE inline void end_thread(void*) {
  thread_state& here = state_of_thread();
  record_note* one = here.notes;
  here = thread_state();
  while (one != nullptr) {
    record_note* const next = one->next;
    domain::release_after_guards(one->mine);
    delete one;
    one = next;
  }
}

class registry {
public:
  /// The domain of a new table of this image. Empty: no memory.
  CUBBY_OF_IMAGE static domain_ref own_domain() noexcept {
    domain* const own = detail::domain_of_image();
    if (own != nullptr) own->hold();
    return domain_ref(own);
  }

  /// Claims a thread record; null if there is no memory for one. Constant time, under a lock.
  CUBBY_OF_IMAGE static thread_record* claim(domain& d) noexcept {
    return detail::know(d) ? domain::claim(d) : nullptr;
  }
  CUBBY_OF_IMAGE static thread_record* claim() noexcept {
    domain* const own = detail::domain_of_image();
    return own != nullptr ? claim(*own) : nullptr;
  }
  /// Gives a thread record back. No pin of it may live.
  static void release(thread_record* s) noexcept { domain::release(s); }
  /// The same, after the end of its last guard.
  static void release_after_guards(thread_record* s) noexcept { domain::release_after_guards(s); }
  static void begin_guard(thread_record& s) noexcept { ++s.guards_; }
  static void end_guard(thread_record& s) noexcept {
    if (--s.guards_ == 0 && s.given_up_) domain::release(&s);
  }

  /// The calling thread's record, claimed at its first use and given back when the thread ends. Null: no memory.
  CUBBY_OF_IMAGE CUBBY_ALWAYS_INLINE static thread_record* local(domain& d) noexcept {
    const detail::thread_state& here = detail::state_of_thread();
    if (here.in == &d) [[likely]] {
      cpu::assume(here.mine != nullptr); // so that the caller's check for null costs nothing
      return here.mine;
    }
    return local_elsewhere(d);
  }
  CUBBY_OF_IMAGE static thread_record* local() noexcept {
    domain* const own = detail::domain_of_image();
    return own != nullptr ? local(*own) : nullptr;
  }
  /// Notes that the calling thread uses `s`, the record of a handle, from now on.
  CUBBY_ALWAYS_INLINE static void use(thread_record& s) noexcept { s.user_.set(image::this_thread()); }

  CUBBY_ALWAYS_INLINE static void enter(thread_record& s) noexcept { domain::enter(s); }
  CUBBY_ALWAYS_INLINE static void leave(thread_record& s) noexcept { domain::leave(s); }
  CUBBY_ALWAYS_INLINE static void enter_alone(thread_record& s) noexcept { domain::enter_alone(s); }
  CUBBY_ALWAYS_INLINE static void leave_alone(thread_record& s) noexcept { domain::leave_alone(s); }

  /// Whether the caller, the owner of `s`, is inside a pin of it.
  static bool inside(const thread_record& s) noexcept {
    return s.depth_ != 0 || s.epoch_.load(sync::relaxed) != 0; // relaxed: the caller's own store
  }
  /// Whether a counted pin of `s` lives. Then its owner needs no further pin.
  CUBBY_ALWAYS_INLINE static bool is_held(const thread_record& s) noexcept { return s.depth_ != 0; }
  /// Whether the calling thread is inside a pin in the domain, of its own thread record or of a handle that it uses.
  static bool inside(domain& d) noexcept { return d.inside(); }
  CUBBY_OF_IMAGE static bool inside() noexcept {
    domain* const own = detail::domain_of_image();
    return own != nullptr && own->inside();
  }

  /// `advance` and `oldest` of this image's domain, which must exist: a thread record of the caller or a table has made it.
  CUBBY_OF_IMAGE static std::uint64_t advance() noexcept { return detail::domain_of_image()->advance(); }
  CUBBY_OF_IMAGE static std::uint64_t oldest() noexcept { return detail::domain_of_image()->oldest(); }

private:
  CUBBY_OF_IMAGE CUBBY_NEVER_INLINE static thread_record* local_elsewhere(domain& d) noexcept {
    detail::thread_state& here = detail::state_of_thread();
    detail::record_note* one = here.notes;
    while (one != nullptr && one->in != &d) one = one->next;
    if (one == nullptr) one = make_note(here, d);
    if (one == nullptr) return nullptr;
    here.in = one->in;
    here.mine = one->mine;
    return one->mine;
  }
  CUBBY_OF_IMAGE static detail::record_note* make_note(detail::thread_state& here, domain& d) noexcept {
    if (!here.armed) here.armed = image::at_thread_end(detail::end_thread, nullptr);
    if (!here.armed) return nullptr;
    auto* const one = new (std::nothrow) detail::record_note{&d};
    if (one == nullptr) return nullptr;
    one->mine = claim(d);
    if (one->mine == nullptr) {
      delete one;
      return nullptr;
    }
    one->mine->user_.set(image::this_thread());
    one->mine->of_thread_ = true;
    one->next = here.notes;
    here.notes = one;
    return one;
  }
};

/// The domain of a new table: that of the image whose code makes the table. Empty: no memory, or a table for one thread.
template <class Threads> CUBBY_OF_IMAGE domain_ref domain_of_table() noexcept {
  if constexpr (Threads::is_shared) return registry::own_domain();
  else return domain_ref();
}

/// A pin: nothing that a table shows is freed before it ends. Nests. It costs one store at each end and never blocks.
class [[nodiscard]] thread_pin {
public:
  explicit thread_pin(thread_record& s) noexcept : thread_record_(s) { registry::enter(thread_record_); }
  ~thread_pin() { registry::leave(thread_record_); }
  thread_pin(const thread_pin&) = delete;
  thread_pin& operator=(const thread_pin&) = delete;

private:
  thread_record& thread_record_;
};

/// A pin of a handle's record that is not counted, and so cheaper. For calls during which no other pin of the record can begin: they
/// run no function of the user except a hash, which may not use the map. Only for a thread record that is not held.
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
