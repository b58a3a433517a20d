#include "viewer/opening/return_memory.h"

#include <cstdlib>  // defines __GLIBC__
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lockstep::viewer {

void return_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace lockstep::viewer
