#include "analyzer/import/kineto/names.h"

#include <array>
#include <utility>

namespace lockstep::analyzer::kineto {

Category category_of(std::string_view cat) {
  static constexpr std::array<std::pair<std::string_view, Category>, 23> kCategories{{
      {"kernel", Category::kernel},
      {"cpu_op", Category::operation},
      {"cuda_runtime", Category::launch},
      {"gpu_memcpy", Category::copy},
      {"gpu_memset", Category::copy},
      {"cuda_driver", Category::launch},
      {"user_annotation", Category::host},
      {"python_function", Category::python},
      {"cuda_sync", Category::sync},
      {"xpu_runtime", Category::launch},
      {"xpu_driver", Category::launch},
      {"hip_runtime", Category::launch},
      {"hip_driver", Category::launch},
      {"mtia_runtime", Category::launch},
      {"privateuse1_runtime", Category::launch},
      {"privateuse1_driver", Category::launch},
      {"Kernel", Category::kernel},
      {"Memcpy", Category::copy},
      {"Memset", Category::copy},
      {"Runtime", Category::launch},
      {"Operator", Category::operation},
      {"Python function", Category::python},
      {"overhead", Category::overhead},
  }};
  for (const auto& [text, category] : kCategories)
    if (text == cat) return category;
  return Category::other;
}

}  // namespace lockstep::analyzer::kineto
