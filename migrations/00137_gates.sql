-- +goose Up
-- Gates: whether a build may go on, by the conditions of its app's policy. docs/gate.md says what
-- each condition asks for.
set local lock_timeout = '3s';

-- The policy of an app. What the database itself goes by stands in columns beside the document.
create table gate_policies (
    project_id      bigint primary key references projects on delete cascade,
    organization_id bigint not null references organizations on delete cascade,
    version         bigint not null,             -- raised by each change
    document        jsonb not null,
    channels        text[],                      -- null: builds of every channel
    windows         smallint[] not null default '{}', -- hours in which crash groups are counted
    crash_users     boolean not null default false,   -- their users are counted as well
    sessions        boolean not null default false,   -- numbers of sessions matter
    updated_at      timestamptz not null default now(),
    updated_by      text not null default ''
);
-- Deleting an organization looks for its policies.
create index gate_policies_organization on gate_policies (organization_id);

-- The gate of a build, as it was evaluated last. A build without a row has none yet.
create table gates (
    build_id        bigint primary key references builds on delete cascade,
    organization_id bigint not null,
    project_id      bigint not null,
    version         text not null,               -- of the build
    channel         text not null default '',    -- the last one of the build that its policy covered
    policy_version  bigint not null default 0,   -- that it was evaluated by; 0: by none
    state           text not null default 'unknown' check (state in ('pass', 'fail', 'unknown')),
    reason          text not null default '',    -- why nothing was evaluated
    conditions      jsonb not null default '[]',
    evaluated_at    timestamptz,
    before_id       bigint,                      -- the build that it was compared with
    -- What is counted of this build, as its policy was when it was evaluated last.
    windows         smallint[] not null default '{}',
    crash_users     boolean not null default false,
    sessions        boolean not null default false,
    -- The crashes of the build are to be counted anew, in steps: until that is done the gate is not
    -- evaluated. counted_to: those with a larger id are not counted yet; null: all are.
    recount         boolean not null default false,
    counted_to      uuid,
    -- Crashes and sessions that come later do not have the gate evaluated.
    watched_until   timestamptz not null,
    -- What a person decided in place of the conditions.
    override_state  text check (override_state in ('pass', 'fail')),
    override_reason text not null default '',
    override_by     text not null default '',
    overridden_at   timestamptz,
    -- A notification of testers that waits for the gate, and who is told why it does.
    held_at         timestamptz,
    held_by         bigint,
    held_request_id text not null default '',
    told_at         timestamptz,                 -- who is told has heard that nothing will decide it
    -- Why suites that the upload was to start did not start: {"suite id": "reason"}.
    not_started     jsonb not null default '{}'
) with (fillfactor = 80);
-- Sessions of a version of an app look for the gates that they concern.
create index gates_version on gates (project_id, version);
-- Those of which crashes are to be counted.
create index gates_recount on gates (build_id) where recount;
-- A build that is deleted or invalid is nobody's build before; its sessions are compared.
create index gates_before on gates (before_id) where before_id is not null;

-- Each change of a gate's state, an override included.
create table gate_changes (
    id              bigint generated always as identity primary key,
    organization_id bigint not null,
    build_id        bigint not null references builds on delete cascade,
    at              timestamptz not null default now(),
    state           text not null check (state in ('pass', 'fail', 'unknown')),
    former          text not null check (former in ('pass', 'fail', 'unknown')),
    cause           text not null check (cause in ('conditions', 'policy', 'override', 'override_removed')),
    actor           text not null default '',    -- '' for what facts changed
    reason          text not null default '',
    conditions      jsonb not null default '[]'
);
-- The history of a build, newest first.
create index gate_changes_build on gate_changes (build_id, id desc);

-- The gates that are to be evaluated: rows are only added, by whoever changes a fact and in the
-- same transaction, so that no writer waits for another. Who evaluates a gate deletes its rows
-- first and reads the facts then.
create table gate_due (
    build_id        bigint not null,
    organization_id bigint not null,
    due_at          timestamptz not null,
    recount         boolean not null default false -- the crashes of the build are counted anew
);
-- Whether something is due.
create index gate_due_at on gate_due (due_at);
-- What is due of each organization, the oldest first.
create index gate_due_turn on gate_due (organization_id, due_at);
-- Evaluating a gate deletes its rows.
create index gate_due_build on gate_due (build_id);

-- The crashes of a build in the hours after its upload, by the key of their group. No foreign
-- keys: crashes are counted without a lock of the gate.
create table gate_crashes (
    build_id bigint not null,
    hours    smallint not null,
    key_id   bigint not null,
    reports  bigint not null,
    users    integer not null default 0, -- rows of gate_crash_users
    first_at timestamptz not null,       -- the earliest crash
    primary key (build_id, hours, key_id)
) with (fillfactor = 70);
-- A group whose state changes looks for the gates that it concerns.
create index gate_crashes_key on gate_crashes (key_id);
create table gate_crash_users (
    build_id  bigint not null,
    hours     smallint not null,
    key_id    bigint not null,
    user_hash bigint not null,
    primary key (build_id, hours, key_id, user_hash)
);
-- The symbol files that crashes of a build lacked.
create table gate_needs (
    build_id bigint not null,
    need_id  bigint not null,
    primary key (build_id, need_id)
);
-- A need that is served goes, and the gates are looked for that it concerns.
create index gate_needs_need on gate_needs (need_id);

-- +goose StatementBegin
create function gate_fact(build bigint) returns void language sql as $$
    insert into gate_due (build_id, organization_id, due_at) select build_id, organization_id, now() from gates where build_id = build;
$$;
-- +goose StatementEnd

-- The user of a report, as crash_version_days counts users: by the id, else by the session.
-- +goose StatementBegin
create function gate_crash_user(attributes jsonb) returns bigint language sql immutable as $$
    select ('x' || encode(substring(sha256(convert_to(u.id, 'UTF8')) for 8), 'hex'))::bit(64)::bigint
    from (select coalesce(nullif(left(attributes ->> 'guid', 255), ''), nullif(left(attributes ->> 'application.session', 255), '')) as id) u
    where u.id is not null;
$$;
-- +goose StatementEnd

-- A build of a policy's channel has a gate from its first moment on, however it comes: uploaded,
-- copied, or moved to the channel.
-- +goose StatementBegin
create function gate_build_added() returns trigger language plpgsql as $$
begin
    insert into gates (build_id, organization_id, project_id, version, channel, windows, crash_users, sessions, watched_until)
    select new.id, new.organization_id, new.project_id, new.version,
        case when p.channels is null or coalesce(new.metadata ->> 'channel', '') = any(p.channels)
            then coalesce(new.metadata ->> 'channel', '') else coalesce(old.metadata ->> 'channel', '') end, p.windows, p.crash_users, p.sessions,
        new.created_at + interval '30 days'
    from gate_policies p
    where p.project_id = new.project_id and (p.channels is null or coalesce(new.metadata ->> 'channel', '') = any(p.channels)
        or tg_op = 'UPDATE' and coalesce(old.metadata ->> 'channel', '') = any(p.channels))
    on conflict (build_id) do nothing;
    -- A build that moves may have crashed before.
    insert into gate_due (build_id, organization_id, due_at, recount)
    select build_id, organization_id, now(), tg_op = 'UPDATE' from gates where build_id = new.id;
    if tg_op = 'INSERT' then
        -- Sessions of a version are not those of a build when it has two.
        insert into gate_due (build_id, organization_id, due_at)
        select build_id, organization_id, now() from gates
        where project_id = new.project_id and version = new.version and build_id <> new.id order by build_id desc limit 5;
    end if;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function gate_build_changed() returns trigger language plpgsql as $$
begin
    perform gate_fact(new.id);
    if old.deleted_at is distinct from new.deleted_at or old.state is distinct from new.state or old.signer is distinct from new.signer then
        insert into gate_due (build_id, organization_id, due_at) select build_id, organization_id, now() from gates where before_id = new.id;
    end if;
    return null;
end $$;
-- +goose StatementEnd

-- What belongs to a gate goes with it.
-- +goose StatementBegin
create function gate_gone() returns trigger language plpgsql as $$
begin
    delete from gate_due where build_id = old.build_id;
    delete from gate_crashes where build_id = old.build_id;
    delete from gate_crash_users where build_id = old.build_id;
    delete from gate_needs where build_id = old.build_id;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function gate_of_build_changed() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' then
        perform gate_fact(old.build_id);
    else
        perform gate_fact(new.build_id);
    end if;
    return null;
end $$;
-- +goose StatementEnd

-- Recorded sessions that crash are counted of their builds, which are locked in the order of their
-- ids; one that is marked deleted is left alone, for its removal locks its sessions.
-- +goose StatementBegin
create function gate_sessions_crashed() returns trigger language plpgsql as $$
declare
    ids     bigint[];
    numbers bigint[];
begin
    select array_agg(c.build_id), array_agg(c.n) into ids, numbers from (
        select n.build_id, count(*) as n from after_rows n join before_rows o on o.id = n.id
        where n.crashed and not o.crashed and n.build_id is not null group by 1) c;
    if ids is null then
        return null;
    end if;
    perform from builds where id = any(ids) and deleted_at is null order by id for no key update;
    update builds b set crashed_sessions = b.crashed_sessions + w.n from unnest(ids, numbers) as w(id, n)
    where b.id = w.id and b.deleted_at is null;
    insert into gate_due (build_id, organization_id, due_at)
    select build_id, organization_id, now() from gates where build_id = any(ids) and watched_until > now()
    union all
    select build_id, organization_id, now() from gates where before_id = any(ids) and sessions and watched_until > now();
    return null;
end $$;
-- +goose StatementEnd

-- Symbols that come, or go, with an image of a build. The index is builds_images.
-- +goose StatementBegin
create function gate_image_changed() returns trigger language plpgsql as $$
declare
    changed record;
begin
    if tg_op = 'DELETE' then changed := old; else changed := new; end if;
    insert into gate_due (build_id, organization_id, due_at)
    select g.build_id, g.organization_id, now() from builds b join gates g on g.build_id = b.id
    where b.image_uuids && array[changed.image_uuid] and b.image_uuids <> '{}' and b.organization_id = changed.organization_id;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function gate_need_gone() returns trigger language plpgsql as $$
begin
    with gone as (delete from gate_needs where need_id = old.id returning build_id)
    insert into gate_due (build_id, organization_id, due_at)
    select g.build_id, g.organization_id, now() from gone join gates g using (build_id);
    return null;
end $$;
-- +goose StatementEnd

-- People ignore a group, or merge it, or it comes back.
-- +goose StatementBegin
create function gate_group_changed() returns trigger language plpgsql as $$
begin
    insert into gate_due (build_id, organization_id, due_at)
    select distinct g.build_id, g.organization_id, now()
    from crash_group_keys k join gate_crashes c on c.key_id = k.id join gates g on g.build_id = c.build_id
    where k.group_id in (select new.id union select id from crash_groups where root_id = new.id);
    return null;
end $$;
-- +goose StatementEnd

-- A crash of a group is not counted any more. Its user, and whether it was the first, is told by
-- those that are left: they are counted anew. Those of a build that is not watched any more may
-- be gone by retention: there the user alone goes.
-- +goose StatementBegin
create function gate_crash_left(build bigint, key bigint, at timestamptz, who bigint, watched boolean) returns void language plpgsql as $$
begin
    delete from gate_crash_users u using gate_crashes c
    where c.build_id = build and c.key_id = key and c.reports = 0
        and u.build_id = build and u.key_id = key and u.hours = c.hours;
    delete from gate_crashes where build_id = build and key_id = key and reports = 0;
    if watched then
        insert into gate_due (build_id, organization_id, due_at, recount)
        select build_id, organization_id, now(), true from gates
        where build_id = build and exists (select from gate_crashes c
            where c.build_id = build and c.key_id = key and (c.first_at >= at or who is not null and c.users > 0));
    else
        delete from gate_crash_users where build_id = build and key_id = key and user_hash = who;
    end if;
end $$;
-- +goose StatementEnd

-- A crash that is read again has another key, and one that is deleted has none. Those that come
-- are counted by who writes them, a statement for all of a batch.
-- +goose StatementBegin
create function gate_crash_changed() returns trigger language plpgsql as $$
declare
    watched boolean;
begin
    -- Retention says nothing of a build: what it deletes stays counted.
    if tg_op = 'DELETE' and current_setting('slipway.expiring', true) = 'on' then
        return null;
    end if;
    select watched_until > now() into watched from gates where build_id = old.build_id;
    if not found then
        if tg_op = 'DELETE' or not exists (select from gates where build_id = new.build_id) then
            return null;
        end if;
    end if;
    if old.key_id is not null then
        update gate_crashes c set reports = greatest(c.reports - old.duplicates, 0)
        from gates g join builds b on b.id = g.build_id
        where g.build_id = old.build_id and c.build_id = g.build_id and c.key_id = old.key_id and c.hours = any(g.windows)
            and (g.counted_to is null or old.id <= g.counted_to)
            and old.received_at < b.created_at + make_interval(hours => c.hours)
            and old.attributes ->> 'error.type' is distinct from 'Message';
        if found then
            perform gate_crash_left(old.build_id, old.key_id, old.occurred_at, gate_crash_user(old.attributes), watched);
        end if;
    end if;
    if tg_op = 'UPDATE' then
        perform gate_count_crashes(array[new.id]);
    end if;
    perform gate_fact(old.build_id);
    return null;
end $$;
-- +goose StatementEnd

-- Counts crashes that were written just now, or that have got their keys, and says that their
-- gates are due. Those that a gate which is counted anew has not come to are left to that. Rows are
-- taken in one order; of users of a group no more than 1000 are kept.
-- +goose StatementBegin
create function gate_count_crashes(ids uuid[]) returns void language sql as $$
    with counted as materialized (
        select c.build_id, w.hours, c.key_id, c.duplicates, c.occurred_at, case when g.crash_users then gate_crash_user(c.attributes) end as user_hash
        from crashes c join gates g on g.build_id = c.build_id join builds b on b.id = c.build_id
        cross join lateral unnest(g.windows) as w(hours)
        where c.id = any(ids) and c.key_id is not null and (g.counted_to is null or c.id <= g.counted_to) and c.received_at < b.created_at + make_interval(hours => w.hours)
            and c.attributes ->> 'error.type' is distinct from 'Message'
    ), seen as (
        insert into gate_crash_users (build_id, hours, key_id, user_hash)
        select distinct n.build_id, n.hours, n.key_id, n.user_hash
        from counted n left join gate_crashes h on h.build_id = n.build_id and h.hours = n.hours and h.key_id = n.key_id
        where n.user_hash is not null and coalesce(h.users, 0) < 1000
        order by 1, 2, 3, 4
        on conflict do nothing
        returning build_id, hours, key_id
    ), summed as (
        insert into gate_crashes as c (build_id, hours, key_id, reports, users, first_at)
        select n.build_id, n.hours, n.key_id, sum(n.duplicates),
            (select count(*) from seen s where s.build_id = n.build_id and s.hours = n.hours and s.key_id = n.key_id), min(n.occurred_at)
        from counted n group by 1, 2, 3 order by 1, 2, 3
        on conflict (build_id, hours, key_id) do update set reports = c.reports + excluded.reports, users = c.users + excluded.users,
            first_at = least(c.first_at, excluded.first_at)
    ), needed as (
        insert into gate_needs (build_id, need_id)
        select distinct c.build_id, l.need_id
        from crashes c join gates g on g.build_id = c.build_id join crash_lacks l on l.crash_id = c.id
        where c.id = any(ids) order by 1, 2
        on conflict do nothing
    )
    insert into gate_due (build_id, organization_id, due_at)
    select distinct g.build_id, g.organization_id, now() from crashes c join gates g on g.build_id = c.build_id
    where c.id = any(ids) and g.watched_until > now();
$$;
-- +goose StatementEnd
