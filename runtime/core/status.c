// Names of the status codes.
#include "steprt.h"

const char *steprt_status_text(steprt_status s) {
  switch (s) {
#define STATUS(id, value, text)                                                          \
  case STEPRT_##id: return text;
#include "core/status.def"
#undef STATUS
  default: return "unknown status";
  }
}
