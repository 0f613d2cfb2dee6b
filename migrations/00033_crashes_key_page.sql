-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists crashes_key_page;
-- The crashes of a key, newest first: a page far back, and the count in a part of a day,
-- read only this.
create index concurrently crashes_key_page on crashes (key_id, occurred_at desc, id desc) include (duplicates);
drop index concurrently if exists crashes_key;
