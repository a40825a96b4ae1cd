#!/usr/bin/env bash
# Postgres in the pod sluice-postgres-0:
#   postgres.sh serve   makes the database if there is none, sets the password, becomes the server
#   postgres.sh ready   does it answer?
#   postgres.sh stop    ends it in order, while clients are connected
#
# It may be killed between any two lines. A database that is not whole has another name, and is made
# anew. The password is set at each start, so whatever the Secret says holds after a restart.
#
# The image's own entry point is not used: this runs with Debian's packages as well, and has no way to
# set a password of a database that exists.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
data=$SLUICE_DATA/pgdata making=$SLUICE_DATA/pgdata.new
newest=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
PATH=${newest:-/usr/local/bin}:$PATH

say() { printf 'postgres.sh: %s\n' "$*" >&2; }

# sql DATA DATABASE, of what comes in: without a server, so no client connects meanwhile. An error
# ends it, and does not repeat the statement, which may have the password in it.
sql() {
  postgres --single -D "$1" -c exit_on_error=on -c log_min_error_statement=panic -c log_statement=none "$2" >/dev/null
}

make() {
  say "there is no database in $SLUICE_DATA: making one"
  rm -rf "$making"
  initdb -D "$making" -U postgres --auth=reject --encoding=UTF8 --locale=C --data-checksums >/dev/null
  echo 'CREATE ROLE sluice LOGIN' | sql "$making" postgres
  echo 'CREATE DATABASE sluice OWNER sluice' | sql "$making" postgres
  sync -f "$making"
  mv "$making" "$data"
  sync -f "$SLUICE_DATA"
}

check_version() {
  local is has
  is=$(cat "$data/PG_VERSION")
  has=$(postgres --version | grep -oE '[0-9]+' | head -n 1)
  [ "$is" = "$has" ] && return
  say "the ledger was made by Postgres $is, and this is Postgres $has: take an image of Postgres $is, or move it by pg_dump (docs/install.md)"
  exit 1
}

set_password() {
  local password
  password=$(cat "$SLUICE_PASSWORD_FILE")
  [ -n "$password" ] || { say "$SLUICE_PASSWORD_FILE is empty"; exit 1; }
  echo "ALTER ROLE sluice PASSWORD '${password//\'/\'\'}'" | sql "$data" postgres
}

# Held by the server and all its processes. Postgres has a lock of its own, by a process id, which says
# nothing in another container.
lock() {
  exec 9>>"$SLUICE_DATA/lock"
  flock -w 60 9 || { say "another Postgres has $SLUICE_DATA"; exit 1; }
  rm -f "$data/postmaster.pid"
}

serve() {
  lock
  [ -e "$data" ] || make
  check_version
  set_password
  exec postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories="$SLUICE_SOCKETS" \
    -c hba_file="$folder/pg_hba.conf" -c password_encryption=scram-sha-256 -c log_timezone=UTC
}

case "${1:-}" in
  serve) serve ;;
  ready) exec pg_isready -q -h "$SLUICE_SOCKETS" -U sluice -d sluice ;;
  stop) exec pg_ctl stop -D "$data" -m fast -t 50 ;;
  *) say "what? serve, ready or stop"; exit 2 ;;
esac
