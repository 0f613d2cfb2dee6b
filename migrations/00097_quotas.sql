-- +goose Up
set local lock_timeout = '3s';
-- What organizations use of what can be bounded. A change adds a row, in its own
-- transaction: nobody waits for anybody, and the sum is exact at every moment. The
-- maintenance replaces the rows of a sum by one, and compares it with what is stored.
create table quota_usage (
    organization_id bigint not null references organizations on delete cascade,
    resource        text not null,
    -- The day (UTC) of what is bounded a day; -infinity for what is kept.
    day             date not null default '-infinity',
    amount          bigint not null
);
-- A request reads the sum of its organization.
create index quota_usage_sum on quota_usage (organization_id, resource, day) include (amount);

-- Bounds that the operator set for one organization, in place of the installation's;
-- 0 is none.
create table organization_quotas (
    organization_id bigint not null references organizations on delete cascade,
    resource        text not null,
    bound           bigint not null check (bound >= 0),
    primary key (organization_id, resource)
);

-- When the maintenance last compared the sums with what is stored: one row.
create table quota_recounts (
    only_row  boolean primary key default true check (only_row),
    at        timestamptz not null default '-infinity'
);
insert into quota_recounts default values;

-- Whichever way a row comes or goes, it is counted in its transaction. The rows of an
-- organization that is being deleted are not: its sums go with it.
-- +goose StatementBegin
create function quota_sizes_added() returns trigger language plpgsql as $$
begin
    insert into quota_usage (organization_id, resource, amount)
    select a.organization_id, 'stored_bytes', sum(a.size) from added a group by a.organization_id having sum(a.size) <> 0;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function quota_sizes_removed() returns trigger language plpgsql as $$
begin
    insert into quota_usage (organization_id, resource, amount)
    select r.organization_id, 'stored_bytes', -sum(r.size) from removed r join organizations o on o.id = r.organization_id
    group by r.organization_id having sum(r.size) <> 0;
    return null;
end $$;
-- +goose StatementEnd

create trigger files_quota_added after insert on files
    referencing new table as added for each statement execute function quota_sizes_added();
create trigger files_quota_removed after delete on files
    referencing old table as removed for each statement execute function quota_sizes_removed();
create trigger crash_attachments_quota_added after insert on crash_attachments
    referencing new table as added for each statement execute function quota_sizes_added();
create trigger crash_attachments_quota_removed after delete on crash_attachments
    referencing old table as removed for each statement execute function quota_sizes_removed();
create trigger run_files_quota_added after insert on run_files
    referencing new table as added for each statement execute function quota_sizes_added();
create trigger run_files_quota_removed after delete on run_files
    referencing old table as removed for each statement execute function quota_sizes_removed();
create trigger generation_files_quota_added after insert on generation_files
    referencing new table as added for each statement execute function quota_sizes_added();
create trigger generation_files_quota_removed after delete on generation_files
    referencing old table as removed for each statement execute function quota_sizes_removed();

-- Pictures of feedback are members of its row, which most have not.
-- +goose StatementBegin
create function quota_feedback_changed() returns trigger language plpgsql as $$
begin
    if tg_op <> 'DELETE' then
        insert into quota_usage (organization_id, resource, amount) values (new.organization_id, 'stored_bytes', new.screenshot_size);
    end if;
    if tg_op <> 'INSERT' then
        insert into quota_usage (organization_id, resource, amount)
        select o.id, 'stored_bytes', -old.screenshot_size from organizations o where o.id = old.organization_id;
    end if;
    return null;
end $$;
-- +goose StatementEnd
create trigger feedbacks_quota_added after insert on feedbacks
    for each row when (new.screenshot_size <> 0) execute function quota_feedback_changed();
create trigger feedbacks_quota_changed after update of screenshot_size on feedbacks
    for each row when (old.screenshot_size <> new.screenshot_size) execute function quota_feedback_changed();
create trigger feedbacks_quota_removed after delete on feedbacks
    for each row when (old.screenshot_size <> 0) execute function quota_feedback_changed();

-- A build counts until it is marked deleted.
-- +goose StatementBegin
create function quota_build_changed() returns trigger language plpgsql as $$
begin
    insert into quota_usage (organization_id, resource, amount)
    select o.id, 'builds', b.amount
    from (select coalesce(new.organization_id, old.organization_id) as organization_id,
        (case when tg_op <> 'DELETE' and new.deleted_at is null then 1 else 0 end)
        - (case when tg_op <> 'INSERT' and old.deleted_at is null then 1 else 0 end) as amount) b
    join organizations o on o.id = b.organization_id
    where b.amount <> 0;
    return null;
end $$;
-- +goose StatementEnd
create trigger builds_quota_added after insert on builds for each row execute function quota_build_changed();
create trigger builds_quota_changed after update of deleted_at on builds
    for each row when (old.deleted_at is distinct from new.deleted_at) execute function quota_build_changed();
create trigger builds_quota_removed after delete on builds
    for each row when (old.deleted_at is null) execute function quota_build_changed();
