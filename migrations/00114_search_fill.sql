-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
-- The texts of test cases that are older than their triggers, some hundred at a time, each
-- committed: whoever saves one of them waits for its part alone. A case that is deleted
-- meanwhile is left out.
-- +goose StatementBegin
do $$
declare
    last text = '';
    part text[];
begin
    loop
        select array_agg(id order by id) into part from (select id from test_cases where id > last order by id limit 200) c;
        exit when part is null;
        insert into test_case_texts (case_id, organization_id, text)
        select c.id, c.organization_id, test_case_text(c.id) from test_cases c where c.id = any(part) for key share of c
        on conflict do nothing;
        commit;
        last = part[array_upper(part, 1)];
    end loop;
end $$;
-- +goose StatementEnd
