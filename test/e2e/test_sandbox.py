"""The sandbox itself: what tests rely on and would be misled by."""

import threading

import pytest

from conftest import PREFIX, SOON
from sandbox import Sandbox, SandboxError, wait_until

PID = "select pg_backend_pid()"


@pytest.fixture(scope="module")
def database():
    """A sandbox with Postgres alone."""
    box = Sandbox(f"{PREFIX}-sql")
    box.destroy()
    box.up_database()
    yield box
    box.destroy()


def test_questions_to_postgres_share_a_connection(database):
    assert database.sql(PID) == database.sql(PID)
    assert database.sql("create temp table t (n int); insert into t values (1), (2); select n from t order by n; select null, true, E'a\nb'") \
        == [["1"], ["2"], ["", "t", "a\nb"]], "as psql says it, but for the line that is not torn"
    assert database.sql("create temp table u (n int)") == database.sql("set client_min_messages = notice; drop table if exists v") == []


def test_a_statement_that_fails_says_why_and_the_next_one_is_asked_anew(database):
    kept = database.sql(PID)
    with pytest.raises(SandboxError, match='SQL failed: ERROR:  relation "nowhere" does not exist\nLINE 1: select 1 from nowhere'):
        database.sql("select 1 from nowhere")
    with pytest.raises(SandboxError, match="SQL failed: ERROR:  division by zero"):
        database.sql("select 1; select 1 / 0; select 2")
    assert database.sql(PID) != kept
    with pytest.raises(SandboxError, match='SQL failed: .*FATAL:  database "nowhere" does not exist'):
        database.sql(PID, "nowhere")


def test_a_database_is_dropped_though_it_was_asked_just_now(database):
    database.sql("create database once", "postgres")
    assert database.sql("select 1", "once") == [["1"]]
    database.sql("drop database once", "postgres")


@pytest.mark.parametrize("ended", ["killed", "told to end", "its session ended"])
def test_a_postgres_that_was_away_is_asked_again(database, ended):
    kept = database.sql(PID)
    if ended == "its session ended":
        ((pid,),) = kept
        Sandbox(database.name).sql(f"select pg_terminate_backend({pid}, 60000)")
    else:
        if ended == "killed":
            database.crash("postgres")
        else:
            assert database.process("postgres").stop() == "ended"
        with pytest.raises(SandboxError, match='SQL failed: connection to server on socket ".*" failed'):
            database.sql(PID)
        database.start("postgres")
    assert database.sql(PID) != kept


def test_a_question_that_waits_holds_up_no_other(database):
    answers = []
    waits = threading.Thread(target=lambda: answers.append(database.sql("select pg_advisory_lock(1); select 7")))
    other = Sandbox(database.name)
    other.sql("select pg_advisory_lock(1)")
    waits.start()
    wait_until("the thread to wait", lambda: database.sql("select 1 from pg_locks where locktype = 'advisory' and not granted"), SOON)
    assert not answers
    other.sql("select pg_advisory_unlock(1)")
    waits.join(SOON)
    assert answers == [[[""], ["7"]]]


# ---- the flags of its controller -----------------------------------------------------


@pytest.mark.parametrize("has, wanted, goes_on", [
    ([], [], True), (["--fair-sharing"], ["--fair-sharing"], True), ([], ["--fair-sharing"], False), (["--fair-sharing"], [], False),
    (["--forecasts", "off", "--fair-sharing"], ["--fair-sharing"], False), (["--fair-sharing"], ["--forecasts", "off", "--fair-sharing"], False)])
def test_a_controller_runs_on_under_the_flags_that_it_has_and_no_others(database, has, wanted, goes_on):
    controller = database.process("controller-one")
    # A sleep in its place: what starts with it is what start_controller() puts before the flags.
    controller.start(["/bin/sh", "-c", "exec sleep 600", "--listen", "127.0.0.1:1", "--identity", "one", *has])
    try:
        database._end_with_other_flags("one", wanted)
        assert controller.alive() == goes_on
    finally:
        controller.stop()
