-- +goose Up
set local lock_timeout = '3s';
-- A group that was merged into another stays, as a part of it: lists do not show
-- it, its days, versions and hosts stay its own, and it can be taken out again.
alter table crash_groups
	-- The group that it was merged into, which may be a part itself.
	add column merged_into bigint references crash_groups on delete cascade,
	-- The group that is shown in its place, at the end of merged_into; null for one
	-- that is shown. Only this one's count, first_seen and last_seen are kept, and
	-- they are those of all its parts.
	add column root_id bigint references crash_groups on delete cascade,
	-- What resolved means: from when (resolved_at), and from which version on a crash is
	-- a regression. With resolved_next that is any version after the one named.
	add column resolved_in text not null default '',
	add column resolved_next boolean not null default false,
	-- Ignored until one of these; all empty: for ever.
	add column ignored_until timestamptz,
	add column ignored_until_count bigint,
	add column ignored_until_version text not null default '',
	add column assignee_id bigint references users on delete set null,
	add column issue_url text not null default '';
