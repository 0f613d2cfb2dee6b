-- +goose Up
-- What people accepted of the looks and the accessibility of a case.
set local lock_timeout = '3s';

-- The pictures of a step that assertions are compared with, one for each that was ever seen.
create table test_baselines (
    id              uuid primary key,            -- version 5: of case, step, name, target and digest
    organization_id bigint not null references organizations on delete cascade,
    case_id         text not null references test_cases on delete cascade,
    step_id         text not null,
    name            text not null default '',    -- that the step gives it
    target          text not null,               -- browser, platform, viewport and scale: chrome/linux/1280x757@1
    -- UNREVIEWED: the first, which nobody has accepted. CANDIDATE: another one than the baseline.
    -- FORMER: another one was accepted in its place.
    state           text not null check (state in ('UNREVIEWED', 'CANDIDATE', 'ACCEPTED', 'REJECTED', 'FORMER')),
    browser_version text not null default '',
    fonts           text not null default '',    -- how the machine draws a text that is always the same
    digest          text not null,               -- SHA-256 of the pixels
    width           integer not null,
    height          integer not null,
    object_key      text not null unique,
    size            bigint not null,
    run_id          uuid not null,               -- that saw it last; may be gone
    created_at      timestamptz not null default now(),
    seen_at         timestamptz not null default now(),
    decider_uuid    uuid,
    decided_at      timestamptz
);
-- A step looks for its baseline, and for those that are too many.
create index test_baselines_step on test_baselines (case_id, step_id, name, target, seen_at desc);
create unique index test_baselines_accepted on test_baselines (case_id, step_id, name, target) where state = 'ACCEPTED';
-- Deleting an organization looks for its baselines.
create index test_baselines_organization on test_baselines (organization_id);
create trigger test_baselines_quota_added after insert on test_baselines
    referencing new table as added for each statement execute function quota_sizes_added();
create trigger test_baselines_quota_removed after delete on test_baselines
    referencing old table as removed for each statement execute function quota_sizes_removed();

-- Findings of accessibility that fail no run of the case any more.
create table test_accepted_findings (
    case_id         text not null references test_cases on delete cascade,
    key             text not null,               -- of rule and element
    organization_id bigint not null references organizations on delete cascade,
    step_id         text not null,               -- where it was accepted
    rule            text not null,
    impact          text not null,
    element         text not null,
    run_id          uuid not null,               -- may be gone
    accepter_uuid   uuid not null,
    accepted_at     timestamptz not null default now(),
    primary key (case_id, key)
);
-- Deleting an organization looks for its findings.
create index test_accepted_findings_organization on test_accepted_findings (organization_id);

-- Steps that look like a picture that nobody has accepted.
alter table test_jobs add column unreviewed integer not null default 0;

-- The pictures of looks and findings, and the files of traces, are files of runs too.
alter table run_files drop constraint run_files_kind_check;
alter table run_files add constraint run_files_kind_check check (kind in ('screenshot', 'source', 'console', 'trace', 'network',
    'difference', 'expected', 'actual', 'finding')) not valid;
