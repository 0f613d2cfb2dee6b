-- +goose Up
set local lock_timeout = '3s';
-- The key over the whole stack of a crash (its first 16 bytes), by which a group can be
-- split; null for a report without one, or from before there were such keys.
alter table crashes add column stack_key bytea;
