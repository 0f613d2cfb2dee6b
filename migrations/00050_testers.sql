-- +goose Up
set local lock_timeout = '3s';
-- Testers: when they were here last, what they are searched by, and the invitations
-- to builds that they were sent.

-- A search is for part of a mail address or name inside one organization, so the
-- index of 00052 has the organization beside the text. The extension is a trusted
-- one: the owner of the database may create it.
create extension if not exists btree_gin;

alter table memberships
    add column last_login_at timestamptz,
    -- Mail address (of a service account the user name) and name in lower case; kept
    -- by the triggers below, since both are columns of another table.
    add column search text not null default '';

-- +goose StatementBegin
create function membership_search() returns trigger language plpgsql as $$
begin
    select lower(coalesce(u.email, u.username) || ' ' || u.name) into new.search from users u where u.id = new.user_id;
    new.search = coalesce(new.search, '');
    return new;
end $$;
-- +goose StatementEnd
create trigger memberships_search before insert on memberships
    for each row execute function membership_search();

-- +goose StatementBegin
create function user_search() returns trigger language plpgsql as $$
begin
    update memberships set search = lower(coalesce(new.email, new.username) || ' ' || new.name) where user_id = new.id;
    return null;
end $$;
-- +goose StatementEnd
create trigger users_search after update of email, username, name on users
    for each row execute function user_search();

-- How many testers an organization has: a page of their list need not count them. Kept
-- by triggers and not by statements, for a user who is deleted leaves by a cascade.
create table tester_counts (
    organization_id bigint primary key references organizations on delete cascade,
    testers         bigint not null default 0,
    blocked         bigint not null default 0  -- of them
);
insert into tester_counts (organization_id, testers, blocked)
select organization_id, count(*), count(blocked_at) from memberships where role = 'tester' group by organization_id;

-- +goose StatementBegin
create function count_testers() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        insert into tester_counts as c (organization_id, testers, blocked)
        select organization_id, count(*), count(blocked_at) from changed where role = 'tester'
        group by organization_id order by organization_id
        on conflict (organization_id) do update set testers = c.testers + excluded.testers, blocked = c.blocked + excluded.blocked;
    else
        update tester_counts c set testers = c.testers - n.testers, blocked = c.blocked - n.blocked
        from (select organization_id, count(*) as testers, count(blocked_at) as blocked from changed where role = 'tester'
            group by organization_id) n
        where c.organization_id = n.organization_id;
    end if;
    return null;
end $$;
-- +goose StatementEnd
create trigger memberships_added after insert on memberships
    referencing new table as changed for each statement execute function count_testers();
create trigger memberships_removed after delete on memberships
    referencing old table as changed for each statement execute function count_testers();

-- +goose StatementBegin
create function recount_tester() returns trigger language plpgsql as $$
begin
    insert into tester_counts as c (organization_id, testers, blocked)
    values (new.organization_id, (new.role = 'tester')::int - (old.role = 'tester')::int,
        (new.role = 'tester' and new.blocked_at is not null)::int - (old.role = 'tester' and old.blocked_at is not null)::int)
    on conflict (organization_id) do update set testers = c.testers + excluded.testers, blocked = c.blocked + excluded.blocked;
    return null;
end $$;
-- +goose StatementEnd
create trigger memberships_changed after update of role, blocked_at on memberships for each row
    when (old.role is distinct from new.role or old.blocked_at is distinct from new.blocked_at)
    execute function recount_tester();

-- Who was invited to which build. The row goes with the membership, and the personal
-- link with the row.
create table build_invites (
    id              bigint generated always as identity primary key,
    organization_id bigint not null,
    build_id        bigint not null references builds on delete cascade,
    user_id         bigint not null,
    -- The secret of the personal link is derived from it: a new one ends the former link.
    nonce           bytea not null check (length(nonce) >= 16),
    status          text not null default 'created'
                    check (status in ('created', 'sent', 'opened', 'installed', 'revoked')),
    invited_by      text not null default '',
    invited_at      timestamptz not null default now(),
    sent_at         timestamptz,
    opened_at       timestamptz,
    installed_at    timestamptz,
    revoked_at      timestamptz,
    -- The invitations of a build are listed by person.
    unique (build_id, user_id),
    foreign key (organization_id, user_id) references memberships (organization_id, user_id) on delete cascade
);
-- Deleting a membership, and revoking all invitations of a person, look for them.
create index build_invites_member on build_invites (organization_id, user_id);

-- What a task that mails many people needs and a task's payload must not hold: to
-- whom, and the text that somebody added. The row goes with the end of its task.
create table tester_mailings (
    id              bigint generated always as identity primary key,
    organization_id bigint not null references organizations on delete cascade,
    build_id        bigint references builds on delete cascade,  -- null: a welcome
    user_ids        bigint[] not null,                           -- ascending
    groups          text[] not null default '{}',                -- names, for the mail
    comment         text not null default '',
    created_at      timestamptz not null default now()
);
-- Deleting a build looks for its mailings.
create index tester_mailings_build on tester_mailings (build_id) where build_id is not null;
-- Deleting an organization looks for its mailings.
create index tester_mailings_organization on tester_mailings (organization_id);
-- The maintenance deletes what a task that failed left.
create index tester_mailings_created on tester_mailings (created_at);
