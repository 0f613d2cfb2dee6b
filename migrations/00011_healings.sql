-- +goose Up
set local lock_timeout = '3s';
-- What runs have healed, or would have: for a step of a case, the selector that found
-- its element. People accept a healing, which makes a revision, or refuse it.
create table test_healings (
    id                   uuid primary key,       -- version 5: of case, step and selector_to
    organization_id      bigint not null references organizations on delete cascade,
    case_id              text not null references test_cases on delete cascade,
    step_id              text not null,
    state                text not null default 'OPEN' check (state in ('OPEN', 'ACCEPTED', 'REFUSED')),
    selector_from        jsonb not null,         -- that found nothing
    selector_to          jsonb not null,         -- with the element's fingerprint
    applied              boolean not null,       -- the step acted on the element
    score                double precision not null,
    reason               text not null,
    -- Of the run that saw it last; both may be gone.
    revision_id          text not null,
    run_id               uuid not null,
    seen                 integer not null default 1, -- jobs
    first_seen_at        timestamptz not null default now(),
    last_seen_at         timestamptz not null default now(),
    -- Who accepted or refused it, and the revision that accepting made.
    decider_uuid         uuid,
    decided_at           timestamptz,
    accepted_revision_id text,
    accepted_number      integer,
    check ((state = 'OPEN') = (decided_at is null))
);
-- The list pages through a case's healings, newest first; a run reads the refused ones.
create index test_healings_newest on test_healings (case_id, last_seen_at desc, id desc);
-- Deleting an organization looks for its healings.
create index test_healings_organization on test_healings (organization_id);
