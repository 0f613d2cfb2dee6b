-- +goose Up
set local lock_timeout = '3s';
-- Which files each crash lacks. crash_needs has those of crashes whose project has too many
-- sets, and of programs that knew no sets.
create view crash_lacks (need_id, crash_id) as
select m.need_id, s.crash_id from crash_need_set_members m join crash_symbolications s on s.need_set_id = m.set_id
union all
select need_id, crash_id from crash_needs;
