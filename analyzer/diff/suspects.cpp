#include "analyzer/diff/suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "base/words.h"

namespace lockstep::analyzer {
namespace {

struct Word {
  std::string name, value;  // "--bucket-cap-mb" and "25"; of what is no flag its value alone
  bool operator==(const Word&) const = default;
};

bool is_flag(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && !(word[1] >= '0' && word[1] <= '9');
}

// "--flag=value", "--flag value" and "NAME=value" are one thing with a name, of which the last counts; the
// rest stands for itself.
std::vector<Word> words_of(const std::vector<std::string>& command) {
  std::vector<Word> words;
  const auto set = [&](std::string name, std::string value) {
    std::erase_if(words, [&](const Word& word) { return word.name == name; });
    words.push_back({std::move(name), std::move(value)});
  };
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && equals > 0 && word.find_first_of(" \n") > equals)
      set(word.substr(0, equals), word.substr(equals + 1));
    else if (is_flag(word) && i + 1 < command.size() && !is_flag(command[i + 1]))
      set(word, command[i + 1]), ++i;
    else if (is_flag(word))
      set(word, "given");
    else
      words.push_back({"", word});
  }
  return words;
}

// Words that one command has and the other has not, whatever their order.
std::vector<Word> without(std::vector<Word> words, const std::vector<Word>& others) {
  for (const Word& other : others) {
    const auto found = std::find(words.begin(), words.end(), other);
    if (found != words.end()) words.erase(found);
  }
  return words;
}

void compare_commands(const RunSettings& a, const RunSettings& b, std::vector<Suspect>& found) {
  if (a.command.empty() || b.command.empty()) return;
  const std::vector<Word> all_a = words_of(a.command), all_b = words_of(b.command);
  const std::vector<Word> only_a = without(all_a, all_b);
  std::vector<Word> only_b = without(all_b, all_a);
  for (const Word& word : only_a) {
    const auto same = std::find_if(only_b.begin(), only_b.end(),
                                   [&](const Word& other) { return other.name == word.name; });
    found.push_back({word.name.empty() ? "command" : word.name, word.value,
                     same == only_b.end() ? std::string() : std::move(same->value)});
    if (same != only_b.end()) only_b.erase(same);
  }
  for (Word& word : only_b)
    found.push_back({word.name.empty() ? "command" : std::move(word.name), "", std::move(word.value)});
}

// Values of ranks, each once: "cuda:0, cuda:1".
template <class Of>
std::string values_of_ranks(const Job& job, Of of) {
  std::set<std::string> values;
  for (const RankTrace& rank : job.ranks)
    if (std::string value = of(rank); !value.empty()) values.insert(std::move(value));
  return join_words(values, ", ");
}

}  // namespace

RunSettings settings_of(const Job& job) {
  RunSettings settings{.command = job.start.command, .values = {}};
  const auto set = [&](const char* name, std::string value) {
    if (!value.empty()) settings.values.emplace(name, std::move(value));
  };
  for (const auto& [name, value] : job.start.environment) settings.values.emplace(name, value);
  set("working folder", job.start.working_folder);
  set("ranks", std::to_string(job.world_size));
  set("hosts", values_of_ranks(job, [](const RankTrace& rank) { return rank.host; }));
  set("kinds of devices", values_of_ranks(job, [](const RankTrace& rank) {
        return rank.device.substr(0, rank.device.find(':'));
      }));
  // Threads that bind themselves may have fewer for a while.
  std::int32_t cores = 0;
  for (const RankTrace& rank : job.ranks) cores = std::max(cores, rank.cores);
  set("cores of a rank", cores == 0 ? std::string() : std::to_string(cores));
  set("limit of cores' time", values_of_ranks(job, [](const RankTrace& rank) {
        return rank.core_quota > 0 ? fmt::format("{:g}", rank.core_quota) : std::string();
      }));
  set("recorded by", join_words(job.sources, ", "));
  return settings;
}

std::vector<Suspect> suspects(const RunSettings& a, const RunSettings& b) {
  std::vector<Suspect> found;
  compare_commands(a, b, found);
  std::set<std::string> names;
  for (const RunSettings* side : {&a, &b})
    for (const auto& [name, value] : side->values) names.insert(name);
  for (const std::string& name : names) {
    const auto value_of = [&](const RunSettings& side) {
      const auto value = side.values.find(name);
      return value == side.values.end() ? std::string() : value->second;
    };
    std::string in_a = value_of(a), in_b = value_of(b);
    if (in_a != in_b) found.push_back({name, std::move(in_a), std::move(in_b)});
  }
  return found;
}

}  // namespace lockstep::analyzer
