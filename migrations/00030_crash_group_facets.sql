-- +goose Up
set local lock_timeout = '3s';
-- Which values the attributes of a group's reports have, to find groups by an attribute
-- without reading their reports. A row is of one attribute: key is the hash of
-- organization and name, hashes are those of organization, name and value (8 bytes
-- each). Of more than a bounded number of values, or once reports were removed, some may
-- be missing (many): then the reports say it. The row of key 0 stands for the attributes
-- beyond a bounded number. Parts have rows of their own.
create table crash_group_facets (
    group_id bigint not null references crash_groups on delete cascade,
    key      bigint not null,
    many     boolean not null default false,
    hashes   bigint[] not null,
    primary key (group_id, key)
) with (fillfactor = 70);
-- The groups that have a value.
create index crash_group_facets_hashes on crash_group_facets using gin (hashes) with (fastupdate = off);
-- The groups of which only the reports say whether they have a value.
create index crash_group_facets_many on crash_group_facets (key, group_id) where many;

-- The distinct messages of a group's reports (first line, cut), a bounded number of each
-- group.
create table crash_group_messages (
    group_id        bigint not null references crash_groups on delete cascade,
    organization_id bigint not null,
    message         text not null,
    count           bigint not null,
    first_seen      timestamptz not null,
    last_seen       timestamptz not null,
    primary key (group_id, message)
) with (fillfactor = 70);
-- The search by any part of a message. The organization stands before it, so that its
-- trigrams leave those of other organizations out.
create index crash_group_messages_text on crash_group_messages
    using gin ((organization_id::text || ' ' || message) gin_trgm_ops);

-- What else of a group is searched, in a table that is written once: crash_groups is
-- updated by every report.
create table crash_group_titles (
    group_id        bigint primary key references crash_groups on delete cascade,
    organization_id bigint not null,
    text            text not null -- title, culprit and classifier, a line each
);
-- The search by any part of title, culprit or classifier, as of messages.
create index crash_group_titles_text on crash_group_titles
    using gin ((organization_id::text || ' ' || text) gin_trgm_ops);
