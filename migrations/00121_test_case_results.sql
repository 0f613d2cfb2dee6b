-- +goose Up
set local lock_timeout = '3s';
-- What became of the newest run of each test case, for the list of cases to be filtered and
-- sorted by. A case that was not run has a row too, so that the order is that of an index.
-- Kept by the triggers below. Rows are locked after runs and jobs, those of one statement in
-- the order of the cases. Those of runs change a row and insert none: a case that is being
-- deleted keeps no run from ending.
create table test_case_results (
    case_id         text primary key references test_cases on delete cascade,
    organization_id bigint not null,
    run_id          uuid,
    state           text not null default 'NONE'
                    check (state in ('NONE', 'QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'ERROR', 'CANCELLED')),
    run_at          timestamptz not null default '-infinity'  -- creation of the run
) with (fillfactor = 80);
-- The list of cases sorts by the newest run.
create index test_case_results_newest on test_case_results (organization_id, run_at desc, case_id desc);
-- The list of cases filters by what became of it.
create index test_case_results_state on test_case_results (organization_id, state, case_id);

-- +goose StatementBegin
create function insert_test_case_result() returns trigger language plpgsql as $$
begin
    insert into test_case_results (case_id, organization_id) select id, organization_id from made order by id on conflict do nothing;
    return null;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function write_test_case_results() returns trigger language plpgsql as $$
declare
    cases text[];
begin
    select array_agg(distinct case_id) into cases from changed;
    if cases is null then
        return null;
    end if;
    perform from test_case_results where case_id = any(cases) order by case_id for no key update;
    update test_case_results t set run_id = n.id, state = n.state, run_at = n.created_at
    from (select distinct on (case_id) case_id, organization_id, id, state, created_at from changed
        order by case_id, created_at desc, id desc) n
    where t.case_id = any(cases) and t.case_id = n.case_id and t.organization_id = n.organization_id
        and (n.created_at, n.id) >= (t.run_at, coalesce(t.run_id, n.id));
    return null;
end $$;
-- +goose StatementEnd

-- Runs are deleted when they are old: the newest run that is left counts.
-- +goose StatementBegin
create function forget_test_case_results() returns trigger language plpgsql as $$
declare
    cases text[];
begin
    select array_agg(distinct case_id) into cases from gone;
    if cases is null then
        return null;
    end if;
    cases = array(select case_id from test_case_results
        where case_id = any(cases) and run_id = any(array(select id from gone)) order by case_id for no key update);
    update test_case_results t set run_id = n.id, state = coalesce(n.state, 'NONE'), run_at = coalesce(n.created_at, '-infinity')
    from unnest(cases) of(case_id) left join lateral (
        select r.id, r.state, r.created_at from test_runs r where r.case_id = of.case_id order by r.created_at desc, r.id desc limit 1
    ) n on true
    where t.case_id = of.case_id;
    return null;
end $$;
-- +goose StatementEnd

create trigger test_cases_result after insert on test_cases
    referencing new table as made for each statement execute function insert_test_case_result();
create trigger test_runs_result_added after insert on test_runs
    referencing new table as changed for each statement execute function write_test_case_results();
create trigger test_runs_result_changed after update on test_runs
    referencing new table as changed for each statement execute function write_test_case_results();
create trigger test_runs_result_gone after delete on test_runs
    referencing old table as gone for each statement execute function forget_test_case_results();
