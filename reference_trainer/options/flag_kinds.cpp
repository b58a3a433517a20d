#include "reference_trainer/options/flag_kinds.h"

#include <charconv>

namespace lockstep::trainer {

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return {[least, most](const std::string& text) {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool whole = error == std::errc() && end == text.data() + text.size();
            return whole && value >= least && value <= most
                       ? std::string()
                       : fmt::format("'{}' must be a whole number from {} to {}", text, least, most);
          },
          ""};
}

CLI::Validator number(bool zero_allowed, double most) {
  return {[zero_allowed, most](const std::string& text) {
            double value = 0;
            const bool parsed = CLI::detail::lexical_cast(text, value);
            return parsed && value <= most && (value > 0 || (zero_allowed && value == 0))
                       ? std::string()
                       : fmt::format("'{}' must be a number {} 0, up to {}", text,
                                     zero_allowed ? "of at least" : "above", most);
          },
          ""};
}

CLI::Option* add_switch_off(CLI::App& app, const char* flag, const char* help, bool& value) {
  return app.add_flag_callback(
      flag, [&value] { value = false; }, help);
}

}  // namespace lockstep::trainer
