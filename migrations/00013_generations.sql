-- +goose Up
set local lock_timeout = '3s';
-- Tests that are written from a sentence: what was asked for, what there is so far, and
-- how it ended. A generation names its case without a foreign key: its status can be
-- read for as long as runs can, whatever becomes of the case.
create table test_generations (
    id                uuid primary key,            -- version 7; also the id of its test:generate task
    organization_id   bigint not null references organizations on delete cascade,
    team_id           bigint not null,
    user_uuid         uuid not null,
    -- Who asked, as the audit names the creator of the case.
    actor_user_id     bigint,
    actor_name        text not null,
    name              text not null,
    tags              text[] not null default '{}',
    suite_id          uuid,
    run_settings      jsonb not null,              -- of the case
    target            jsonb not null,              -- effective capabilities
    tunnel            text not null default '',
    intent            text not null,
    max_steps         integer not null,
    accepted_at       timestamptz not null default now(),
    deadline          timestamptz not null,
    state             text not null default 'QUEUED'
                      check (state in ('QUEUED', 'IN_PROGRESS', 'COMPLETED', 'FAILED')),
    error_code        text not null default '',
    error             text not null default '',
    -- Why there was no browser session at the last try; '' after one was there.
    no_session        text not null default '',
    steps             jsonb not null default '[]',
    reasoning         jsonb not null default '[]',
    discovered_intent text not null default '',
    description       text not null default '',
    changes           jsonb,                       -- of a refinement: steps kept, changed, added, removed
    model             jsonb,                       -- what a model was sent and what it cost
    -- What was written.
    case_id           text,
    revision_id       text,
    -- Of a refinement: the case, and the revision that it starts from.
    base_case_id      text,
    base_revision_id  text,
    started_at        timestamptz,
    finished_at       timestamptz,
    check ((state = 'COMPLETED') = (case_id is not null))
);
-- The maintenance ends what is overdue or has lost its task.
create index test_generations_open on test_generations (deadline) where state in ('QUEUED', 'IN_PROGRESS');
-- The maintenance deletes old generations.
create index test_generations_age on test_generations (accepted_at);
-- Deleting an organization looks for its generations.
create index test_generations_organization on test_generations (organization_id);

-- Screenshots and the like. Those that a revision shows belong to its case from then
-- on, and outlive the generation; others go with it.
create table generation_files (
    id              uuid primary key,
    organization_id bigint not null references organizations on delete cascade,
    generation_id   uuid not null,
    in_case         boolean not null default false,
    case_id         text references test_cases on delete set null,
    kind            text not null check (kind in ('screenshot', 'source', 'console')),
    step            integer not null,              -- place of the step, from 0
    object_key      text not null unique,
    content_type    text not null,
    size            bigint not null,
    created_at      timestamptz not null default now()
);
-- A generation shows its files, and is forgotten with them.
create index generation_files_generation on generation_files (generation_id);
-- Deleting a case looks for its files.
create index generation_files_case on generation_files (case_id) where case_id is not null;
-- The maintenance deletes the files of cases that are gone.
create index generation_files_orphan on generation_files (id) where in_case and case_id is null;
-- Deleting an organization looks for its files.
create index generation_files_organization on generation_files (organization_id);

-- What models cost on a day (UTC), for each organization and, as organization 0, for the
-- installation. A call is counted with its estimate before it is made.
create table model_spending (
    day             date not null,
    organization_id bigint not null,
    micro_usd       bigint not null default 0,     -- millionths of a US dollar
    tokens          bigint not null default 0,
    calls           bigint not null default 0,
    primary key (day, organization_id)
);
