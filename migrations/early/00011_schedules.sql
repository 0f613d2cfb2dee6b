-- +goose Up
set local lock_timeout = '3s';
-- Schedules: what runs suites by the clock, and each time that it did.

create table test_schedules (
    id                uuid primary key,          -- version 7: order is time
    organization_id   bigint not null references organizations on delete cascade,
    team_id           bigint not null references teams on delete cascade,
    name              text not null check (length(name) between 1 and 255),
    -- The settings; without them all three of these are null.
    cron              text,
    timezone          text,
    running_user_uuid uuid,
    start_at          timestamptz,
    end_at            timestamptz,
    max_runs          integer check (max_runs > 0),
    tunnel            text not null default '',
    build_name        text not null default '',
    state             text not null check (state in ('ENABLED', 'DISABLED', 'ERRORED')),
    run_count         bigint not null default 0, -- fires of the clock that started something
    failures          integer not null default 0, -- fires in a row that started nothing
    last_run_at       timestamptz,
    last_error        text not null default '',
    -- The newest fire that started something, by hand or by the clock: while a suite
    -- run of it is open, the schedule is running.
    last_fire_id      uuid,
    next_run_at       timestamptz,
    creator_uuid      uuid not null,
    modifier_uuid     uuid not null,
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now(),
    check ((cron is null) = (timezone is null) and (cron is null) = (running_user_uuid is null)),
    check ((state = 'ENABLED') = (next_run_at is not null)),
    check (state = 'DISABLED' or cron is not null)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
-- The tick takes what is due, oldest first.
create index test_schedules_due on test_schedules (next_run_at) where next_run_at is not null;
-- The list pages through an organization's schedules, newest first.
create index test_schedules_newest on test_schedules (organization_id, created_at desc, id desc);
-- None serves the search by part of a name, as for suites: each fire changes the row,
-- and would write such an index anew.
create index test_schedules_team on test_schedules (team_id);

-- A suite that is deleted leaves its schedules, without a lock on their rows.
create table test_schedule_suites (
    schedule_id uuid not null references test_schedules on delete cascade,
    suite_id    uuid not null references test_suites on delete cascade,
    position    integer not null,                -- from 0
    primary key (schedule_id, suite_id)
);
create index test_schedule_suites_suite on test_schedule_suites (suite_id);

-- What became of each time at which a schedule was due. Without a foreign key: the
-- upkeep removes in steps what belongs to a schedule that is gone.
create table test_schedule_fires (
    id              uuid primary key,            -- version 7
    organization_id bigint not null references organizations on delete cascade,
    schedule_id     uuid not null,
    fire_at         timestamptz not null,        -- the time that was due
    trigger         text not null check (trigger in ('CRON', 'CATCH_UP', 'MANUAL')),
    outcome         text not null check (outcome in ('STARTED', 'SKIPPED', 'FAILED')),
    reason          text not null default '',
    -- Missed fire times of one outage share a row: how many, and the last of them.
    missed          integer not null default 0,
    missed_until    timestamptz,
    user_uuid       uuid not null,               -- whom the runs are made for
    created_at      timestamptz not null default now(),
    -- The net under everything: a schedule fires once for a time.
    unique (schedule_id, fire_at)
);
create index test_schedule_fires_age on test_schedule_fires (created_at);
create index test_schedule_fires_organization on test_schedule_fires (organization_id);

-- A scheduled run belongs to a fire; tunnel stands over the tunnels of the cases.
alter table suite_runs add column fire_id uuid, add column tunnel text not null default '';
