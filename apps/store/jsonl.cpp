// SPDX-License-Identifier: Apache-2.0
// {"key": text, "value": text}. Nothing that a line has is dropped: another member, or one twice, is an error.
#include <nlohmann/json.hpp>

#include "records.hpp"

namespace store {

namespace {

using json = nlohmann::json;

// Takes the two texts while the line is parsed.
class taker : public nlohmann::json_sax<json> {
public:
  explicit taker(record& into) : into_(into) {}
  std::string wrong;
  bool is_complete() const { return has_key_ && has_value_; }

  bool string(string_t& text) override {
    if (place_ == nullptr) return refuse("no object");
    *place_ = std::move(text);
    place_ = nullptr;
    return true;
  }
  bool start_object(std::size_t) override { return depth_++ == 0 ? true : refuse_type(); }
  bool end_object() override { return true; }
  bool key(string_t& name) override {
    bool* const has = name == "key" ? &has_key_ : name == "value" ? &has_value_ : nullptr;
    if (has == nullptr) return refuse("a member that is neither \"key\" nor \"value\"");
    if (*has) return refuse("\"" + name + "\" twice");
    *has = true;
    place_ = name == "key" ? &into_.key : &into_.value;
    return true;
  }
  bool null() override { return refuse_type(); }
  bool boolean(bool) override { return refuse_type(); }
  bool number_integer(number_integer_t) override { return refuse_type(); }
  bool number_unsigned(number_unsigned_t) override { return refuse_type(); }
  bool number_float(number_float_t, const string_t&) override { return refuse_type(); }
  bool binary(binary_t&) override { return refuse_type(); }
  bool start_array(std::size_t) override { return refuse_type(); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return refuse("no JSON from byte " + std::to_string(position) + " of the line on");
  }

private:
  bool refuse(std::string why) {
    wrong = std::move(why);
    return false;
  }
  bool refuse_type() {
    return refuse(depth_ == 0 ? "no object" : "a key or a value that is no text; write it in quotes");
  }

  record& into_;
  std::string* place_ = nullptr;
  int depth_ = 0;
  bool has_key_ = false;
  bool has_value_ = false;
};

bool is_text(std::string_view text, std::string& quoted) {
  try {
    quoted = json(text).dump();
    return true;
  } catch (const json::type_error&) {
    return false; // not UTF-8
  }
}

} // namespace

std::string read_json(std::string_view line, record& into) {
  taker take(into);
  if (!json::sax_parse(line.begin(), line.end(), &take)) return take.wrong;
  return take.is_complete() ? "" : "no \"key\" or no \"value\"; write {\"key\": \"...\", \"value\": \"...\"}";
}

bool write_json(std::string& to, std::string_view key, std::string_view value) {
  std::string quoted_key;
  std::string quoted_value;
  if (!is_text(key, quoted_key) || !is_text(value, quoted_value)) return false;
  to += "{\"key\":" + quoted_key + ",\"value\":" + quoted_value + "}\n";
  return true;
}

} // namespace store
