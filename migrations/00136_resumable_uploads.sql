-- +goose Up
set local lock_timeout = '3s';
-- Files that come in parts, for uploads that go on after a lost connection: open until all
-- parts are joined, complete until a build or symbols take the file, then used. The object is
-- builds/ID. A row ends a day after it began, an hour after where no part came; what it has stored goes with it, unless used.
create table resumable_uploads (
    id              uuid primary key,
    organization_id bigint not null references organizations on delete cascade,
    user_id         bigint not null, -- whose it is: nobody else goes on with it
    idempotency_key text, -- null: none was sent, or it stands for a newer upload
    file_name       text not null,
    size            bigint not null check (size > 0),
    part_size       bigint not null check (part_size > 0),
    given_sha256    text not null default '', -- what the sender says; '' nothing
    state           text not null default 'open' check (state in ('open', 'complete', 'used')),
    store_id        text not null, -- by which the object store knows the parts
    sha256          text not null default '', -- of the bytes; '' while open
    build_id        bigint, -- what took the file; it may be gone
    symbol_id       bigint,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null
);
-- A request that is sent again finds the upload of the first one.
create unique index resumable_uploads_key on resumable_uploads (organization_id, user_id, idempotency_key)
    where idempotency_key is not null;
-- What an organization has unfinished is counted when one begins.
create index resumable_uploads_unfinished on resumable_uploads (organization_id) include (size, user_id, expires_at) where state <> 'used';
-- The maintenance ends those that are over.
create index resumable_uploads_expiry on resumable_uploads (expires_at);

create table upload_parts (
    upload_id  uuid not null references resumable_uploads on delete cascade,
    number     integer not null check (number > 0),
    size       bigint not null,
    sha256     text not null,
    tag        text not null, -- by which the object store recognises the bytes
    -- The SHA-256 over all bytes before the part and with it, and its state to go on with;
    -- '' where the part before had not come by then.
    sum_before text not null default '',
    sum_after  text not null default '',
    sum_state  bytea,
    created_at timestamptz not null default now(),
    primary key (upload_id, number)
);

-- All bytes of an upload count from its beginning, so that what was begun has room; once it
-- is used, those of its file count instead.
-- +goose StatementBegin
create function quota_upload_changed() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        insert into quota_usage (organization_id, resource, amount) values (new.organization_id, 'stored_bytes', new.size);
    else
        insert into quota_usage (organization_id, resource, amount)
        select o.id, 'stored_bytes', -old.size from organizations o where o.id = old.organization_id;
    end if;
    return null;
end $$;
-- +goose StatementEnd
create trigger resumable_uploads_quota_added after insert on resumable_uploads
    for each row execute function quota_upload_changed();
create trigger resumable_uploads_quota_used after update of state on resumable_uploads
    for each row when (old.state <> 'used' and new.state = 'used') execute function quota_upload_changed();
create trigger resumable_uploads_quota_removed after delete on resumable_uploads
    for each row when (old.state <> 'used') execute function quota_upload_changed();
