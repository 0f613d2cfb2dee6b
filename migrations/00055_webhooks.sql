-- +goose Up
set local lock_timeout = '3s';
-- Webhooks: addresses of organizations that hear of events, what was sent to them,
-- and what came back.

-- What an event is about, as it was when it happened: the body of a delivery is made
-- from this row alone. A second event with a dedupe key is not written.
alter table events
    add column project_id  bigint,
    add column build_id    bigint,
    add column app_name    text not null default '',
    add column version     text not null default '',
    add column build       text not null default '',
    add column platform    text not null default '',
    add column happened_at timestamptz,
    add column dedupe_key  text;

create table webhooks (
    id               bigint generated always as identity primary key,
    organization_id  bigint not null references organizations on delete cascade,
    name             text not null check (length(name) between 1 and 255),
    url              text not null check (length(url) between 1 and 2048),
    actions          text[] not null default '{}',
    -- Empty: the events of all apps.
    project_ids      bigint[] not null default '{}',
    status           text not null check (status in ('active', 'suspended')),
    suspended_at     timestamptz,
    suspended_reason text not null default '',
    -- The secret that signs, and the one before it while that is still valid; sealed.
    secret           bytea not null,
    former_secret    bytea,
    former_until     timestamptz,
    -- Rises with each change by people: the outcome of an attempt that was made
    -- before a change says nothing about the webhook after it.
    version          integer not null default 1,
    -- Failed attempts since the last success, when the first of them was, and before
    -- when none is made.
    failures         integer not null default 0,
    failing_since    timestamptz,
    retry_at         timestamptz,
    last_success_at  timestamptz,
    -- Events that were left out because their organization had too many in a minute.
    skipped          bigint not null default 0,
    skipped_at       timestamptz,
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now(),
    check ((status = 'suspended') = (suspended_at is not null))
);
-- The lists of webhooks, oldest first.
create index webhooks_organization on webhooks (organization_id, id);
-- An event looks for the webhooks that want it.
create index webhooks_active on webhooks (organization_id) where status = 'active';

-- One event for one webhook.
create table webhook_deliveries (
    id              uuid primary key,           -- version 7; also the header webhook-id
    webhook_id      bigint not null references webhooks on delete cascade,
    organization_id bigint not null,
    event_id        uuid references events on delete cascade, -- null: a test
    action          text not null,
    status          text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
    -- The body, from the first attempt on: all attempts send the same.
    body            text,
    content_type    text not null default '',
    attempts        integer not null default 0,
    next_at         timestamptz not null default now(),
    expires_at      timestamptz not null,
    last_status     integer,
    last_error      text not null default '',
    last_attempt_at timestamptz,
    created_at      timestamptz not null default now(),
    finished_at     timestamptz
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
-- The log of a webhook, newest first.
create index webhook_deliveries_log on webhook_deliveries (webhook_id, id);
-- The log of those that failed; a replay of all failed in a range.
create index webhook_deliveries_failed on webhook_deliveries (webhook_id, id) where status = 'failed';
-- The worker takes what is due of one webhook.
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_at) where status = 'pending';
-- Deleting an event looks for its deliveries.
create index webhook_deliveries_event on webhook_deliveries (event_id);
-- The maintenance deletes old deliveries.
create index webhook_deliveries_age on webhook_deliveries (created_at);

create table webhook_attempts (
    delivery_id uuid not null references webhook_deliveries on delete cascade,
    number      integer not null,
    at          timestamptz not null,
    duration_ms integer not null,
    status      integer,                        -- null: no answer
    response    text not null default '',       -- the beginning of the answer's body
    error       text not null default '',
    primary key (delivery_id, number)
);

-- How many events of an action an organization had in the present minute, of the
-- actions that a storm outside can make many of.
create table webhook_rates (
    organization_id bigint not null references organizations on delete cascade,
    action          text not null,
    minute          timestamptz not null,
    count           integer not null,
    primary key (organization_id, action)
);
-- The maintenance finds deliveries whose time is over.
create index webhook_deliveries_expiry on webhook_deliveries (expires_at) where status = 'pending';
