-- +goose Up
set local lock_timeout = '3s';
-- Sites: organizations of one account. parent_id is the account's first one, which has
-- none itself; its owners and admins manage the account. login_method is how people
-- get in, as the creator of a site said. audit_days is how long audit events are kept:
-- null as the installation says, 0 for ever.
alter table organizations
    add column parent_id    bigint references organizations,
    add column login_method text not null default 'default' check (login_method in ('default', 'sso')),
    add column audit_days   integer check (audit_days between 0 and 36500);
-- The sites of an account.
create index organizations_parent on organizations (parent_id) where parent_id is not null;

-- The audit log stays append-only, but for rows whose retention is over: they may be
-- deleted in a transaction that says it is there for that (slipway.audit_retention), and
-- that says what holds where an organization says nothing (slipway.audit_days, 0 or
-- absent: for ever). What is younger is refused there as well.
-- +goose StatementBegin
create function refuse_audit_change() returns trigger language plpgsql as $$
declare
    days integer;
begin
    if tg_op = 'DELETE' and current_setting('slipway.audit_retention', true) = 'on' then
        select audit_days into days from organizations where id = old.organization_id;
        days := coalesce(days, nullif(current_setting('slipway.audit_days', true), '')::integer, 0);
        if days > 0 and old.at < now() - make_interval(days => days) then
            return old;
        end if;
    end if;
    raise exception '% is append-only', tg_table_name;
end $$;
-- +goose StatementEnd
drop trigger audit_events_append_only on audit_events;
create trigger audit_events_append_only before update or delete on audit_events
    for each row execute function refuse_audit_change();
create trigger audit_events_no_truncate before truncate on audit_events
    for each statement execute function refuse_change();
-- Pages and counts read an index alone, as far as vacuum has marked pages as visible to
-- all: also after inserts, which is what happens to this table.
alter table audit_events set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 20000);
