// Stands in for Gloo's header of this name: c10d includes it and uses nothing of it.
#pragma once
