-- +goose Up
set local lock_timeout = '3s';
-- What a key is restricted to. null: to nothing, it may do what its holder may.
alter table api_keys add column scopes text[] check (cardinality(scopes) > 0);
