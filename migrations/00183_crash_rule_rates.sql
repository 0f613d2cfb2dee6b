-- +goose Up
set local lock_timeout = '3s';
-- How many mails the rules of an organization have written in an hour.
create table crash_rule_rates (
    organization_id bigint primary key references organizations on delete cascade,
    hour            timestamptz not null,
    mails           integer not null
);
