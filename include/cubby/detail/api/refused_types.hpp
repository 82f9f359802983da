// SPDX-License-Identifier: Apache-2.0
// Types of which no table can be made. A table of them has nothing but one assertion. Without it each part of the table would fail
// with an error of its own.
#pragma once

#include <type_traits>

namespace cubby::inline v0::detail {

template <template <class> class> struct engine_template;
/// Whether this is the tag of an engine. Makes no engine.
template <class E> concept engine_tag = requires { typename engine_template<E::template engine>; };
/// The tag of an engine whose writes are not answered: `delegated_map` says what it is for.
template <class E> concept delegating_tag = requires { typename engine_template<E::template delegating_engine>; };

/// What can lie in a table.
template <class T> concept held_type = std::is_object_v<T> && !std::is_array_v<T>;

template <class E, class... Held>
concept refused_types = !delegating_tag<E> && !(engine_tag<E> && (held_type<Held> && ...));

template <class E, class... Held> struct refused_table {
  static_assert(engine_tag<E>,
                "this is no engine: the third parameter of a map and the second of a set is the tag of an engine, such "
                "as cubby::dlht; the Hash comes after it");
  static_assert((held_type<Held> && ...) || !engine_tag<E>,
                "a table holds objects, not references, arrays or void: take a pointer or a class, and for keys "
                "without values a cubby::set");
};

} // namespace cubby::inline v0::detail
