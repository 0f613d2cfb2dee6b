-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists builds_unverified;
-- build:maintenance takes the newest builds whose signature nobody verified yet.
create index concurrently builds_unverified on builds (id)
    where verification in ('', 'pending') and kind in ('apk', 'ipa') and deleted_at is null;
