-- +goose NO TRANSACTION
-- +goose Up
set statement_timeout = 0;
drop index concurrently if exists memberships_testers;
-- The list of testers, newest first.
create index concurrently memberships_testers on memberships (organization_id, id) where role = 'tester';
drop index concurrently if exists memberships_blocked;
-- The list of those who are blocked.
create index concurrently memberships_blocked on memberships (organization_id, id) where role = 'tester' and blocked_at is not null;
drop index concurrently if exists memberships_search;
-- The list searches by any part of a mail address or name. Entries are written many at
-- once, out of a short list of pending ones: ten thousand new testers take half the time
-- that they take one by one, and a search, which reads that list whole, a millisecond more.
create index concurrently memberships_search on memberships
    using gin (organization_id, search gin_trgm_ops) with (gin_pending_list_limit = 64);
drop index concurrently if exists memberships_staff;
-- Administrators are few among many testers: their list, and the mails to them, would read
-- all members of an organization.
create index concurrently memberships_staff on memberships (organization_id) where role <> 'tester';
