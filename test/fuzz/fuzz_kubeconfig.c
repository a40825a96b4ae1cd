/*
 * Any bytes as a kubeconfig: an error sentence or a configuration, never a crash, a leak or a read
 * of a file.
 */
#include <stdint.h>

#include "base/must.h"
#include "controller/kube/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kube_config_options options = {0};
	struct kube_config *config = NULL;
	struct err err = {""};
	struct slice text = {(const char *)data, size};
	int rc = kube_config_parse(text, "/fuzz/kubeconfig", &options, &config, &err);
	must((rc == 0) == (config != NULL));
	must(rc == 0 || err.text[0]);
	if (config) {
		must(config->server && config->namespace_name && config->origin);
		must(slice_starts(slice_of(config->server), "https://"));
	}
	kube_config_free(config);
	return 0;
}
