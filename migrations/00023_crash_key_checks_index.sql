-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crash_group_keys_unchecked;
-- The keys of a crash project that were not looked at for an algorithm; 0 are keys that
-- were not computed.
create index concurrently crash_group_keys_unchecked
	on crash_group_keys (crash_project_id, greatest(algorithm, checked_version), id) where algorithm > 0;
