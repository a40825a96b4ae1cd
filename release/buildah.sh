# What release/image and the tests' own image have in common: to be sourced in the clone's folder, with SOURCE_DATE_EPOCH set.
# buildah follows a Dockerfile; what that builds on is a Debian made here by mmdebstrap and given the
# name that the Dockerfile asks for, so nothing is pulled.
suite=bookworm
work=$PWD/build/image
mkdir -p "$work"
base=docker.io/library/debian:12-slim

store() { buildah --root "$work/store" --runroot "$work/run" "$@"; }

# What is debian's -slim: no manuals, no translations, no lists of packages.
make_base() {
  [ -f "$work/base.tar" ] && return
  rm -rf "$work/base.tar" "$work/base.tar.part"
  mmdebstrap --quiet --format=tar --variant=minbase --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    "$suite" "$work/base.tar.part"
  mv "$work/base.tar.part" "$work/base.tar"
}

import_base() {
  local container
  container=$(store from scratch)
  store add --quiet "$container" "$work/base.tar" / >/dev/null
  store commit --quiet --timestamp "$SOURCE_DATE_EPOCH" "$container" "$base" >/dev/null
  store rm "$container" >/dev/null
}

# Of an earlier build nothing must be built on.
empty_store() {
  store rm --all >/dev/null 2>&1 || true
  store rmi --all --force >/dev/null 2>&1 || true
}

# build_image NAME ARGS...: neither a network nor a cgroup of its own, for a container in a container may make none.
build_image() {
  local name=$1
  shift
  store build --isolation chroot --network host --timestamp "$SOURCE_DATE_EPOCH" --build-arg BASE="$base" -t "$name" "$@"
}

# write_archive NAME OUT.tar
write_archive() {
  rm -rf "$work/layout"
  mkdir -p "$(dirname "$2")"
  store push --quiet "$1" "oci:$work/layout:$1"
  python3 release/archive.py oci "$work/layout" "$2"
  echo "$2: $(stat -c %s "$2") bytes, $1"
}
