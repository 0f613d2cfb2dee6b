-- From the newest early schema to the baseline: the same tables, with one name for one
-- thing, and one store of idempotency keys.
alter table tester_group_members rename column group_id to tester_group_id;
alter table build_groups rename column group_id to tester_group_id;
alter table project_groups rename column group_id to tester_group_id;
alter table crash_group_keys rename column project_id to crash_project_id;
alter table crash_groups rename column project_id to crash_project_id;
alter table crash_uuids rename column project_id to crash_project_id;
alter table crashes rename column project_id to crash_project_id;
alter table storage_connections rename column secret to sealed;
alter table suite_runs rename column status to state;
alter table test_jobs rename column status to state;
alter table test_runs rename column status to state;
alter table tasks rename column offered_at to delivered_at;

alter table tester_group_members rename constraint tester_group_members_group_id_fkey to tester_group_members_tester_group_id_fkey;
alter table build_groups rename constraint build_groups_group_id_fkey to build_groups_tester_group_id_fkey;
alter table project_groups rename constraint project_groups_group_id_fkey to project_groups_tester_group_id_fkey;
alter table crash_group_keys rename constraint crash_group_keys_project_id_fkey to crash_group_keys_crash_project_id_fkey;
alter table crash_group_keys rename constraint crash_group_keys_project_id_key_key to crash_group_keys_crash_project_id_key_key;
alter table crash_groups rename constraint crash_groups_project_id_fkey to crash_groups_crash_project_id_fkey;
alter table suite_runs rename constraint suite_runs_status_check to suite_runs_state_check;
alter table test_jobs rename constraint test_jobs_status_check to test_jobs_state_check;
alter table test_runs rename constraint test_runs_status_check to test_runs_state_check;
alter index tasks_keys rename to tasks_key_waiting;
alter index tasks_offered rename to tasks_outstanding;
alter index tasks_unoffered rename to tasks_undelivered;
alter index tasks_upkeep rename to tasks_maintenance;

-- What a key stands for is the id of what it made, whatever that is.
alter table idempotency_keys rename column scope to operation;
alter table idempotency_keys add column result text;
update idempotency_keys set result = build_id::text where build_id is not null;
alter table idempotency_keys drop column build_id;
insert into idempotency_keys (organization_id, operation, key, result, created_at)
select organization_id, operation, key, result, created_at from authoring_keys
on conflict do nothing;
drop table authoring_keys;
