-- +goose Up
set local lock_timeout = '3s';
-- Processes keep what they know of the tokens of apps for some seconds. Whatever ends or
-- changes a token says so to all of them when it is committed, whichever way it takes: a
-- request, a row that goes with its project, a statement by hand. Such changes are rare;
-- notifications in hot transactions would be dear.

-- +goose StatementBegin
create function token_changed() returns trigger language plpgsql as $$
begin
    perform pg_notify('slipway_tokens', encode(old.digest, 'hex'));
    return null;
end $$;
-- +goose StatementEnd

-- The tokens of a deleted app end with it, while their rows stay for a while.
-- +goose StatementBegin
create function app_tokens_changed() returns trigger language plpgsql as $$
begin
    perform pg_notify('slipway_tokens', encode(t.digest, 'hex')) from sdk_tokens t where t.project_id = new.id;
    return null;
end $$;
-- +goose StatementEnd

create trigger crash_tokens_changed after update or delete on crash_tokens
    for each row execute function token_changed();
create trigger sdk_tokens_changed after update or delete on sdk_tokens
    for each row execute function token_changed();
create trigger projects_tokens_changed after update of deleted_at on projects
    for each row when (old.deleted_at is distinct from new.deleted_at) execute function app_tokens_changed();
