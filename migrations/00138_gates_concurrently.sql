-- +goose NO TRANSACTION
-- +goose Up
-- Each statement is a transaction of its own, and can be made again: no table waits for another.
set lock_timeout = '3s';
alter table feedbacks add column if not exists blocker boolean not null default false;
-- How many of the sessions of a build crashed.
alter table builds add column if not exists crashed_sessions bigint not null default 0;
create or replace trigger builds_gate_added after insert on builds for each row execute function gate_build_added();
create or replace trigger builds_gate_channel after update of metadata on builds for each row
    when (old.metadata ->> 'channel' is distinct from new.metadata ->> 'channel') execute function gate_build_added();
create or replace trigger builds_gate_changed after update of verification, signer, provisioning, state, deleted_at, symbols_file_id on builds for each row
    when (old.verification is distinct from new.verification or old.signer is distinct from new.signer
        or old.provisioning is distinct from new.provisioning or old.state is distinct from new.state
        or old.deleted_at is distinct from new.deleted_at or old.symbols_file_id is distinct from new.symbols_file_id)
    execute function gate_build_changed();
create or replace trigger gates_gone after delete on gates for each row execute function gate_gone();
create or replace trigger build_installs_gate after insert on build_installs for each row
    when (new.user_id is not null) execute function gate_of_build_changed();
create or replace trigger feedbacks_gate_added after insert on feedbacks for each row
    when (new.blocker and new.build_id is not null) execute function gate_of_build_changed();
create or replace trigger feedbacks_gate_removed after delete on feedbacks for each row
    when (old.blocker and old.build_id is not null) execute function gate_of_build_changed();
create or replace trigger symbols_gate_added after insert on symbols for each row
    when (new.build_id is not null) execute function gate_of_build_changed();
create or replace trigger symbols_gate_changed after update of state, build_id on symbols for each row
    when (new.build_id is not null) execute function gate_of_build_changed();
create or replace trigger symbols_gate_removed after delete on symbols for each row
    when (old.build_id is not null) execute function gate_of_build_changed();
create or replace trigger app_sessions_gate after update on app_sessions
    referencing old table as before_rows new table as after_rows for each statement execute function gate_sessions_crashed();
create or replace trigger symbol_images_gate after insert or delete on symbol_images for each row execute function gate_image_changed();
create or replace trigger symbol_needs_gate after delete on symbol_needs for each row execute function gate_need_gone();
create or replace trigger crash_groups_gate after update of state, root_id, ignored_until on crash_groups for each row
    when (old.state is distinct from new.state or old.root_id is distinct from new.root_id
        or old.ignored_until is distinct from new.ignored_until) execute function gate_group_changed();
create or replace trigger crashes_gate_changed after update of key_id, build_id on crashes for each row
    when (coalesce(old.build_id, new.build_id) is not null
        and (old.key_id is distinct from new.key_id or old.build_id is distinct from new.build_id))
    execute function gate_crash_changed();
create or replace trigger crashes_gate_removed after delete on crashes for each row
    when (old.build_id is not null) execute function gate_crash_changed();
-- A suite run of a build that begins or ends changes its gate.
create or replace trigger suite_runs_gate after insert or update of state on suite_runs for each row
    when (new.build_id is not null) execute function gate_of_build_changed();
set lock_timeout = 0;
set statement_timeout = 0;
drop index concurrently if exists app_sessions_crashed;
create index concurrently app_sessions_crashed on app_sessions (build_id) where crashed and build_id is not null;
-- The sessions that crashed before there was a trigger. The lock of a build keeps those that crash
-- meanwhile until they are counted on top.
-- +goose StatementBegin
do $$
declare
    build bigint;
begin
    for build in select distinct build_id from app_sessions where crashed and build_id is not null order by 1 loop
        perform from builds where id = build and deleted_at is null for no key update;
        if found then
            update builds set crashed_sessions = (select count(*) from app_sessions where crashed and build_id = build) where id = build;
        end if;
        commit;
    end loop;
end $$;
-- +goose StatementEnd
drop index concurrently if exists app_sessions_crashed;
drop index concurrently if exists feedbacks_blockers;
-- The blockers of a build, the first one first.
create index concurrently feedbacks_blockers on feedbacks (build_id, id) where blocker and build_id is not null;
drop index concurrently if exists crashes_build_page;
-- The crashes of a build, in steps.
create index concurrently crashes_build_page on crashes (build_id, id) where build_id is not null;
drop index concurrently if exists crashes_build;
