-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
-- The results of test cases that are older than their triggers: first rows for all of them,
-- some hundred at a time, each committed. A run that becomes something from then on is written
-- by its trigger.
-- +goose StatementBegin
do $$
declare
    last text = '';
    part text[];
begin
    loop
        select array_agg(id order by id) into part from (select id from test_cases where id > last order by id limit 500) c;
        exit when part is null;
        insert into test_case_results (case_id, organization_id)
        select c.id, c.organization_id from test_cases c where c.id = any(part) order by c.id for key share of c
        on conflict do nothing;
        commit;
        last = part[array_upper(part, 1)];
    end loop;
end $$;
-- +goose StatementEnd
drop index concurrently if exists test_runs_recent;
-- The list of all runs of an organization, newest first; deleting an organization looks for
-- its runs. It stands between the two halves of the fill, because it waits for those who write
-- runs at that moment: their triggers may have found no row, and the fill sees what they wrote.
create index concurrently test_runs_recent on test_runs (organization_id, created_at desc, id desc);
-- +goose StatementBegin
do $$
declare
    last text = '';
    part text[];
begin
    loop
        select array_agg(id order by id) into part from (select id from test_cases where id > last order by id limit 500) c;
        exit when part is null;
        update test_case_results t set run_id = n.id, state = n.state, run_at = n.created_at
        from unnest(part) of(case_id) cross join lateral (
            select r.id, r.state, r.created_at from test_runs r where r.case_id = of.case_id order by r.created_at desc, r.id desc limit 1
        ) n
        where t.case_id = of.case_id and n.created_at > t.run_at;
        commit;
        last = part[array_upper(part, 1)];
    end loop;
end $$;
-- +goose StatementEnd
drop index concurrently if exists test_runs_organization;
drop index concurrently if exists test_runs_state;
-- The same list of one state.
create index concurrently test_runs_state on test_runs (organization_id, state, created_at desc, id desc);
drop index concurrently if exists test_runs_passed;
-- The history of a case looks for its last good run.
create index concurrently test_runs_passed on test_runs (case_id, created_at desc, id desc) where state = 'PASSED';
drop index concurrently if exists test_runs_bad;
-- And for the first bad one after it.
create index concurrently test_runs_bad on test_runs (case_id, created_at, id) where state in ('FAILED', 'ERROR');
drop index concurrently if exists suite_runs_passed;
-- The history of a suite does so.
create index concurrently suite_runs_passed on suite_runs (suite_id, created_at desc, id desc) where state = 'PASSED';
drop index concurrently if exists suite_runs_bad;
create index concurrently suite_runs_bad on suite_runs (suite_id, created_at, id) where state in ('FAILED', 'ERROR');
drop index concurrently if exists test_generations_recent;
-- The list of generations, newest first; deleting an organization looks for its generations.
create index concurrently test_generations_recent on test_generations (organization_id, accepted_at desc, id desc);
drop index concurrently if exists test_generations_organization;
drop index concurrently if exists test_generations_state;
-- The same list of one state.
create index concurrently test_generations_state on test_generations (organization_id, state, accepted_at desc, id desc);
drop index concurrently if exists test_cases_tags;
-- The list of cases filters by a tag. Without fastupdate, as of the names.
create index concurrently test_cases_tags on test_cases using gin (organization_id, tags) with (fastupdate = off);
