-- +goose Up
-- The days of a group go before it does, whoever deletes it: who counts the days of a project
-- looks for the group of each.
set local lock_timeout = '3s';
-- +goose StatementBegin
create function delete_group_days() returns trigger language plpgsql as $$
begin
    delete from crash_group_days where group_id = old.id;
    return old;
end $$;
-- +goose StatementEnd
create trigger crash_groups_days before delete on crash_groups for each row execute function delete_group_days();
