-- +goose Up
set local lock_timeout = '3s';
-- The signing keys of the installation, by their fingerprints: the keys themselves are
-- nowhere in the database. A process starts only with all that are not retired.
create table signing_keys (
    fingerprint text primary key check (fingerprint ~ '^[0-9a-f]{32}$'),
    used_at     timestamptz not null default now(), -- the first process started with it as the current key
    replaced_at timestamptz,                        -- another key became current
    retired_at  timestamptz                         -- no row needs it any more, by admin rekey
);
