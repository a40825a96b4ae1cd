"""Postgres as a pair: a primary, and a standby that follows it by streaming replication.

`Pair(box).up()` takes the place of the sandbox's own Postgres: `box.sql` and `box.database` are those
of the pair until `down()`. The two are called a and b, each with a folder beside the data of the
sandbox's own, a port on 127.0.0.1 and a socket. Both may be the primary in turn; `primary` says which.

What a drill does: `lag()` takes the standby away, so that it lacks what is committed from then on;
`crash()` is a power cut of the primary; `promote()` makes the standby the primary, `rejoin()` makes the
other one its standby; `backup()` and `restore()` are a base backup of some moment, put back later."""

import shutil
import subprocess

from .process import SandboxError, wait_until

NODES = ("a", "b")


class Pair:
    def __init__(self, box):
        self.box, self.home = box, box.pg_home()
        self.primary = "a"
        self.ports = dict(zip(NODES, box.free_ports(len(NODES))))

    # -- what it is made of ------------------------------------------------

    @property
    def standby(self):
        return "b" if self.primary == "a" else "a"

    @property
    def database(self):
        """A libpq connection string that names both, and wants the one that takes writes."""
        return (f"host={','.join('127.0.0.1' for _ in NODES)} port={','.join(str(self.ports[n]) for n in NODES)} "
                "dbname=sluice user=sluice target_session_attrs=read-write connect_timeout=5")

    def component(self, node):
        return f"postgres-{node}"

    def data(self, node):
        return self.home / node

    def sql(self, statement, database="sluice", node=None):
        """As the superuser, at the primary unless another is named."""
        return self.box.sql_at(f"host=127.0.0.1 port={self.ports[node or self.primary]}", statement, database)

    def conninfo(self, node):
        return f"host=127.0.0.1 port={self.ports[node]} user=postgres application_name={node}"

    # -- up and down -------------------------------------------------------

    def up(self, synchronous=False):
        """A new, empty primary, and a standby of it. `synchronous`: what the primary confirms, the
        standby has applied."""
        self.box.process("postgres").stop()
        self.down()
        self.primary, self.box.pair = "a", self
        for folder in [self.data(n) for n in NODES]:
            shutil.rmtree(folder, ignore_errors=True)
        self._make_data(self.data("a"))
        self.start("a")
        self.sql("create role sluice login", "postgres")
        self.sql("create database sluice owner sluice", "postgres")
        self._follow("b", "a")
        self.start("b")
        self.wait_replicated()
        if synchronous:
            self.be_synchronous()

    def down(self):
        for node in NODES:
            self.box.process(self.component(node)).stop()
        self.box.pair = None

    def start(self, node):
        """Until it answers; as a standby, if that is what its data says."""
        self.box.run_postgres(self.component(node), self.data(node), {
            "listen_addresses": "127.0.0.1", "port": self.ports[node], "unix_socket_directories": "", "wal_level": "replica",
            "hot_standby": "on", "wal_keep_size": "256MB", "shared_buffers": "32MB"}, self.ports[node])

    def be_synchronous(self):
        """From now on the primary confirms nothing that its standby has not applied."""
        self.sql(f"alter system set synchronous_standby_names = '\"{self.standby}\"'", "postgres")
        self.sql("alter system set synchronous_commit = remote_apply", "postgres")
        self.sql("select pg_reload_conf()", "postgres")
        wait_until("the standby to be synchronous", lambda: self.sql("select sync_state from pg_stat_replication") == [["sync"]], 60)

    # -- what drills do to it ----------------------------------------------

    def wait_replicated(self):
        wait_until("the standby to have all that the primary has", lambda: self.sql(
            "select pg_current_wal_lsn() <= replay_lsn from pg_stat_replication") == [["t"]], 60)

    def lag(self):
        """The standby lacks all that is committed from now on."""
        self.wait_replicated()
        self.box.process(self.component(self.standby)).stop()

    def crash(self):
        """kill -9 of the primary and its children at once."""
        self.box.crash(self.component(self.primary))

    def promote(self):
        """The standby, which may have been stopped, is the primary."""
        node = self.standby
        if not self.box.process(self.component(node)).alive():
            self.start(node)
        self._run("pg_ctl", "promote", "-w", "-D", self.data(node))
        self.primary = node
        # It has the settings of the old one, whose commits waited for this one's word.
        self.sql("alter system reset synchronous_standby_names", "postgres")
        self.sql("select pg_reload_conf()", "postgres")

    def rejoin(self):
        """The one that is not the primary becomes its standby, from a new copy."""
        node = self.standby
        self.box.process(self.component(node)).stop()
        self._follow(node, self.primary)
        self.start(node)
        self.wait_replicated()

    def backup(self, name):
        """A base backup of the primary as it is now."""
        target = self.home / f"backup-{name}"
        shutil.rmtree(target, ignore_errors=True)
        self._run("pg_basebackup", "-D", target, "-d", self.conninfo(self.primary), "--checkpoint=fast", "--no-sync")

    def restore(self, name):
        """The primary is stopped, its data replaced by the backup, and started. The standby, which
        has what is not in there, is stopped."""
        for node in NODES:
            self.box.process(self.component(node)).stop()
        data = self.data(self.primary)
        shutil.rmtree(data)
        shutil.copytree(self.home / f"backup-{name}", data, symlinks=True, copy_function=shutil.copy2)
        self._own(data)
        self.start(self.primary)

    def dump(self, name):
        """The database as pg_dump writes it."""
        self._run("pg_dump", "-Fc", "-d", self.conninfo(self.primary) + " dbname=sluice", "-f", self.home / f"{name}.dump")

    def restore_dump(self, name):
        """Into a new database of that name; nothing may be connected to the old one."""
        self.sql("drop database sluice", "postgres")
        self.sql("create database sluice owner sluice", "postgres")
        self._run("pg_restore", "--exit-on-error", "-d", self.conninfo(self.primary) + " dbname=sluice", self.home / f"{name}.dump")

    # -- how ---------------------------------------------------------------

    def _make_data(self, data):
        """A new data directory: a copy of one that initdb made once, which takes it a second of processor time."""
        pristine = self.home / "pristine"
        if not pristine.exists():
            self.box.init_database(pristine)
        subprocess.run(["cp", "-a", pristine, data], check=True)

    def _follow(self, node, primary):
        shutil.rmtree(self.data(node), ignore_errors=True)
        # -R writes standby.signal and primary_conninfo; it takes the application_name from here.
        self._run("pg_basebackup", "-D", self.data(node), "-d", self.conninfo(primary).replace(f"={primary}", f"={node}"),
                  "-R", "--checkpoint=fast", "--no-sync")

    def _own(self, folder):
        user = self.box.pg_user()
        for path in [folder, *folder.rglob("*")] if user else []:
            shutil.chown(path, *user)

    def _run(self, program, *args):
        done = self.box.pg_run(program, *args)
        if done.returncode:
            raise SandboxError(f"{program} failed: {done.stderr.strip() or done.stdout.strip()}")
