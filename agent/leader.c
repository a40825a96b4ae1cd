#include "agent/leader.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/flags.h"
#include "base/json.h"
#include "base/mem.h"
#include "node/wire.h"

enum { ADDRESS_SIZE = 64, CERTIFICATE_MAX_BYTES = 128 << 10 };

bool leader_is_address(const char *text)
{
	char host[ADDRESS_SIZE];
	struct in6_addr ip;
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	bool bracketed = len > 2 && text[0] == '[' && text[len - 1] == ']';
	int64_t port;
	if (len == 0 || len >= sizeof(host) || !flag_read_number(colon + 1, &port) || port < 1 ||
		port > UINT16_MAX)
		return false;
	memcpy(host, text + bracketed, len - 2 * bracketed);
	host[len - 2 * bracketed] = '\0';
	return inet_pton(bracketed ? AF_INET6 : AF_INET, host, &ip) == 1;
}

static struct kube_config *config_of(
	const struct leader_options *o, const char *address, const char *certificate)
{
	struct kube_config *c = mem_alloc(sizeof(*c));
	char server[ADDRESS_SIZE + 16];
	snprintf(server, sizeof(server), "%s://%s", o->plain ? "http" : "https", address);
	c->origin = mem_strdup("ConfigMap " NODES_CONFIGMAP);
	c->server = mem_strdup(server);
	c->namespace_name = mem_strdup(o->namespace_name);
	c->proxy_url = mem_strdup(""); /* whatever the environment says */
	c->ca.data = mem_strdup(certificate);
	c->token.path = mem_strdup(o->token_file);
	return c;
}

static bool is_said(const char *text)
{
	return text && *text;
}

static int read_data(
	const cJSON *data, const struct leader_options *o, struct kube_config **ret, struct err *e)
{
	const char *address = json_text(data, "address");
	const char *certificate = json_text(data, "certificate");
	if (!is_said(address) || !is_said(certificate))
		return err_set(e, ERR_GONE,
			"ConfigMap %s/" NODES_CONFIGMAP
			" names no leader yet: is a controller started with --node-listen?",
			o->namespace_name);
	if (!leader_is_address(address) || strlen(certificate) > CERTIFICATE_MAX_BYTES)
		return err_set(e, ERR_INVALID,
			"ConfigMap %s/" NODES_CONFIGMAP
			": address must be IP:PORT, such as 10.1.2.3:8444, and certificate PEM of at most 128 KiB",
			o->namespace_name);
	*ret = config_of(o, address, certificate);
	return 0;
}

int leader_read(struct json *j, struct slice text, const struct leader_options *o,
	struct kube_config **ret, struct err *e)
{
	const cJSON *root;
	int rc = json_parse(j, text, &root, e);
	if (rc == 0)
		rc = read_data(json_object(root, "data"), o, ret, e);
	json_reset(j);
	return rc;
}
