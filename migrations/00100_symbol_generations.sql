-- +goose Up
set local lock_timeout = '3s';
-- The generation of the symbol files of an organization and kind. It is raised by each
-- transaction that indexes or deletes one: what a look-up found, or did not find, holds while
-- the generation stands. There is a row for each kind that the organization has, or had, a
-- file of.
create table symbol_generations (
    organization_id bigint not null references organizations on delete cascade,
    kind            text not null,
    generation      bigint not null,
    -- The transaction that raised it: a transaction with many files raises it once.
    raised_in       xid8,
    -- A claim of crashes reads all generations of its organization.
    primary key (organization_id, kind)
);

-- +goose StatementBegin
create function raise_symbol_generation() returns trigger language plpgsql as $$
declare
    changed record;
begin
    if tg_op = 'DELETE' then changed := old; else changed := new; end if;
    if exists (select from symbol_generations where organization_id = changed.organization_id and kind = changed.kind
            and raised_in = pg_current_xact_id()) then
        return null;
    end if;
    -- Transactions that change several kinds raise them in any order: one at a time.
    -- 3 is the class of these locks, beside those of crash projects (1) and of needs (2).
    perform pg_advisory_xact_lock(3, (changed.organization_id & 2147483647)::int);
    if tg_op = 'DELETE' then
        -- The organization itself may be gone, with its rows here.
        update symbol_generations set generation = generation + 1, raised_in = pg_current_xact_id()
        where organization_id = changed.organization_id and kind = changed.kind;
        return null;
    end if;
    insert into symbol_generations (organization_id, kind, generation, raised_in)
    values (changed.organization_id, changed.kind, 1, pg_current_xact_id())
    on conflict (organization_id, kind) do update set generation = symbol_generations.generation + 1, raised_in = excluded.raised_in;
    return null;
end $$;
-- +goose StatementEnd

-- Deferred to the end of the transaction, so that the lock is held for its commit only and
-- uploads of many files do not wait for one another.
create constraint trigger symbol_files_arrive after insert on symbol_files
    deferrable initially deferred for each row when (new.state = 'indexed') execute function raise_symbol_generation();
create constraint trigger symbol_files_change after update of organization_id, symbol_id, kind, state, features, index_key, index_size on symbol_files
    deferrable initially deferred for each row when (new.state = 'indexed' or old.state = 'indexed') execute function raise_symbol_generation();
create constraint trigger symbol_files_leave after delete on symbol_files
    deferrable initially deferred for each row when (old.state = 'indexed') execute function raise_symbol_generation();
