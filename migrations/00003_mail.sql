-- +goose Up
set local lock_timeout = '3s';
-- Mail, written in the transaction of what it is about, sent by a task each.
create table mails (
    id              uuid primary key,           -- version 7; also the Message-ID
    organization_id bigint references organizations on delete cascade,
    kind            text not null,              -- new-build, sign-in, key-revoked
    recipient       text not null,
    subject         text not null,
    text_body       text not null,
    html_body       text not null default '',
    -- kept: there is no mail server to send by, so it stays here to be read.
    state           text not null default 'queued' check (state in ('queued', 'sent', 'kept', 'failed')),
    error           text not null default '',
    -- One mail for each recipient of one event.
    dedupe_key      text unique,
    created_at      timestamptz not null default now(),
    sent_at         timestamptz
);
-- The operators' page shows the newest mails; the maintenance deletes the oldest.
create index mails_created on mails (created_at);
