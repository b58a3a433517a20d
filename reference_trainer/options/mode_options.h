// The options of each mode of training, which this folder does not know: one object of each type, as that
// type has it by default until somebody changes it.
//
//   options.own.get<FsdpOptions>().forward_prefetch
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace lockstep::trainer {

class ModeOptions {
 public:
  // Stays where it is as long as this does.
  template <class Own>
  Own& get() {
    std::any& object = objects_[typeid(Own)];
    if (!object.has_value()) object.emplace<Own>();
    return *std::any_cast<Own>(&object);
  }
  template <class Own>
  const Own& get() const {
    static const Own usual{};
    const auto found = objects_.find(typeid(Own));
    return found == objects_.end() ? usual : *std::any_cast<Own>(&found->second);
  }

 private:
  std::map<std::type_index, std::any> objects_;
};

}  // namespace lockstep::trainer
