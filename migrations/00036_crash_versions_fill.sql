-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
-- The versions that groups have seen, the newest of a project first: "resolved in the next
-- version" asks which there were before this step, too. A group remembers a bounded number.
insert into crash_versions (crash_project_id, version, first_seen, last_seen, crashes)
select crash_project_id, value, first_seen, last_seen, count from (
	select g.crash_project_id, v.value, min(v.first_seen) as first_seen, max(v.last_seen) as last_seen, sum(v.count) as count,
		row_number() over (partition by g.crash_project_id order by max(v.last_seen) desc, v.value) as place
	from crash_group_values v join crash_groups g on g.id = v.group_id
	where v.kind = 'version' group by g.crash_project_id, v.value
) seen where place <= 4000
order by crash_project_id, value collate "C"
on conflict do nothing;
