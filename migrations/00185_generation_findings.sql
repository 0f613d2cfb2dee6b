-- +goose Up
set local lock_timeout = '3s';
-- Whether generations of an organization may try a second way when the first did not do; '' is on.
alter table organizations add column generation_explore text not null default '' check (generation_explore in ('', 'on', 'off'));
-- explore: what a request says of the same, '' as the organization. keep_draft: a generation that fails
-- stores the steps that worked as a case, draft_case_id. findings: how far each clause came, what held
-- before, and who decided what.
alter table test_generations
    add column explore text not null default '',
    add column keep_draft boolean not null default false,
    add column draft_case_id text,
    add column findings jsonb;
