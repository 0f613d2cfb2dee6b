-- +goose Up
set local lock_timeout = '3s';
-- A worker claims the task of an organization that is next in a queue: the first tasks of
-- each priority that are due, the next one of these. Its plan takes several times as long
-- to make as to run, and a function keeps it for the life of a connection, also behind a
-- pooler, where prepared statements cannot be used. A plan that is kept must not be one
-- for the empty table of a new installation: it is always that of the index tasks_turn.
-- The kinds in except_kinds are left: they are claimed in batches or by their key.

-- +goose StatementBegin
create function claim_first_task(in_queue text, in_organization bigint, in_worker text, except_kinds text[]) returns setof tasks
language plpgsql volatile set enable_seqscan = off set enable_bitmapscan = off as $$
begin
    return query
    with first as (
        select head.id as first_id, head.kind as first_kind from (
            select due.* from (values (0::smallint, 0), (1::smallint, 120), (2::smallint, 900)) as p(rank, late)
            cross join lateral (
                select t.id, t.kind, t.run_at from tasks t
                where t.queue = in_queue and coalesce(t.organization_id, 0) = in_organization and t.state = 'queued'
                    and t.priority = p.rank and t.run_at <= now()
                order by t.run_at limit 1 for update skip locked
            ) due
            order by due.run_at + make_interval(secs => p.late) limit 1
        ) head
    )
    update tasks t set state = 'running', attempt = t.attempt + 1, worker = in_worker, heartbeat_at = now(),
        started_at = now(), error = null
    from first where t.id = first_id and first_kind <> all(coalesce(except_kinds, '{}'))
    returning t.*;
end
$$;
-- +goose StatementEnd
