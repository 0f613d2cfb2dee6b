-- +goose Up
set local lock_timeout = '3s';
-- What a symbol file says about itself, besides the identifiers that it has by the upload
-- it is in: the same bytes are read once.
alter table symbol_files add column facts jsonb not null default '{}';
-- The maintenance finds uploads that wait for a task.
create index symbols_pending on symbols (id) where state = 'pending';
-- An upload of bytes that another one of the organization has takes over its files.
create index symbols_sha256 on symbols (organization_id, sha256);
