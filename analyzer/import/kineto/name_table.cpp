#include "analyzer/import/kineto/name_table.h"

#include "analyzer/import/kineto/json_text.h"
#include "analyzer/import/rank/names.h"

namespace lockstep::analyzer::kineto {

const NameInfo& NameTable::find(std::string_view raw) {
  if (const auto found = infos_.find(raw); found != infos_.end()) return found->second;
  NameInfo info;
  const std::string text = unescape(raw);
  info.id = strings_.intern(text);
  const KernelName kernel = kernel_name(text);
  info.kind = kernel.kind;
  info.operation = kernel.operation;
  info.launches = launches_work(text);
  return infos_.emplace(raws_.emplace_back(raw), info).first->second;
}

}  // namespace lockstep::analyzer::kineto
