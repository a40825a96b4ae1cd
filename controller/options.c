#include "controller/options.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/must.h"
#include "base/span.h"
#include "controller/common/clock.h"
#include "controller/ledger/retention.h"
#include "record/recorder.h"
#include "sluice/quantity.h"

/* ---- what has a form of its own -------------------------------------------------------------- */

static int take_identity(const struct flag *f, const char *text, void *options, struct err *e)
{
	struct options *o = options;
	size_t n = strlen(text);
	bool good = n >= 1 && n < sizeof(o->identity);
	for (size_t i = 0; i < n && good; i++)
		good = text[i] > ' ' && text[i] < 0x7F;
	if (!good)
		return flag_refuse(f, text, e);
	memcpy(o->identity, text, n + 1);
	return 0;
}

static int take_listen(const struct flag *f, const char *text, void *to, struct err *e)
{
	struct listen_at *ret = to;
	ret->on = strcmp(text, "off") != 0;
	if (!ret->on)
		return 0;
	const char *colon = strrchr(text, ':'), *host = text;
	size_t len = colon ? (size_t)(colon - text) : 0;
	bool bracketed = len >= 2 && host[0] == '[' && host[len - 1] == ']';
	if (bracketed) {
		host++;
		len -= 2;
	}
	int64_t port;
	/* Another colon means an IPv6 address without its brackets. */
	if (!colon || (!bracketed && memchr(host, ':', len)) || len >= sizeof(ret->host) ||
		!flag_read_number(colon + 1, &port) || port > UINT16_MAX)
		return flag_refuse(f, text, e);
	memcpy(ret->host, host, len);
	ret->host[len] = '\0';
	ret->port = (uint16_t)port;
	return 0;
}

/* Whether the API server takes the address into an EndpointSlice. */
static bool v4_is_reachable(const struct in_addr *a)
{
	uint32_t n = ntohl(a->s_addr);
	return n != 0 && n >> 24 != 127 && n >> 16 != 0xA9FE && n >> 28 < 0xE;
}

static bool v6_is_reachable(const struct in6_addr *a)
{
	return !IN6_IS_ADDR_UNSPECIFIED(a) && !IN6_IS_ADDR_LOOPBACK(a) &&
	       !IN6_IS_ADDR_LINKLOCAL(a) && !IN6_IS_ADDR_MULTICAST(a) && !IN6_IS_ADDR_V4MAPPED(a);
}

/* Takes an IP address in its shortest form; v4_is_good and v6_is_good say which. */
static int take_address(const struct flag *f, const char *text, char ret[INET6_ADDRSTRLEN],
	bool (*v4_is_good)(const struct in_addr *), bool (*v6_is_good)(const struct in6_addr *),
	struct err *e)
{
	struct in_addr v4;
	struct in6_addr v6;
	bool is_v4 = inet_pton(AF_INET, text, &v4) == 1 && v4_is_good(&v4);
	bool is_v6 = !is_v4 && inet_pton(AF_INET6, text, &v6) == 1 && v6_is_good(&v6);
	if (!is_v4 && !is_v6)
		return flag_refuse(f, text, e);
	must(inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? (void *)&v4 : (void *)&v6, ret,
		INET6_ADDRSTRLEN));
	return 0;
}

static int take_visibility_address(
	const struct flag *f, const char *text, void *options, struct err *e)
{
	struct options *o = options;
	return take_address(f, text, o->visibility_address, v4_is_reachable, v6_is_reachable, e);
}

static bool v4_is_one(const struct in_addr *a)
{
	uint32_t n = ntohl(a->s_addr);
	return n != 0 && n >> 28 < 0xE;
}

static bool v6_is_one(const struct in6_addr *a)
{
	return !IN6_IS_ADDR_UNSPECIFIED(a) && !IN6_IS_ADDR_LINKLOCAL(a) &&
	       !IN6_IS_ADDR_MULTICAST(a) && !IN6_IS_ADDR_V4MAPPED(a);
}

static int take_node_address(const struct flag *f, const char *text, void *options, struct err *e)
{
	return take_address(
		f, text, ((struct options *)options)->node_address, v4_is_one, v6_is_one, e);
}

static int take_namespaces(const struct flag *f, const char *text, void *options, struct err *e)
{
	struct options *o = options;
	if (o->has_namespaces)
		selector_done(&o->namespaces);
	o->has_namespaces = true;
	return selector_parse(text, &o->namespaces) ? 0 : flag_refuse(f, text, e);
}

static int take_clock_offset(const struct flag *f, const char *text, void *to, struct err *e)
{
	(void)f;
	(void)to;
	return clock_set_offset(text, e);
}

static int take_clock_rate(const struct flag *f, const char *text, void *to, struct err *e)
{
	(void)f;
	(void)to;
	return clock_set_rate(text, e);
}

static int take_bill_labels(const struct flag *f, const char *text, void *to, struct err *e)
{
	int rc = bill_labels_parse(text, to, e);
	if (rc)
		err_wrap(e, "--%s", f->name);
	return rc;
}

static int take_overcommit_config(
	const struct flag *f, const char *text, void *options, struct err *e)
{
	struct options *o = options;
	const char *whole, *slash = strchr(text, '/');
	int rc = flag_configmap(f, text, &whole, e);
	if (rc)
		return rc;
	snprintf(o->overcommit_namespace, sizeof(o->overcommit_namespace), "%.*s",
		slash ? (int)(slash - text) : 0, text);
	snprintf(o->overcommit_config, sizeof(o->overcommit_config), "%s", slash ? slash + 1 : "");
	return 0;
}

static bool read_bytes(const char *text, int64_t *ret)
{
	return quantity_parse(slice_of(text), QUANTITY_WHOLE, ret, NULL) == 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define LISTEN(flag_name, member)                                                                    \
	{                                                                                            \
		FLAG_TAKE_TO(flag_name, take_listen, struct listen_at, struct options, member),      \
			.must_be =                                                                   \
				"ADDRESS:PORT, such as 127.0.0.1:8080 or [::]:8080, or the word off" \
	}
#define DURATION(flag_name, member, such_as)                                                       \
	{                                                                                          \
		FLAG_AMOUNT(flag_name, struct options, member),                                    \
			.read = span_parse_seconds, .zero = true,                                  \
			.must_be = "a duration such as " such_as                                   \
	}

static const struct flag rows[] = {
	{FLAG_SOME("kubeconfig", struct options, kubeconfig)},
	{FLAG_SOME("context", struct options, context)},
	{FLAG_TEXT("database", struct options, database)},
	{FLAG_GIVEN("migrate-only", 0, struct options, migrate_only)},
	/* In every key of the ledger and in labels of dashboards: so it is kept plain. */
	{FLAG_NAMESPACE_OF("cell", 0, struct options, cell),
		.must_be =
			"1 to 63 lower-case letters, digits and '-', such as prod-eu-1, for it names this cluster in the ledger"},
	LISTEN("listen", listen),
	LISTEN("probe-listen", probe_listen),
	{FLAG_GIVEN("loopback-needs-token", 0, struct options, loopback_needs_token)},
	{FLAG_SOME("token-audience", struct options, token_audience)},
	{FLAG_SOME("tls-cert-file", struct options, tls_cert_file)},
	{FLAG_SOME("tls-private-key-file", struct options, tls_key_file)},
	{FLAG_GIVEN("tls-self-signed", 0, struct options, tls_self_signed)},
	LISTEN("visibility-listen", visibility_listen),
	{FLAG_TAKE("visibility-address", 0, take_visibility_address),
		.must_be =
			"the IP address by which API servers reach this controller, such as 10.1.2.3 or fd00::5, and no loopback address"},
	{FLAG_SOME("visibility-cert-file", struct options, visibility_cert_file)},
	{FLAG_SOME("visibility-key-file", struct options, visibility_key_file)},
	LISTEN("node-listen", node_listen),
	{FLAG_TAKE("node-address", 0, take_node_address),
		.must_be =
			"the IP address by which nodes reach this controller, such as 10.1.2.3 or fd00::5"},
	{FLAG_SOME("node-cert-file", struct options, node_cert_file)},
	{FLAG_SOME("node-key-file", struct options, node_key_file)},
	{FLAG_PICK(enum log_format, "log-format", 0, struct options, log_format, "text|json")},
	{FLAG_PICK(enum log_level, "log-level", 0, struct options, log_level,
		"error|warn|info|debug")},
	{FLAG_TAKE("identity", 0, take_identity),
		.must_be =
			"1 to 127 printable ASCII characters without blanks, and no other running controller may have it"},
	{FLAG_COUNT("lease-seconds", struct options, lease_ms, 3, 300), .unit = 1000},
	{FLAG_COUNT("max-writes", struct options, max_writes, 1, 1000)},
	{FLAG_GIVEN(
		"manage-jobs-without-queue-name", 0, struct options, manage_without_queue_name)},
	{FLAG_TAKE("managed-jobs-namespace-selector", 0, take_namespaces),
		.must_be = "a label selector as for kubectl -l, such as team in (a,b),env!=test"},
	DURATION("note-after", note_after_ms, "60s or 5m, or 0 for never"),
	DURATION("stuck-after", stuck_after_ms, "60s or 5m, or 0 for never"),
	DURATION("settle-after-failover", settle_ms, "60s, or 0s for none"),
	DURATION("mass-stop-after", mass_stop_after_ms, "10m, or 0s for at once"),
	{FLAG_PICK(enum events_level, "events", 0, struct options, events, "stops|all|none")},
	{FLAG_EITHER("forecasts", 0, struct options, forecasts, "off|on")},
	{FLAG_NAMESPACE_OF("config-namespace", 0, struct options, config_namespace),
		.must_be = "the name of a namespace, such as sluice-system"},
	{FLAG_TAKE("overcommit-config", 0, take_overcommit_config)},
	{FLAG_TAKE("clock-offset", 0, take_clock_offset)},
	{FLAG_TAKE("clock-rate", 0, take_clock_rate)},
	{FLAG_AMOUNT("keep-history", struct options, keep_history_ms), .read = span_parse_long,
		.zero = true, .least = RETENTION_LEAST_MS,
		.must_be =
			"how long the ledger keeps an attempt after its end, such as 400d or 57w; 40d at least, for a new leader reads five weeks of runs back; or 0 for ever"},
	{FLAG_TAKE_TO(
		"bill-labels", take_bill_labels, struct bill_labels, struct options, bill_labels)},
	{FLAG_SOME("record", struct options, record)},
	{FLAG_AMOUNT("record-max", struct options, record_most_bytes), .read = read_bytes,
		.least = (int64_t)RECORD_LEAST_BYTES,
		.must_be = "how many bytes all records may take, such as 4Gi, and at least 64Mi"},
	{FLAG_HELP},
	{FLAG_VERSION},
};

/* ---- the whole line -------------------------------------------------------------------------- */

static void begin(void *options)
{
	struct options *o = options;
	o->database = "";
	o->cell = "default";
	o->listen = (struct listen_at){true, "127.0.0.1", 8080};
	o->log_level = LEVEL_INFO;
	o->lease_ms = 15000;
	o->max_writes = 64;
	o->note_after_ms = 60000;
	o->forecasts = true;
	o->stuck_after_ms = 10000;
	o->mass_stop_after_ms = 600000;
	o->keep_history_ms = 400 * RETENTION_DAY_MS;
	o->record_most_bytes = INT64_C(1) << 30;
	o->settle_ms = 60000;
	o->config_namespace = "sluice-system";
	strcpy(o->overcommit_namespace, "kube-system");
	strcpy(o->overcommit_config, "ack-slo-config");
	must(bill_labels_parse(BILL_LABELS_DEFAULT, &o->bill_labels, NULL) == 0);
}

/* Makes an identity that is unique without a pid: in a container that is always 1. */
static void default_identity(struct options *o)
{
	char host[100] = "";
	uint32_t random = (uint32_t)getpid();
	if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0')
		strcpy(host, "sluice");
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random ^= (uint32_t)getpid();
	snprintf(o->identity, sizeof(o->identity), "%s_%08" PRIx32, host, random);
}

static int check_pair(const char *cert_flag, const char *cert, const char *key_flag,
	const char *key, struct err *e)
{
	if (!cert == !key)
		return 0;
	return err_set(e, ERR_INVALID, "--%s is given without --%s; give both",
		cert ? cert_flag : key_flag, cert ? key_flag : cert_flag);
}

static int check_tls(const struct options *o, struct err *e)
{
	int rc = check_pair(
		"tls-cert-file", o->tls_cert_file, "tls-private-key-file", o->tls_key_file, e);
	if (rc == 0)
		rc = check_pair("visibility-cert-file", o->visibility_cert_file,
			"visibility-key-file", o->visibility_key_file, e);
	if (rc == 0)
		rc = check_pair(
			"node-cert-file", o->node_cert_file, "node-key-file", o->node_key_file, e);
	if (rc == 0 && o->tls_cert_file && o->tls_self_signed)
		rc = err_set(
			e, ERR_INVALID, "--tls-self-signed and --tls-cert-file exclude each other");
	return rc;
}

/* Agents are told the address of visibility where they are told no other. */
static int find_node_address(struct options *o, struct err *e)
{
	if (o->node_address[0] == '\0')
		strcpy(o->node_address, o->visibility_address);
	if (!o->node_listen.on || o->node_address[0])
		return 0;
	return err_set(e, ERR_INVALID,
		"--node-listen is given without --node-address: say the IP address by which nodes reach this controller");
}

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	struct options *o = options;
	if (nwords > 0)
		return err_set(e, ERR_INVALID, "\"%.80s\" is not understood: there are only flags",
			word[0]);
	if (o->identity[0] == '\0')
		default_identity(o);
	int rc = check_tls(o, e);
	return rc ? rc : find_node_address(o, e);
}

static void done(void *options)
{
	struct options *o = options;
	if (o->has_namespaces)
		selector_done(&o->namespaces);
}

const struct flag_table options_flags = {FLAG_TABLE(rows, struct options), .more = &settings_flags,
	.more_to = offsetof(struct options, settings), .begin = begin, .finish = finish,
	.done = done};

int options_parse(int argc, char **argv, struct options *ret, struct err *e)
{
	return flags_read(&options_flags, argc, argv, ret, e);
}

void options_done(struct options *o)
{
	flags_done(&options_flags, o);
}

void options_print_help(FILE *out)
{
	for (size_t i = 0; i < OPTIONS_HELP_COUNT; i++)
		fputs(OPTIONS_HELP[i].text, out);
}

void options_print_version(FILE *out)
{
	fprintf(out, "sluice-controller %s\n", SLUICE_VERSION);
}
