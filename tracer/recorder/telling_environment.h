// The part of the environment that may make a job faster or slower, kept with the run: what two runs may
// differ in.
#pragma once

#include <map>
#include <string>

namespace lockstep::tracer::record {

// Of `environment` (name=value, ends with a null pointer) the variables of libraries that train and
// communicate: by the beginnings of their names, and none whose name speaks of a secret. Of values longer
// than 1 KiB the beginning.
std::map<std::string, std::string> telling_environment(const char* const* environment);

}  // namespace lockstep::tracer::record
