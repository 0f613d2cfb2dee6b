-- +goose Up
set local lock_timeout = '3s';
-- Who got which build, how, and on which device: a row for each way that a person's device
-- came by a build, with how often. The row goes with the membership, and with the build.
create table build_installs (
    id              bigint generated always as identity primary key,
    organization_id bigint not null,
    build_id        bigint not null references builds on delete cascade,
    user_id         bigint, -- null: nobody known, all of them in one row
    -- page, manifest, api: the file was asked for. session: the app ran, so it is installed.
    channel         text not null check (channel in ('page', 'manifest', 'api', 'session')),
    device          text not null default '' check (length(device) <= 200), -- '': not known
    count           bigint not null default 1,
    first_at        timestamptz not null default now(),
    last_at         timestamptz not null default now(),
    foreign key (organization_id, user_id) references memberships (organization_id, user_id) on delete cascade
) with (fillfactor = 90);
-- Seen again, a row is counted; the people of a build by channel are counted.
create unique index build_installs_way on build_installs (build_id, channel, (coalesce(user_id, 0)), device);
-- The list of a build, newest first, and of one channel.
create index build_installs_build on build_installs (build_id, id);
create index build_installs_channel on build_installs (build_id, channel, id);
-- The list of a person, newest first; deleting a membership deletes them.
create index build_installs_member on build_installs (organization_id, user_id, id);
