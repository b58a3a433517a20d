#include "tracer/doctor/python.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/numbers.h"

namespace lockstep::tracer::doctor {

namespace {

constexpr std::uint32_t kPythonMilliseconds = 20'000;  // an environment on a shared disk takes its time

// Finds torch without importing it.
constexpr const char* kProgram = R"(import json, os, sys
answer = {"version": "%d.%d.%d" % sys.version_info[:3], "isolated": bool(sys.flags.isolated),
          "ignore_environment": bool(sys.flags.ignore_environment), "no_site": bool(sys.flags.no_site)}
for name in ("sitecustomize", "usercustomize"):
    answer[name] = getattr(sys.modules.get(name), "__file__", None) or ""
try:
    import importlib.util
    found = importlib.util.find_spec("torch")
    if found is not None and found.origin:
        answer["torch_folder"] = os.path.dirname(os.path.realpath(found.origin))
        with open(os.path.join(answer["torch_folder"], "version.py"), errors="replace") as file:
            answer["torch_version_file"] = file.read(65536)
except Exception as error:
    answer["torch_problem"] = repr(error)
print("lockstep-doctor " + json.dumps(answer))
)";

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// "python", "python3", "python3.11"
bool is_python_name(std::string_view name) {
  if (!name.starts_with("python")) return false;
  name.remove_prefix(6);
  return std::all_of(name.begin(), name.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t\r", i);
    if (begin == std::string_view::npos) break;
    i = std::min(line.size(), line.find_first_of(" \t\r", begin));
    words.emplace_back(line.substr(begin, i - begin));
  }
  return words;
}

// Flags before the script, -c or -m. A cluster such as -Es counts as its letters.
std::vector<std::string> start_flags(const std::vector<std::string>& words, std::size_t from) {
  std::vector<std::string> flags;
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-' || word[1] == '-') break;
    for (const char letter : std::string_view(word).substr(1)) {
      if (letter == 'c' || letter == 'm') return flags;
      if (letter == 'W' || letter == 'X') {
        if (word.back() == letter) ++i;  // its value is the next word
        break;
      }
      if (letter == 'I' || letter == 'E' || letter == 'S' || letter == 's') {
        flags.push_back(std::string("-") + letter);
      }
    }
  }
  return flags;
}

// The interpreter in the first line of a script.
std::optional<Interpreter> interpreter_of_script(const Machine& machine, const std::string& path) {
  const std::optional<std::string> text = machine.read(path);
  if (!text.has_value() || !text->starts_with("#!")) return std::nullopt;
  std::vector<std::string> words = words_of(std::string_view(*text).substr(2, text->find('\n') - 2));
  if (!words.empty() && base_name(words[0]) == "env") {
    words.erase(words.begin());
    while (!words.empty() && words[0].starts_with('-')) words.erase(words.begin());  // env -S
  }
  if (words.empty() || !is_python_name(base_name(words[0]))) return std::nullopt;
  std::string found = machine.find_command(words[0]);
  if (found.empty()) return std::nullopt;
  return Interpreter{found, start_flags(words, 1), true};
}

bool boolean(const nlohmann::json& answer, const char* key) {
  const auto found = answer.find(key);
  return found != answer.end() && found->is_boolean() && found->get<bool>();
}
std::string text_of(const nlohmann::json& answer, const char* key) {
  const auto found = answer.find(key);
  return found != answer.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The text between the quotes in "name = 'text'" or "name: Optional[str] = 'text'".
std::string assigned_text(std::string_view file, std::string_view name) {
  for (std::size_t begin = 0; begin < file.size();) {
    const std::size_t end = std::min(file.size(), file.find('\n', begin));
    std::string_view line = file.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    const std::size_t equals = line.find('=');
    const bool whole_name = !line.empty() && (line[0] == ' ' || line[0] == ':' || line[0] == '=');
    if (!whole_name || equals == std::string_view::npos) continue;
    const std::size_t open = line.find_first_of("'\"", equals);
    if (open == std::string_view::npos) continue;
    const std::size_t close = line.find(line[open], open + 1);
    if (close != std::string_view::npos) return std::string(line.substr(open + 1, close - open - 1));
  }
  return {};
}

}  // namespace

Interpreter find_interpreter(const Machine& machine, const std::vector<std::string>& command) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word.empty() || word[0] == '-') continue;
    const std::string found = machine.find_command(word);
    if (found.empty()) continue;
    if (is_python_name(base_name(word))) return Interpreter{found, start_flags(command, i + 1), true};
    if (std::optional<Interpreter> of_script = interpreter_of_script(machine, found)) return *of_script;
  }
  for (const char* name : {"python3", "python"}) {
    if (std::string found = machine.find_command(name); !found.empty()) return Interpreter{found, {}, false};
  }
  return {};
}

PythonFacts parse_python_answer(std::string_view text) {
  PythonFacts facts;
  // A sitecustomize may print before us.
  constexpr std::string_view kMark = "lockstep-doctor ";
  const std::size_t begin = text.rfind(kMark);
  const nlohmann::json answer =
      begin == std::string_view::npos
          ? nlohmann::json()
          : nlohmann::json::parse(text.substr(begin + kMark.size()), nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) {
    facts.problem = "its answer was not understood";
    return facts;
  }
  facts.version = text_of(answer, "version");
  facts.isolated = boolean(answer, "isolated");
  facts.ignores_environment = boolean(answer, "ignore_environment");
  facts.no_site = boolean(answer, "no_site");
  facts.sitecustomize = text_of(answer, "sitecustomize");
  facts.usercustomize = text_of(answer, "usercustomize");
  facts.torch_folder = text_of(answer, "torch_folder");
  facts.torch_version_file = text_of(answer, "torch_version_file");
  return facts;
}

PythonFacts ask_python(const Machine& machine, const std::vector<std::string>& command) {
  const Interpreter interpreter = find_interpreter(machine, command);
  PythonFacts facts;
  facts.interpreter = interpreter;
  if (interpreter.path.empty()) {
    facts.problem = "there is no python3 on PATH";
    return facts;
  }
  std::vector<std::string> argv{interpreter.path};
  argv.insert(argv.end(), interpreter.flags.begin(), interpreter.flags.end());
  argv.insert(argv.end(), {"-c", kProgram});
  const CommandResult result = machine.run(argv, kPythonMilliseconds);
  if (result.timed_out) {
    facts.problem =
        fmt::format("{} did not answer within {} s", interpreter.path, kPythonMilliseconds / 1000);
  } else if (!result.started || result.exit_code != 0) {
    const std::string last = result.error.substr(0, result.error.find_last_not_of('\n') + 1);
    facts.problem = fmt::format("{} failed (exit code {}): {}", interpreter.path, result.exit_code,
                                last.substr(last.rfind('\n') + 1));
  } else {
    facts = parse_python_answer(result.output);
    facts.interpreter = interpreter;
    if (!facts.problem.empty()) facts.problem = interpreter.path + ": " + facts.problem;
  }
  return facts;
}

TorchVersion parse_torch_version(std::string_view version_file) {
  TorchVersion version;
  version.text = assigned_text(version_file, "__version__");
  version.cuda = assigned_text(version_file, "cuda");
  version.hip = assigned_text(version_file, "hip");
  std::string_view rest = version.text;
  const auto major = take_number<int>(rest);
  version.major = major.value_or(0);
  if (!major || !rest.starts_with('.')) return version;
  rest.remove_prefix(1);
  version.minor = take_number<int>(rest).value_or(0);
  return version;
}

}  // namespace lockstep::tracer::doctor
