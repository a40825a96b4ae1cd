"""PgBouncer in transaction mode, before the sandbox's own Postgres.

`with Pooler(box)`: `box.database` leads through it. `box.sql` goes to Postgres itself, as before.

Each transaction gets another server connection than the one before (`server_round_robin`), of a few
that all clients share. That is the worst a pooler may do: nothing of a session is there the next time."""

import shutil
from concurrent.futures import ThreadPoolExecutor

from . import sql
from .process import SandboxError, wait_until

PROGRAM, COMPONENT = "pgbouncer", "postgres-pooler"
PORT = 6432  # names the socket's file only: it listens nowhere else
CONNECTIONS = 4

CONFIG = """\
[databases]
sluice = host={socket} dbname=sluice user=sluice

[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {socket}
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
server_round_robin = 1
stats_period = 3600
"""


class Pooler:
    def __init__(self, box):
        self.box, self.process = box, box.process(COMPONENT)

    def __enter__(self):
        self.up()
        return self

    def __exit__(self, *exc):
        self.down()

    @property
    def database(self):
        return f"{self._where} dbname=sluice user=sluice"

    @property
    def _where(self):
        return f"host={self.box.socket_dir} port={PORT}"

    def up(self):
        """Until Postgres answers through it."""
        config, user = self.box.pg_home() / "pgbouncer.ini", self.box.pg_user()
        config.write_text(CONFIG.format(socket=self.box.socket_dir, port=PORT, connections=CONNECTIONS))
        if user:
            shutil.chown(config, *user)
        self.process.start([_program(), config], user=user)
        wait_until("pgbouncer to answer", self._answers, process=self.process)
        wait_until("pgbouncer to have all its connections", lambda: self._fill() == CONNECTIONS, process=self.process)
        self.box.pooler = self

    def down(self):
        self.process.stop()
        self.box.pooler = None

    def ask(self, statement):
        """One statement, as a client of its own. None is kept: a newer PgBouncer waits for its clients before it ends."""
        return sql.ask_once(self.database, statement)

    def _fill(self):
        """It connects when it must: so many at once. How many different connections clients are lent then, one after the other."""
        with ThreadPoolExecutor(CONNECTIONS) as at_once:
            list(at_once.map(self.ask, ["select pg_sleep(0.5)"] * CONNECTIONS))
        return len({self.ask("select pg_backend_pid()")[0][0] for _ in range(2 * CONNECTIONS)})

    def _answers(self):
        try:
            return self.ask("select 1") == [["1"]]
        except SandboxError as e:
            raise OSError(str(e)) from None


def _program():
    """Debian keeps it out of the PATH of ordinary users."""
    found = shutil.which(PROGRAM) or shutil.which(PROGRAM, path="/usr/sbin")
    if not found:
        raise SandboxError("there is no pgbouncer; on Debian: apt-get install pgbouncer (./dev test does it, without starting its service)")
    return found
