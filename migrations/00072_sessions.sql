-- +goose Up
set local lock_timeout = '3s';
-- What the SDK of an app sends: recorded sessions with their events, and feedback.

-- Tokens of apps for their SDK. Everybody who has the app can read its token, so it
-- may only send, and ask for an update.
create table sdk_tokens (
    id               bigint generated always as identity primary key,
    organization_id  bigint not null references organizations on delete cascade,
    project_id       bigint not null references projects on delete cascade,
    name             text not null default '',
    digest           bytea not null unique check (length(digest) = 32),
    hint             text not null,
    scopes           text[] not null default '{session:post,feedback:post,update:read}',
    quota_per_minute integer check (quota_per_minute > 0),
    created_at       timestamptz not null default now(),
    revoked_at       timestamptz
);
-- The list of an app's tokens; deleting an app looks for them.
create index sdk_tokens_project on sdk_tokens (project_id, id);
-- Deleting an organization looks for its tokens.
create index sdk_tokens_organization on sdk_tokens (organization_id);

-- One use of an app by somebody, from start to end. Each batch of events updates its
-- row: no column that changes then is in an index, so the row stays in its page.
create table app_sessions (
    id              bigint generated always as identity primary key,
    organization_id bigint not null references organizations on delete cascade,
    project_id      bigint not null references projects on delete cascade,
    -- No foreign keys: builds and people go by tasks that look for their sessions,
    -- or leave them without a name.
    build_id        bigint,
    user_id         bigint,
    client_id       uuid not null,              -- chosen by the SDK
    email           text not null default '',
    correlation_id  text not null default '',
    attr1           text not null default '',
    attr2           text not null default '',
    attr3           text not null default '',
    attr4           text not null default '',
    attr5           text not null default '',
    version         text not null default '',
    version_code    text not null default '',
    device_model    text not null default '',
    os              text not null default '',
    os_version      text not null default '',
    locale          text not null default '',
    app_state       text not null default '',
    ip_address      text not null default '',
    started_at      timestamptz not null,       -- as the device says, within bounds
    received_at     timestamptz not null default now(),
    last_at         timestamptz not null default now(), -- when something came last
    ended_at        timestamptz,                -- when the end came, or silence became one
    ended_by        text not null default '' check (ended_by in ('', 'app', 'silence')),
    duration_ms     bigint check (duration_ms >= 0),
    last_event_at   timestamptz,                -- of the latest event, as the device says
    crashed         boolean not null default false,
    batches         integer not null default 0,
    events          bigint not null default 0,  -- stored
    dropped         bigint not null default 0,  -- beyond the bounds of the session
    event_bytes     bigint not null default 0,  -- of the stored ones, before compression
    trimmed         boolean not null default false -- events were removed to keep the app's bound
) with (fillfactor = 70);
-- A start that is repeated, events and the end look for their session.
create unique index app_sessions_client on app_sessions (project_id, client_id);
-- The sessions of a build, newest first; deleting a build looks for them.
create index app_sessions_build on app_sessions (build_id, id) where build_id is not null;
-- The sessions of an app, newest first.
create index app_sessions_project on app_sessions (project_id, id);
-- The maintenance ends sessions after silence.
create index app_sessions_open on app_sessions (received_at) where ended_at is null;
-- Retention deletes the oldest.
create index app_sessions_age on app_sessions (received_at);
-- Trimming an organization takes its oldest sessions; deleting it looks for all.
create index app_sessions_organization on app_sessions (organization_id, id);

-- Events as they came, a row a request: a JSON array, compressed (zstd). The session's
-- row is locked by who writes here, so no foreign key is needed.
create table app_session_batches (
    session_id  bigint not null,
    seq         bigint not null,                -- chosen by the SDK, so that a repeated batch counts once
    received_at timestamptz not null default now(),
    events      integer not null,
    dropped     integer not null,
    bytes       integer not null,               -- before compression
    body        bytea not null,                 -- empty when everything was dropped
    primary key (session_id, seq)
);
alter table app_session_batches alter column body set storage external;

create table feedbacks (
    id              bigint generated always as identity primary key,
    organization_id bigint not null references organizations on delete cascade,
    project_id      bigint not null references projects on delete cascade,
    build_id        bigint,
    session_id      bigint,
    user_id         bigint,
    client_id       uuid,                       -- chosen by the sender: sent again, it counts once
    text            text not null default '',
    source          text not null default '',   -- shake, page, ...
    email           text not null default '',
    correlation_id  text not null default '',
    device_model    text not null default '',
    os              text not null default '',
    os_version      text not null default '',
    locale          text not null default '',
    ip_address      text not null default '',
    screenshot_key  text not null default '',
    screenshot_type text not null default '',
    screenshot_size bigint not null default 0,
    recorded_at     timestamptz not null default now()
);
-- Feedback that is sent again.
create unique index feedbacks_client on feedbacks (project_id, client_id) where client_id is not null;
-- The latest of an organization.
create index feedbacks_organization on feedbacks (organization_id, id);
-- The latest of an app.
create index feedbacks_project on feedbacks (project_id, id);
-- The latest of a build; deleting a build looks for its feedback.
create index feedbacks_build on feedbacks (build_id, id) where build_id is not null;
-- A session that is removed is taken out of its feedback.
create index feedbacks_session on feedbacks (session_id) where session_id is not null;
-- The sweep of objects asks which screenshots are named.
create unique index feedbacks_screenshot on feedbacks (screenshot_key) where screenshot_key <> '';
