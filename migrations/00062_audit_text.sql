-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists audit_events_text;
-- A search in an organization's events: part of who, what, from where, or the data. The
-- first column has the organization, and the organization with the span of thirty days in
-- which the event lies, so that a frequent text is looked for span by span. Writers leave
-- their words in a short list, which is merged into the index now and then, so that an
-- event costs little to write; searches read the list as well.
create index concurrently audit_events_text on audit_events using gin (
    (array[organization_id, -(organization_id * 100000 + floor(extract(epoch from at at time zone 'UTC') / 2592000)::bigint)]),
    lower(actor || ' ' || subject || ' ' || ip_address || ' ' || detail::text) gin_trgm_ops
) with (gin_pending_list_limit = 512);
-- How frequent a text is, which the planner of searches asks.
analyze audit_events;
