-- What the product counts with each build.
update projects p set build_count = s.n, latest_build_id = s.newest
from (select project_id, count(*) as n, max(id) as newest from builds where deleted_at is null group by 1) s where s.project_id = p.id
