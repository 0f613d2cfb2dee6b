-- +goose Up
set local lock_timeout = '3s';
-- The search over everything looks for comments inside one organization. Null until the
-- next migration has filled it in, and never of a new comment: the trigger sets it.
alter table crash_group_comments add column organization_id bigint;
-- Whether text has the functions of the stack, one a line behind title, culprit and
-- classifier. Groups that are older get them by the task crash:functions.
alter table crash_group_titles add column functions boolean not null default false;

-- +goose StatementBegin
create function place_crash_group_comment() returns trigger language plpgsql as $$
begin
    new.organization_id = (select g.organization_id from crash_groups g where g.id = new.group_id);
    return new;
end $$;
-- +goose StatementEnd
create trigger crash_group_comments_place before insert on crash_group_comments
    for each row execute function place_crash_group_comment();
