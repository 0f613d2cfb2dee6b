-- +goose Up
set local lock_timeout = '3s';
-- What closes the page of an app, or of a build: a time, a number of installs, a password. No
-- row: nothing does. The row stands apart from the app's, for each install through a page
-- that has a bound writes it.
create table page_limits (
    id            bigint generated always as identity primary key,
    project_id    bigint references projects on delete cascade,
    build_id      bigint references builds on delete cascade,
    expires_at    timestamptz,
    max_installs  integer check (max_installs > 0),
    installs      integer not null default 0, -- since max_installs was set
    -- Empty: none. pbkdf2-sha256$ITERATIONS$SALT$KEY, both base64.
    password_hash text not null default '',
    updated_at    timestamptz not null default now(),
    check (num_nonnulls(project_id, build_id) = 1)
);
-- Reading an app, or a build, reads its row; so does counting an install.
create unique index page_limits_project on page_limits (project_id) where project_id is not null;
create unique index page_limits_build on page_limits (build_id) where build_id is not null;
