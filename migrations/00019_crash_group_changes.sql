-- +goose Up
set local lock_timeout = '3s';
-- What reports did to a group that people had resolved or ignored.
alter table crash_groups
	-- The version of the report that last opened the group again after it was resolved.
	add column regressed_in text not null default '',
	-- Since when the group is ignored: reports from before do not count towards the end.
	add column ignored_at timestamptz,
	-- Which condition ended the last time that it was ignored (count, date, version), and when.
	add column ignore_ended text not null default '',
	add column ignore_ended_at timestamptz;
