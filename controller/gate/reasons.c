#include "controller/gate/reasons.h"

#define SECTION(title, text)
#define REASON(tag, name, when, cure) const char REASON_##tag[] = name;
#include "controller/gate/reasons.def"
