-- +goose Up
set local lock_timeout = '3s';
-- Pages and counts of a group read an index alone, as far as vacuum has marked pages as
-- visible to all: also after inserts, which is what happens to this table.
alter table crashes set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 20000);
