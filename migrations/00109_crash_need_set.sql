-- +goose Up
set local lock_timeout = '3s';
-- The files that the crash lacks, as a set of them; null: none, or those of crash_needs. There
-- is no foreign key, which each crash would pay for: sets go when no crash has them.
alter table crash_symbolications add column if not exists need_set_id bigint;
