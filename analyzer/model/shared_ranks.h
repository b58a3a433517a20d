// A list of ranks that does not change and is held once, however many groups have it: each file of a job of
// 10,000 ranks names the 10,000 of its world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace lockstep::analyzer {

class SharedRanks {
 public:
  using List = std::vector<std::int32_t>;
  using value_type = List::value_type;
  using const_iterator = List::const_iterator;
  using iterator = const_iterator;

  SharedRanks() = default;
  SharedRanks(List ranks)  // NOLINT(google-explicit-constructor): it is such a list
      : list_(ranks.empty() ? nullptr : std::make_shared<const List>(std::move(ranks))) {}
  SharedRanks(std::initializer_list<std::int32_t> ranks) : SharedRanks(List(ranks)) {}

  const List& list() const {
    static const List kNone;
    return list_ == nullptr ? kNone : *list_;
  }
  operator const List&() const { return list(); }  // NOLINT(google-explicit-constructor)
  const_iterator begin() const { return list().begin(); }
  const_iterator end() const { return list().end(); }
  std::size_t size() const { return list().size(); }
  bool empty() const { return list_ == nullptr; }
  std::int32_t front() const { return list().front(); }
  std::int32_t back() const { return list().back(); }
  std::int32_t operator[](std::size_t i) const { return list()[i]; }

  friend bool operator==(const SharedRanks& a, const SharedRanks& b) {
    return a.list_ == b.list_ || a.list() == b.list();
  }
  friend bool operator<(const SharedRanks& a, const SharedRanks& b) {
    return a.list_ != b.list_ && a.list() < b.list();
  }

 private:
  std::shared_ptr<const List> list_;
};

// Makes equal lists one. Safe to use from several threads.
class SharedRanksPool {
 public:
  void share(SharedRanks& ranks) {
    const std::lock_guard lock(mutex_);
    ranks = *lists_.insert(ranks).first;
  }

 private:
  std::mutex mutex_;
  std::set<SharedRanks> lists_;
};

}  // namespace lockstep::analyzer
