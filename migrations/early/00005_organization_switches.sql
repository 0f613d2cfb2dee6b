-- +goose Up
-- What an organization allows and asks for. One table a step, and no patience for
-- a lock: whoever reads the table for long must not make everybody else wait.
set local lock_timeout = '3s';
alter table organizations
    add column require_login boolean not null default false,
    add column generic_files boolean not null default false,
    add column landing_page_mode text not null default 'open' check (landing_page_mode in ('open', 'closed'));
