/*
 * Where the API server is and what our identity is there, as written down: kubeconfig or
 * in-cluster.
 *
 * A struct kube_config is read once and never changes; what changes while running (a rotated token
 * file, the answer of a credential plugin) is struct kube_credential, made from it. TLS is always
 * verified: insecure-skip-tls-verify is refused, as is everything that would silently make us
 * somebody else (impersonation, auth-provider, basic auth). Every error names the file, the entry,
 * the field and the cure, and never a secret.
 *
 * Sources, in controller-runtime's order: the path given; $KUBECONFIG (several files, merged as
 * client-go does: the first to name an entry wins, whole; a missing file is skipped); in-cluster
 * (KUBERNETES_SERVICE_HOST and the service account's files); ~/.kube/config. Paths inside a
 * kubeconfig are relative to the file they stand in.
 */
#ifndef SLUICE_CONTROLLER_KUBE_CONFIG_H
#define SLUICE_CONTROLLER_KUBE_CONFIG_H

#include <stdbool.h>

#include "base/err.h"
#include "base/slice.h"

/* Text that stands either in the kubeconfig or in a file that may be rotated under us. At most one
 * is set; both NULL: not given. */
struct kube_source {
	char *data; /* the text itself */
	char *path; /* where to read it, again and again */
};

/* A credential plugin (client.authentication.k8s.io). Run without a shell. */
struct kube_plugin {
	char *api_version; /* client.authentication.k8s.io/v1 or /v1beta1 */
	char *command;	   /* a path, or a name that is looked up in PATH */
	char **args;	   /* NULL-terminated, without the command itself */
	char **env;	   /* NULL-terminated NAME=value, added to ours */
	char *install_hint;
	bool provide_cluster_info;
};

struct kube_config {
	char *origin;	      /* for people: "context kind-a of /root/.kube/config", "in-cluster" */
	char *server;	      /* https://host:port[/prefix] without a slash at the end */
	char *namespace_name; /* never NULL: "default" when nothing is said */
	char *tls_server_name; /* NULL: the host of server */
	char *proxy_url;       /* NULL: as the environment says; loopback never goes by proxy */
	struct kube_source ca; /* not given: the system's certificate authorities */
	struct kube_source cert, key;
	struct kube_source token;
	struct kube_plugin *plugin; /* NULL: none */
};

struct kube_config_options {
	const char *kubeconfig;		 /* NULL: the sources above */
	const char *context;		 /* NULL: current-context */
	const char *service_account_dir; /* NULL: /var/run/secrets/kubernetes.io/serviceaccount */
	bool allow_http;		 /* tests only: accept an http:// server */
};

/* Reads the configuration. Returns 0, ERR_GONE (nothing says where the API server is) or
 * ERR_INVALID. Files of certificates and tokens are read once, to see that they can be. */
int kube_config_load(const struct kube_config_options *options, struct kube_config **ret_config,
	struct err *err);

/* Reads one kubeconfig's bytes as if they stood in path, for messages and for relative paths. Reads
 * no file, and is what the fuzzer calls. */
int kube_config_parse(struct slice text, const char *path,
	const struct kube_config_options *options, struct kube_config **ret_config,
	struct err *err);

void kube_config_free(struct kube_config *config); /* NULL is fine; secrets are overwritten */

#endif
