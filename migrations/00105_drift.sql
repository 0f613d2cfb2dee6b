-- +goose Up
set local lock_timeout = '3s';
-- A drift is kept as a healing: the selector found another element than the one that
-- the step was recorded with. People accept that element, or refuse it.
alter table test_healings add column if not exists kind text not null default 'healing' check (kind in ('healing', 'drift'));
-- How many steps of the job have drifted.
alter table test_jobs add column if not exists drifted integer not null default 0;
