// Stand-in, see gloo/context.h: types that c10d only points to.
#pragma once

namespace gloo::transport {

class Device;
class UnboundBuffer;

}  // namespace gloo::transport
