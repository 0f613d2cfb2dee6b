-- +goose Up
set local lock_timeout = '3s';
-- The kinds that organizations have files of already; what changed since the triggers are
-- there has its row.
insert into symbol_generations (organization_id, kind, generation)
select organization_id, kind, 1 from symbol_files where state = 'indexed' group by organization_id, kind order by 1, 2
on conflict do nothing;
