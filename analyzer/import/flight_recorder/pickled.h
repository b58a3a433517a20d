// For this folder's tests: JSON as a pickle, written the way PyTorch's C++ pickler does (protocol 2, texts
// remembered, containers filled in one go).
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/import/flight_recorder/document.h"

namespace lockstep::analyzer::flight_recorder {

class Pickler {
 public:
  static std::string pickle(const nlohmann::json& value) {
    Pickler pickler;
    pickler.out_ = "\x80\x02";
    pickler.put(value);
    return pickler.out_ + ".";
  }

 private:
  void little_endian(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) out_ += static_cast<char>(value >> (8 * i));
  }
  void put_text(const std::string& text) {
    const auto [where, fresh] = memo_.try_emplace(text, memo_.size());
    if (!fresh) {
      out_ += where->second < 256 ? 'h' : 'j';
      return little_endian(where->second, where->second < 256 ? 1 : 4);
    }
    out_ += 'X';
    little_endian(text.size(), 4);
    out_ += text;
    out_ += where->second < 256 ? 'q' : 'r';
    little_endian(where->second, where->second < 256 ? 1 : 4);
  }
  void put_integer(std::int64_t value) {
    if (value >= 0 && value < 256) {
      out_ += 'K';
      return little_endian(static_cast<std::uint64_t>(value), 1);
    }
    if (value >= 0 && value < 65536) {
      out_ += 'M';
      return little_endian(static_cast<std::uint64_t>(value), 2);
    }
    if (value >= INT32_MIN && value <= INT32_MAX) {
      out_ += 'J';
      return little_endian(static_cast<std::uint64_t>(value), 4);
    }
    out_ += '\x8a';
    out_ += '\x08';
    little_endian(static_cast<std::uint64_t>(value), 8);
  }
  void put_real(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    out_ += 'G';
    for (int i = 7; i >= 0; --i) out_ += static_cast<char>(bits >> (8 * i));
  }
  void put(const nlohmann::json& value) {
    if (value.is_null()) {
      out_ += 'N';
    } else if (value.is_boolean()) {
      out_ += value.get<bool>() ? '\x88' : '\x89';
    } else if (value.is_number_integer()) {
      put_integer(value.get<std::int64_t>());
    } else if (value.is_number()) {
      put_real(value.get<double>());
    } else if (value.is_string()) {
      put_text(value.get<std::string>());
    } else if (value.is_array()) {
      out_ += "](";
      for (const nlohmann::json& item : value) put(item);
      out_ += 'e';
    } else {
      out_ += "}(";
      for (const auto& [key, item] : value.items()) {
        put_text(key);
        put(item);
      }
      out_ += 'u';
    }
  }

  std::string out_;
  std::map<std::string, std::uint64_t> memo_;
};

// What a document holds, as JSON again.
inline nlohmann::json as_json(const Document& document, Document::Id value) {
  switch (document.kind(value)) {
    case Document::Kind::none:
      return nullptr;
    case Document::Kind::boolean:
      return *document.boolean(value);
    case Document::Kind::integer:
      return *document.integer(value);
    case Document::Kind::real:
      return *document.real(value);
    case Document::Kind::text:
      return std::string(*document.text(value));
    case Document::Kind::list: {
      nlohmann::json list = nlohmann::json::array();
      for (const Document::Id item : document.items(value)) list.push_back(as_json(document, item));
      return list;
    }
    case Document::Kind::dictionary: {
      nlohmann::json dictionary = nlohmann::json::object();
      const auto entries = document.entries(value);
      for (std::size_t i = 0; i + 1 < entries.size(); i += 2)
        dictionary[std::string(document.text(entries[i]).value_or("?"))] = as_json(document, entries[i + 1]);
      return dictionary;
    }
  }
  return nullptr;
}

}  // namespace lockstep::analyzer::flight_recorder
