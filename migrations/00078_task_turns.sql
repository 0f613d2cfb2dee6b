-- +goose Up
set local lock_timeout = '3s';
-- Priority orders the tasks of one organization: lower ones first, and later ones as if
-- they had become due some minutes later, so that they are never left behind for ever.
alter table tasks add column priority smallint not null default 0;
-- Losses counts the claims whose worker was lost. They do not use attempts up.
alter table tasks add column losses integer not null default 0;
-- Failures has the attempts that failed: number, times, worker, error, and whether the
-- worker was lost. The first and the last of them are kept.
alter table tasks add column failures jsonb;
-- Deliveries are no longer those of a row: delivery and delivered_at are written by
-- processes of the version before alone.
comment on column tasks.delivery is 'unused';
comment on column tasks.delivered_at is 'unused';
