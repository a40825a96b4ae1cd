#include "controller/gate/intent.h"

static const struct {
	unsigned traits;
	const char *does;
} ROWS[] = {
#define INTENT(kind, does, traits, ...) [INTENT_##kind] = {traits, does},
#include "controller/gate/intents.def"
};

bool intent_is(enum intent_kind k, unsigned traits)
{
	return ROWS[k].traits & traits;
}

const char *intent_does(enum intent_kind k)
{
	return ROWS[k].does;
}
