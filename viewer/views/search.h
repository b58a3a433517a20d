// Finding events by name and by what they are.
//
//   gemm                     names that contain it, whatever the case
//   /gemm.*128/              names that the regular expression (RE2) is found in
//   rank=3 class=compute     of rank 3 alone; of a class: compute, collective, p2p, copy, host
//   longer=1ms shorter=5ms   by duration
//   step=12                  launched by that step
//
// Words are joined: all have to hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "viewer/timeline/scene.h"

namespace re2 {
class RE2;
}

namespace lockstep::viewer {

enum class SearchClass : std::uint8_t { any, compute, collective, p2p, copy, host };

struct SearchQuery {
  std::vector<std::string> words;           // in lower case
  std::shared_ptr<const re2::RE2> pattern;  // null: none
  std::optional<std::int32_t> rank;
  std::optional<std::int64_t> step;
  SearchClass kind = SearchClass::any;
  std::optional<std::int64_t> longer_ns, shorter_ns;  // inclusive
};
inline constexpr const char* kSearchAttributes = "rank, step, class, longer and shorter";
// Errors name the word that is wrong and what may stand there.
Result<SearchQuery> parse_search(const std::string& text);

// What of a name is searched, in lower case: of one of 100 kB the beginning.
std::string searched_part(std::string_view name);
// Whether a name does; of one of 100 kB only the beginning is looked at.
bool matches(const SearchQuery& query, std::string_view name);

inline constexpr std::size_t kMaxHits = 100'000;

// All hits of one rank, in order of lanes and time, at most `most`.
std::vector<SearchHit> search_rank(const Scene& scene, std::uint32_t rank, const SearchQuery& query,
                                   const std::vector<bool>& names, std::size_t most = kMaxHits);
// By string id: does the name match? O(strings). None from where it was stopped.
std::vector<bool> matching_names(const Scene& scene, const SearchQuery& query,
                                 const std::stop_token& stop = {});

// Searches beside the drawing; hits come rank by rank and are sorted by time once all are there.
class Search {
 public:
  explicit Search(const Scene& scene) : scene_(scene) {}
  ~Search() { stop(); }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // Starts anew unless the text is the same. What is wrong with it is in error().
  void ask(const std::string& text);
  const std::string& text() const { return text_; }
  const std::string& error() const { return error_; }
  bool busy() const { return worker_.joinable() && !done_; }
  bool cut() const { return done_ && hits_.size() >= kMaxHits; }
  // Empty while busy. Sorted by (begin, rank).
  const std::vector<SearchHit>& hits() const;
  // Why there are none (names_of_run.h); "" where there are, while busy, and where it is not known.
  const std::string& why_none() const;
  void wait();

 private:
  void stop();

  const Scene& scene_;
  std::string text_, error_;
  std::vector<SearchHit> hits_;
  std::string why_none_;
  std::atomic<bool> done_ = true;
  std::jthread worker_;
};

}  // namespace lockstep::viewer
