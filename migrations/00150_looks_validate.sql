-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
-- Reads and writes go on meanwhile.
alter table run_files validate constraint run_files_kind_check;
