#include "controller/net/caller.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/json_writer.h"

#define USER_HEADER "X-Remote-User"
#define GROUP_HEADER "X-Remote-Group"
#define OF_THE_CLUSTER "system:"

enum { NAMED_MAX_BYTES = 64 * 1024 };

/* ---- its connection -------------------------------------------------------------------------- */

/* Reads the address of the other end, an IPv4 one as ::ffff:1.2.3.4. False: it has none. */
static bool read_address(struct MHD_Connection *c, struct in6_addr *ret)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	if (!info || !info->client_addr)
		return false;
	if (info->client_addr->sa_family == AF_INET) {
		struct sockaddr_in a;
		memcpy(&a, info->client_addr, sizeof(a));
		*ret = (struct in6_addr){{{[10] = 0xFF, [11] = 0xFF}}};
		memcpy(&ret->s6_addr[12], &a.sin_addr, 4);
		return true;
	}
	if (info->client_addr->sa_family != AF_INET6)
		return false;
	struct sockaddr_in6 a;
	memcpy(&a, info->client_addr, sizeof(a));
	*ret = a.sin6_addr;
	return true;
}

bool caller_is_loopback(struct MHD_Connection *c)
{
	struct in6_addr a;
	return read_address(c, &a) &&
	       (IN6_IS_ADDR_LOOPBACK(&a) || (IN6_IS_ADDR_V4MAPPED(&a) && a.s6_addr[12] == 127));
}

void caller_address(struct MHD_Connection *c, char *ret)
{
	struct in6_addr a;
	bool known = read_address(c, &a);
	if (known && IN6_IS_ADDR_V4MAPPED(&a))
		inet_ntop(AF_INET, &a.s6_addr[12], ret, INET6_ADDRSTRLEN);
	else if (known)
		inet_ntop(AF_INET6, &a, ret, INET6_ADDRSTRLEN);
	else
		strcpy(ret, "?");
}

bool caller_names_host(struct MHD_Connection *c)
{
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	char name[64];
	struct in_addr v4;
	if (!host)
		return true; /* HTTP/1.0: no browser */
	if (host[0] == '[')
		return true; /* only an address can stand in brackets */
	size_t len = strcspn(host, ":");
	if (len >= sizeof(name))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	return strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, &v4) == 1;
}

/* Reads Sec-Fetch-Site, which is "none" for an address that was typed, or a bookmark. */
bool caller_is_of_another_site(struct MHD_Connection *c)
{
	const char *site = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Site");
	return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

/* ---- its headers ----------------------------------------------------------------------------- */

static const char *bearer_token(struct MHD_Connection *c)
{
	const char *value = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
	if (!value || strncasecmp(value, "Bearer ", 7) != 0)
		return NULL;
	value += 7;
	return value + strspn(value, " ");
}

/* What the lines of a proxy say. */
struct named {
	const char *user;
	size_t users;
	bool has_groups;
	const char *of_the_cluster; /* a name that no proxy may name; NULL: none */
	struct buf list;	    /* of groups, in JSON */
	struct json_writer groups;  /* writes list */
};

static void note_of_the_cluster(struct named *n, const char *name)
{
	if (strncmp(name, OF_THE_CLUSTER, strlen(OF_THE_CLUSTER)) == 0)
		n->of_the_cluster = name;
}

static enum MHD_Result on_header(
	void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct named *n = ctx;
	(void)kind;
	value = value ? value : "";
	if (strcasecmp(name, USER_HEADER) != 0 && strcasecmp(name, GROUP_HEADER) != 0)
		return MHD_YES;
	note_of_the_cluster(n, value);
	if (strcasecmp(name, USER_HEADER) == 0) {
		n->user = value;
		n->users++;
		return MHD_YES;
	}
	n->has_groups = true;
	jw_text(&n->groups, NULL, value);
	return MHD_YES;
}

/* Checks the lines. A second user may be the client's own: nothing tells it from the proxy's. */
static int check_named(const struct named *n, struct err *e)
{
	if (n->users > 1)
		return err_set(e, ERR_INVALID,
			USER_HEADER " is sent twice: a proxy must remove what its client sent");
	if (n->users == 0 || n->user[0] == '\0')
		return err_set(e, ERR_INVALID,
			USER_HEADER " names nobody: a proxy that sends " USER_HEADER
				    " or " GROUP_HEADER " must say who asks");
	if (n->of_the_cluster)
		return err_set(e, ERR_INVALID,
			"a proxy may not name \"%.100s\": what begins with " OF_THE_CLUSTER
			" belongs to the cluster",
			n->of_the_cluster);
	if (n->list.failed)
		return err_set(e, ERR_INVALID, GROUP_HEADER " names too many groups");
	return 0;
}

/* Makes the user with groups; NULL: too large. */
static char *user_of(const struct named *n)
{
	struct buf out;
	buf_init(&out, 2 * NAMED_MAX_BYTES);
	struct json_writer w = json_writer_object(&out);
	jw_text(&w, "user", n->user);
	jw_raw(&w, "groups", buf_slice(&n->list));
	jw_close(&w);
	if (!out.failed)
		return buf_take(&out);
	buf_done(&out);
	return NULL;
}

int caller_read(struct MHD_Connection *c, struct caller *ret, struct err *e)
{
	struct named n = {0};
	int rc = 0;
	*ret = (struct caller){.token = bearer_token(c)};
	buf_init(&n.list, NAMED_MAX_BYTES);
	n.groups = json_writer(&n.list);
	jw_array(&n.groups, NULL);
	MHD_get_connection_values(c, MHD_HEADER_KIND, on_header, &n);
	jw_text(&n.groups, NULL, "system:authenticated");
	jw_close(&n.groups);
	if (n.users > 0 || n.has_groups)
		rc = check_named(&n, e);
	if (rc == 0 && n.users > 0)
		ret->as = user_of(&n);
	if (rc == 0 && n.users > 0 && !ret->as)
		rc = err_set(e, ERR_INVALID, USER_HEADER " is too long");
	ret->user = ret->as ? n.user : NULL;
	ret->names_groups = n.has_groups;
	buf_done(&n.list);
	return rc;
}

void caller_done(struct caller *c)
{
	free(c->as);
	c->as = NULL;
}
