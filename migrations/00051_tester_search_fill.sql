-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
-- The text of memberships that are older than its triggers.
update memberships m set search = lower(coalesce(u.email, u.username) || ' ' || u.name)
from users u where u.id = m.user_id and m.search = '';
