# What of the image `postgres` deploy/components/postgres needs: the programs, and a user of that name with its number. Debian's
# Postgres of its own version, whatever the tag says: of the image at Docker Hub nothing is to be had here.
ARG BASE=debian:12-slim
FROM ${BASE}
RUN useradd --system --uid 999 --home-dir /var/lib/postgresql --shell /bin/bash postgres \
 && mkdir -p /etc/postgresql-common && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf \
 && apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold postgresql \
 && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/*
