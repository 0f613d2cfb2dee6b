-- +goose Up
set local lock_timeout = '3s';
-- Sessions and users of applications, and reports that stay purged.

-- What is known of a version on a day (UTC), and, with the day -infinity, on all days
-- together. Sessions are starts of the application. The samples hold the smallest
-- hashes of the users' ids (8 bytes each, ascending), by which distinct users are
-- counted over days; users and crashed_users are the counts of this row alone.
create table crash_version_days (
    crash_project_id    bigint not null references crash_projects on delete cascade,
    version             text not null,
    day                 date not null,
    crashes             bigint not null default 0, -- of a day; crash_versions has the sum
    sessions            bigint not null default 0,
    crashed_sessions    bigint not null default 0,
    users               bigint not null default 0,
    crashed_users       bigint not null default 0,
    user_sample         bytea not null default '',
    crashed_user_sample bytea not null default '',
    primary key (crash_project_id, version, day)
) with (fillfactor = 70);
-- The list of versions over some days.
create index crash_version_days_day on crash_version_days (crash_project_id, day);

-- The sessions of the last days by the hash of their ids, so that each is counted
-- once as started and once as crashed, on the day and in the version that were
-- reported of it first.
create table crash_sessions (
    crash_project_id bigint not null references crash_projects on delete cascade,
    id               uuid not null,
    version          text not null,
    day              date not null,
    started          boolean not null,
    crashed          boolean not null,
    created_at       timestamptz not null default now(),
    primary key (crash_project_id, id)
);
-- Retention deletes the oldest.
create index crash_sessions_age on crash_sessions (created_at);

-- Reports whose uuids stay in crash_uuids after a purge by attribute, so that
-- sending them again stores nothing.
create table crash_purged (
    crash_id         uuid primary key,
    crash_project_id bigint not null,
    uuid             uuid not null,
    purged_at        timestamptz not null default now()
);
-- Retention deletes the oldest.
create index crash_purged_age on crash_purged (purged_at);
