#!/bin/bash
# Runs once, when the database is made: a role that owns the schema, and one for the service, which owns nothing.
set -eu
psql --username=postgres --set=ON_ERROR_STOP=1 --no-psqlrc <<'SQL'
\set owner_password `cat /run/secrets/owner-password`
\set service_password `cat /run/secrets/service-password`
create role trunkline_owner login password :'owner_password';
create role trunkline_service login password :'service_password';
create database trunkline owner trunkline_owner;
SQL
