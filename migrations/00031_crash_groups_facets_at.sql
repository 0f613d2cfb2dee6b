-- +goose Up
set local lock_timeout = '3s';
-- When the rows of crash_group_facets were last made from the reports, or lost values;
-- null where a group has none of these rows, and none in crash_group_titles and
-- crash_group_messages: it is from before there were such.
alter table crash_groups add column facets_at timestamptz,
    -- Reports went since, with values that may still be among the facets.
    add column facets_stale boolean not null default false;
