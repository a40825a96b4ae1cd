"""SQL by libpq, which Sluice itself is linked with, on a connection that is kept.

Tests ask the ledger all the time, most of them until it says what they wait for. A psql for each question would be
a program that is started, and a server process that is forked for it and reads the catalog anew."""

import ctypes
import select
import threading

from .process import SandboxError

CONNECT_SECONDS = 10
CONNECTION_OK, COMMAND_OK, TUPLES_OK = 0, 1, 2  # as libpq-fe.h numbers them


class Sql:
    """`ask()` for as many threads as there are. Only the connection of the last question is kept: a database that
    is asked no more can be dropped, and a server has no session of ours once another is asked."""

    def __init__(self):
        self._lock, self._kept = threading.Lock(), None

    def ask(self, where, statement):
        """Returns the rows, as lists of strings; NULL is empty. A connection on which something failed is not used again."""
        connection = self._take(where) or _Connection(where)
        try:
            rows = connection.ask(statement)
        except BaseException:
            connection.end()
            raise
        self._keep(connection)
        return rows

    def end(self):
        """Ends the connection that is kept. The next question makes a new one."""
        self._keep(None)

    def _take(self, where):
        """Returns the connection that is kept, if it leads there and the server has not ended it meanwhile; else None."""
        with self._lock:
            connection, self._kept = self._kept, None
        if connection and (connection.where != where or connection.ended()):
            connection.end()
            return None
        return connection

    def _keep(self, connection):
        with self._lock:
            connection, self._kept = self._kept, connection
        if connection:
            connection.end()


def ask_once(where, statement):
    """Asks on a connection of its own, which ends with the answer."""
    alone = Sql()
    try:
        return alone.ask(where, statement)
    finally:
        alone.end()


def answers(where):
    """Says whether a server there takes connections."""
    return _libpq().PQping(f"{where} connect_timeout={CONNECT_SECONDS}".encode()) == 0  # PQPING_OK


class _Connection:
    def __init__(self, where):
        self.where, self.pq = where, _libpq()
        self.conn = self.pq.PQconnectdb(f"{where} connect_timeout={CONNECT_SECONDS}".encode())
        if self.pq.PQstatus(self.conn) != CONNECTION_OK:
            said = self._said()
            self.end()
            raise SandboxError(f"SQL failed: {said}")
        self.pq.PQsetNoticeProcessor(self.conn, _silent, None)

    def ended(self):
        """Says whether the server has said something unasked: that it takes leave, or that a setting changed, after which a new one does as well."""
        return bool(self._readable(0))

    def ask(self, statement):
        rows, trouble = [], None
        if not self.pq.PQsendQuery(self.conn, statement.encode()):
            raise SandboxError(f"SQL failed: {self._said()}")
        while result := self._result():
            try:
                if self.pq.PQresultStatus(result) not in (COMMAND_OK, TUPLES_OK):
                    trouble = trouble or self._said()
                rows += self._rows(result)
            finally:
                self.pq.PQclear(result)
        if trouble:
            raise SandboxError(f"SQL failed: {trouble}")
        return rows

    def _result(self):
        """Returns the next result, or None; waits in Python, so that Ctrl-C and the limit of a test end it."""
        while self.pq.PQisBusy(self.conn):
            self._readable(None)
            if not self.pq.PQconsumeInput(self.conn):
                break  # PQgetResult tells why
        return self.pq.PQgetResult(self.conn)

    def _rows(self, result):
        columns = range(self.pq.PQnfields(result))
        return [[self.pq.PQgetvalue(result, row, column).decode() for column in columns] for row in range(self.pq.PQntuples(result))]

    def _readable(self, seconds):
        poll = select.poll()  # select() takes no descriptor above 1023
        poll.register(self.pq.PQsocket(self.conn), select.POLLIN)
        return poll.poll(None if seconds is None else seconds * 1000)

    def _said(self):
        return self.pq.PQerrorMessage(self.conn).decode(errors="replace").strip()

    def end(self):
        if self.conn:
            self.pq.PQfinish(self.conn)
            self.conn = None


_loaded = None
_silent = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)(lambda _, text: None)  # a NOTICE is no answer


def _libpq():
    global _loaded
    if _loaded is None:
        try:
            pq = ctypes.CDLL("libpq.so.5")
        except OSError as e:
            raise SandboxError(f"libpq cannot be loaded ({e}); on Debian: apt-get install libpq5") from None
        text, pointer, number = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int
        for name, returns, takes in (
                ("PQping", number, [text]), ("PQconnectdb", pointer, [text]), ("PQstatus", number, [pointer]), ("PQfinish", None, [pointer]),
                ("PQerrorMessage", text, [pointer]), ("PQsocket", number, [pointer]), ("PQsetNoticeProcessor", pointer, [pointer, pointer, pointer]),
                ("PQsendQuery", number, [pointer, text]), ("PQconsumeInput", number, [pointer]), ("PQisBusy", number, [pointer]),
                ("PQgetResult", pointer, [pointer]), ("PQresultStatus", number, [pointer]), ("PQclear", None, [pointer]),
                ("PQntuples", number, [pointer]), ("PQnfields", number, [pointer]), ("PQgetvalue", text, [pointer, number, number])):
            getattr(pq, name).restype, getattr(pq, name).argtypes = returns, takes
        _loaded = pq
    return _loaded
