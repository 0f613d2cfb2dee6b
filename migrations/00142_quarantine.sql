-- +goose Up
set local lock_timeout = '3s';
-- Cases whose failures do not fail their suites for some time. A quarantine that is over stays
-- until the next one of its case replaces it, or the case goes.
create table test_quarantines (
    case_id         text primary key references test_cases on delete cascade,
    organization_id bigint not null,
    reason          text not null,
    until           timestamptz not null,
    created_at      timestamptz not null default now(),
    user_uuid       uuid not null                -- who put it there
);
-- The list of cases filters by it.
create index test_quarantines_organization on test_quarantines (organization_id, until);
