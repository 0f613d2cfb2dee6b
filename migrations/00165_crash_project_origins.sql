-- +goose Up
-- The origins of pages that may post to a crash project; {*}: all.
set local lock_timeout = '3s';
alter table crash_projects add column allowed_origins text[] not null default '{*}';
