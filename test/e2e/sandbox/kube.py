"""The little of the Kubernetes API that the sandbox, tests and demo need.

One keep-alive connection per thread, JSON in and out, standard library only.
Over TLS with a client certificate or token, or over a unix socket (`kubectl
proxy`, when somebody else's cluster is used and its kubeconfig may name any
sort of credential)."""

import http.client
import json
import socket
import ssl
import threading
import time


class ApiError(Exception):
    """An answer other than 2xx: status, reason (as in `NotFound`), message."""

    def __init__(self, status, reason, message):
        super().__init__(f"{status} {reason}: {message}")
        self.status, self.reason, self.message = status, reason, message


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Api:
    """`Api(host, port, ca, cert, key)`, or `Api(unix=PATH)`, or plain http without ca."""

    def __init__(self, host="127.0.0.1", port=None, ca=None, cert=None, key=None, token=None, unix=None, timeout=60):
        self.token, self.timeout = token, timeout
        self._local = threading.local()
        if unix:
            self._connect = lambda t: _UnixConnection(str(unix), t)
        elif ca:
            tls = ssl.create_default_context(cafile=str(ca))
            if cert:
                tls.load_cert_chain(str(cert), str(key))
            self._connect = lambda t: http.client.HTTPSConnection(host, port, context=tls, timeout=t)
        else:
            self._connect = lambda t: http.client.HTTPConnection(host, port, timeout=t)

    def _send(self, conn, method, path, body, content_type, headers={}):
        headers = {"Accept": "application/json", **headers}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            headers["Content-Type"] = content_type
            body = body if isinstance(body, (bytes, str)) else json.dumps(body)
        conn.request(method, path, body, headers)
        return conn.getresponse()

    @staticmethod
    def _raise(status, reason, data):
        try:
            doc = json.loads(data)
            raise ApiError(status, doc.get("reason") or reason, doc.get("message") or doc.get("error") or "")
        except (ValueError, AttributeError):
            raise ApiError(status, reason, data[:2000].decode(errors="replace")) from None

    def raw(self, method, path, body=None, content_type="application/json", headers={}):
        """The body of a 2xx answer as bytes; ApiError or OSError otherwise.

        A kept connection that the server has closed meanwhile is opened anew,
        but only for a read: whether a write landed is the caller's to ask."""
        # The server ends connections that were idle for 90 s, and a write on such a one is in doubt.
        if time.monotonic() - getattr(self._local, "used", 0) > 30 and getattr(self._local, "conn", None):
            self._local.conn.close()
            self._local.conn = None
        self._local.used = time.monotonic()
        fresh = getattr(self._local, "conn", None) is None
        while True:
            conn = self._local.conn = getattr(self._local, "conn", None) or self._connect(self.timeout)
            try:
                answer = self._send(conn, method, path, body, content_type, headers)
                data = answer.read()
                break
            except (OSError, http.client.HTTPException) as e:
                conn.close()
                self._local.conn = None
                if fresh or method != "GET":
                    raise ConnectionError(f"{method} {path}: {e or type(e).__name__}") from e
                fresh = True
        if answer.status >= 300:
            self._raise(answer.status, answer.reason, data)
        return data

    def get(self, path, headers={}):
        return json.loads(self.raw("GET", path, headers=headers))

    def post(self, path, obj):
        return json.loads(self.raw("POST", path, obj))

    def delete(self, path, obj=None):
        return json.loads(self.raw("DELETE", path, obj))

    def patch(self, path, patch, kind="merge"):
        """kind: merge, json, strategic or apply (then give ?fieldManager=)."""
        ctype = "apply-patch+yaml" if kind == "apply" else {"strategic": "strategic-merge"}.get(kind, kind) + "-patch+json"
        return json.loads(self.raw("PATCH", path, patch, "application/" + ctype))

    def force_away(self, path):
        """Deleted though it may be in use, or no controller be there to take its finalizer off."""
        try:
            self.delete(path)
            self.patch(path, {"metadata": {"finalizers": None}})
        except ApiError as e:
            if e.status != 404:
                raise

    def gone(self, path):
        """True if the object is not there."""
        try:
            self.get(path)
            return False
        except ApiError as e:
            if e.status == 404:
                return True
            raise

    def ensure(self, path, obj):
        """Create the object in the collection `path` unless it exists."""
        try:
            return self.post(path, obj)
        except ApiError as e:
            if e.reason != "AlreadyExists":
                raise

    def list(self, path, page=500):
        """All items of a collection, in pages, so that no answer is huge."""
        items, more = [], ""
        sep = "&" if "?" in path else "?"
        while True:
            part = self.get(f"{path}{sep}limit={page}{more}")
            items += part.get("items") or []
            token = part["metadata"].get("continue")
            if not token:
                return items
            more = f"&continue={token}"

    def watch(self, path, resource_version, timeout_s=300):
        """Yield the events of a watch until the server ends it.

        On a connection of its own. The caller lists first, and again after
        it ends with an ERROR event or an exception."""
        sep = "&" if "?" in path else "?"
        conn = self._connect(timeout_s + 30)
        try:
            answer = self._send(conn, "GET", f"{path}{sep}watch=1&resourceVersion={resource_version}"
                                f"&allowWatchBookmarks=true&timeoutSeconds={timeout_s}", None, None)
            if answer.status >= 300:
                self._raise(answer.status, answer.reason, answer.read())
            for line in answer:
                if line.strip():
                    yield json.loads(line)
        except http.client.HTTPException as e:
            raise ConnectionError(f"watch {path}: {e}") from e
        finally:
            conn.close()
