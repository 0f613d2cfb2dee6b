-- +goose Up
-- The build that a crash came from.
set local lock_timeout = '3s';
alter table crashes add column build_id bigint;
