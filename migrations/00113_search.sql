-- +goose Up
set local lock_timeout = '3s';
-- What a test case is searched by: name, tags, what it is to do, and the texts of the steps
-- of its newest revision, a line each. Kept by the triggers below, since these stand in two
-- tables, of which one has all revisions.
create table test_case_texts (
    case_id         text primary key references test_cases on delete cascade,
    organization_id bigint not null,
    text            text not null
);

-- +goose StatementBegin
-- In plpgsql, which keeps the plan for the session.
create function test_case_text(of_case text) returns text language plpgsql stable as $$
begin
    return (select left(concat_ws(E'\n', c.name, nullif(array_to_string(c.tags, E'\n'), ''), nullif(regexp_replace(r.intent, '\s+', ' ', 'g'), ''), (
        select string_agg(step.text, E'\n' order by step.text collate "C") from (
            select distinct left(regexp_replace(found.value #>> '{}', '\s+', ' ', 'g'), 1000) as text
            from (values
                ('$[*].**.args.url'::jsonpath), ('$[*].**.args.text'), ('$[*].**.args.optionValue'), ('$[*].**.args.value'),
                ('$[*].**.selector.value'), ('$[*].**.selector.name'), ('$[*].**.selector.hasText')
            ) as part(path), jsonb_path_query(r.steps, part.path) as found(value)
            where jsonb_typeof(found.value) = 'string'
        ) step
    )), 100000)
    from test_cases c
    left join lateral (select v.intent, v.steps from test_revisions v where v.case_id = c.id order by v.number desc limit 1) r on true
    where c.id = of_case);
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function write_test_case_text() returns trigger language plpgsql as $$
declare
    changed text;
begin
    if tg_table_name = 'test_cases' then
        changed = new.id;
    else
        changed = new.case_id;
    end if;
    insert into test_case_texts as t (case_id, organization_id, text)
    select c.id, c.organization_id, test_case_text(c.id) from test_cases c where c.id = changed
    on conflict (case_id) do update set text = excluded.text where t.text <> excluded.text;
    return null;
end $$;
-- +goose StatementEnd
-- A new case comes with its first revision.
create trigger test_cases_text_changed after update of name, tags on test_cases for each row
    when (old.name <> new.name or old.tags <> new.tags) execute function write_test_case_text();
create trigger test_revisions_text after insert or update of intent, steps on test_revisions
    for each row execute function write_test_case_text();
