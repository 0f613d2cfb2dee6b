-- +goose Up
set local lock_timeout = '3s';
-- What follows from a drift, where the case does not say so; '' of a suite leaves it to
-- the organization, and that of an organization to the rules of the replay.
alter table organizations add column if not exists drift text not null default '' check (drift in ('', 'fail', 'report', 'off'));
alter table test_suites add column if not exists drift text not null default '' check (drift in ('', 'fail', 'report', 'off'));
