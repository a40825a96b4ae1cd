#include "sluice/dependency.h"

const char *dependency_kind_name(enum dependency_kind k)
{
	switch (k) {
	case AFTER_OK:
		return "afterok";
	case AFTER_NOT_OK:
		return "afternotok";
	case AFTER_ANY:
		return "afterany";
	case AFTER_START:
		return "after";
	case AFTER_SINGLETON:
		return "singleton";
	}
	return "";
}
