-- +goose Up
set local lock_timeout = '3s';
-- What a crash project says is not its own code: beginnings of functions' names, folders, modules.
alter table crash_projects add column libraries text[] not null default '{}';
