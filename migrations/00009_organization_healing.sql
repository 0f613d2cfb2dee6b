-- +goose Up
set local lock_timeout = '3s';
-- How the runs of an organization heal steps, where neither case nor suite says so;
-- '' leaves it to the rules of the replay.
alter table organizations add column healing text not null default '' check (healing in ('', 'off', 'suggest', 'apply'));
