#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controller/wire/decode_parts.h"
#include "sluice/quantity.h"

#define WEIGHT_EXAMPLE "write 0, or a number greater than 0.000000001 such as 1, 2.5 or 500m"

/* Gives the factor of a quantity's suffix; 0 when it is none. */
static double suffix_factor(const char *suffix)
{
	static const char decimal[] = "num", large[] = "kMGTPE";
	const char *at;
	if (*suffix == '\0')
		return 1;
	if ((at = strchr(decimal, *suffix)) && suffix[1] == '\0')
		return pow(1000, (double)(at - decimal) - 3);
	const char first =
		*suffix == 'K' ? 'k' : *suffix; /* Ki has a large letter, k a small one */
	at = strchr(large, first);
	if (at && strcmp(suffix + 1, "i") == 0)
		return pow(1024, (double)(at - large) + 1);
	if (at && suffix[1] == '\0')
		return pow(1000, (double)(at - large) + 1);
	return 0;
}

/* Reads a weight, which is compared, never counted: so it may be a double, while amounts never
 * are. */
static bool weight_parse(const char *text, double *ret)
{
	struct err e;
	char *suffix;
	int64_t whole;
	if (quantity_parse(slice_of(text), QUANTITY_WHOLE, &whole, &e) < 0)
		return false;
	double value = strtod(text, &suffix) * suffix_factor(suffix);
	if (!isfinite(value) || value < 0 || (value > 0 && value <= 1e-9))
		return false;
	*ret = value;
	return true;
}

double weight_field(struct decoder *d, const struct path *up, const cJSON *spec)
{
	double weight = 1;
	const struct path *at = PATH(PATH(up, "fairSharing"), "weight");
	const cJSON *value = json_get(object_field(d, up, spec, "fairSharing"), "weight");
	if (!value)
		return 1;
	if (cJSON_IsNumber(value)) {
		weight = value->valuedouble;
		if (isfinite(weight) && (weight == 0 || weight > 1e-9))
			return weight;
	} else if (cJSON_IsString(value) && weight_parse(value->valuestring, &weight)) {
		return weight;
	}
	decoder_fault(d, at, "is no weight; " WEIGHT_EXAMPLE);
	return 1;
}
