-- +goose Up
set local lock_timeout = '3s';
-- The symbols of builds that came before symbol files were read: they are read once, by
-- the maintenance that finds them pending without a task. Copies of a build share theirs.
insert into symbols (organization_id, file_id, name, sha256, source, build_id)
select distinct on (b.symbols_file_id) b.organization_id, b.symbols_file_id, b.symbols_name, f.sha256, 'upload', b.id
from builds b join files f on f.id = b.symbols_file_id
where b.deleted_at is null and not exists (select from symbols s where s.file_id = b.symbols_file_id)
order by b.symbols_file_id, b.id
on conflict do nothing;
