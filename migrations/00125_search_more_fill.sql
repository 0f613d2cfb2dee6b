-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
-- The organizations of comments that are older than their trigger, some thousand at a time,
-- each committed.
-- +goose StatementBegin
do $$
declare
    last bigint = 0;
    part bigint[];
begin
    loop
        select array_agg(id order by id) into part from (select id from crash_group_comments where id > last order by id limit 2000) c;
        exit when part is null;
        update crash_group_comments c set organization_id = g.organization_id from crash_groups g
        where c.id = any(part) and g.id = c.group_id and c.organization_id is null;
        commit;
        last = part[array_upper(part, 1)];
    end loop;
end $$;
-- +goose StatementEnd
