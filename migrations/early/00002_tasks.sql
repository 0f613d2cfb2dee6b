-- +goose Up
-- The task ledger: every asynchronous piece of work is one row here, and the
-- row is the truth. Redis holds only offers, which can be made again.
create table tasks (
    id               uuid primary key,          -- version 7: order is time
    kind             text not null,
    queue            text not null,
    organization_id  bigint references organizations on delete cascade,
    payload          jsonb not null,
    -- what the task costs, in units of its kind: claims of a batch kind merge
    -- rows up to a sum of weights.
    weight           integer not null default 1,
    concurrency_key  text,
    dedupe_key       text,
    request_id       text not null default '',
    state            text not null default 'queued'
                     check (state in ('queued', 'running', 'succeeded', 'dead', 'cancelled')),
    run_at           timestamptz not null default now(),
    -- delivery counts offers to Redis and is part of the offer's id;
    -- offered_at is null while no offer stands.
    delivery         integer not null default 0,
    offered_at       timestamptz,
    -- attempt counts claims and is the fencing token of the running one.
    attempt          integer not null default 0,
    max_attempts     integer not null check (max_attempts > 0),
    worker           text,
    heartbeat_at     timestamptz,
    cancel_requested boolean not null default false,
    error            text,
    result           jsonb,
    created_at       timestamptz not null default now(),
    started_at       timestamptz,
    finished_at      timestamptz
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01,
        autovacuum_vacuum_threshold = 500, autovacuum_analyze_scale_factor = 0.05);

-- The relay walks the organizations that have something to offer, and takes
-- each one's oldest rows.
create index tasks_unoffered on tasks (queue, (coalesce(organization_id, 0)), run_at)
    where state = 'queued' and offered_at is null;
-- The sweep compares standing offers with Redis; the relay counts them.
create index tasks_offered on tasks (queue, offered_at)
    where state = 'queued' and offered_at is not null;
-- A claim of a batch kind takes further rows of the same organization.
create index tasks_claimable on tasks (kind, (coalesce(organization_id, 0)), id)
    where state = 'queued';
-- Rescue looks for hearts that stopped.
create index tasks_running on tasks (heartbeat_at) where state = 'running';
-- Concurrency limits count the running rows of a key.
create index tasks_concurrency on tasks (concurrency_key)
    where state = 'running' and concurrency_key is not null;
-- At most one open task of a kind and dedupe key.
create unique index tasks_dedupe on tasks (kind, dedupe_key)
    where dedupe_key is not null and state in ('queued', 'running');
-- Dead tasks are counted at every scrape.
create index tasks_dead on tasks (kind, queue) where state = 'dead';
-- The task list pages through an organization's tasks, newest first.
create index tasks_organization on tasks (organization_id, id desc);
-- Retention deletes what ended long ago.
create index tasks_finished on tasks (finished_at) where finished_at is not null;

-- Redis carries the same epoch; where it differs, Redis lost its memory.
create table dispatch_epoch (
    only_row  boolean primary key default true check (only_row),
    epoch     text not null
);
