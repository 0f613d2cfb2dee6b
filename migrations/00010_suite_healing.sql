-- +goose Up
set local lock_timeout = '3s';
-- The same for the cases of a suite; '' leaves it to the organization.
alter table test_suites add column healing text not null default '' check (healing in ('', 'off', 'suggest', 'apply'));
