-- +goose Up
set local lock_timeout = '3s';
-- How tasks ended, by the hour (UTC) and by queue and kind: small sums of what the ledger
-- keeps some hours or days. The ledger's retention adds to them what has ended since, before
-- it deletes anything; whoever ends a task writes nothing here.
create table task_hours (
    hour    timestamptz not null,
    queue   text not null,
    kind    text not null,
    -- ended: tasks that ended; died: those of them that died; failed: attempts of theirs that
    -- failed. waited, ran: tasks by the time that they were due before their last attempt
    -- began, and by the time that it took.
    measure text not null check (measure in ('ended', 'died', 'failed', 'waited', 'ran')),
    -- Of waited and ran: 0 below a millisecond, then four for each doubling of the time.
    bucket  smallint not null check (bucket between 0 and 160),
    count   bigint not null,
    primary key (hour, queue, kind, measure, bucket)
);

-- Up to when the ends are in the sums: the one row, which is also the lock of who adds.
create table task_hours_until (
    only_row boolean primary key default true check (only_row),
    until    timestamptz not null
);
insert into task_hours_until (until) values (now() - interval '8 days');
