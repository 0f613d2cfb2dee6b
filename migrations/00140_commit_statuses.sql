-- +goose Up
set local lock_timeout = '3s';
-- Where the statuses of an app's commits go: one repository at GitHub, GitLab or Gitea.
create table commit_status_settings (
    project_id      bigint primary key references projects on delete cascade,
    organization_id bigint not null,
    -- Another one with each change: what came of a status is recorded for the setting that
    -- it was sent by.
    revision        uuid not null,
    provider        text not null check (provider in ('github', 'gitlab', 'gitea')),
    url             text not null,
    repository      text not null,
    context         text not null,
    sealed_token    bytea not null,
    last_sent_at    timestamptz,
    last_error      text not null default '', -- of the newest attempt; '': it was sent
    last_error_at   timestamptz,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now()
);

-- The newest status of each build.
create table commit_statuses (
    build_id        bigint primary key references builds on delete cascade,
    organization_id bigint not null,
    project_id      bigint not null,
    commit          text not null,
    state           text not null check (state in ('pending', 'pass', 'fail')),
    description     text not null,
    setting         uuid not null, -- the revision when it was set
    sequence        bigint not null default 1, -- counts changes
    set_at          timestamptz not null default now()
) with (fillfactor = 90);
-- A build looks whether a newer one of its app has a status for the same commit.
create index commit_statuses_commit on commit_statuses (project_id, lower(commit), build_id);
