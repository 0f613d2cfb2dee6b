-- +goose Up
set local lock_timeout = '3s';
-- Who is signed in to the console: a member in one organization, or an operator. The
-- browser's cookie has the secret of the digest.
create table console_sessions (
    id              bigint generated always as identity primary key,
    digest          bytea not null unique check (length(digest) = 32),
    organization_id bigint,
    user_id         bigint,
    operator_id     bigint references operators (id) on delete cascade,
    key_id          bigint references api_keys (id) on delete cascade,  -- the key that began it
    device          text not null,
    address         text not null,
    created_at      timestamptz not null default now(),
    last_used_at    timestamptz not null default now(),
    expires_at      timestamptz not null,
    check ((user_id is null) = (organization_id is null)),
    check ((user_id is null) <> (operator_id is null)),
    foreign key (organization_id, user_id) references memberships (organization_id, user_id) on delete cascade
);
-- Deleting a membership looks for its sessions; a member lists them.
create index console_sessions_member on console_sessions (organization_id, user_id) where user_id is not null;
create index console_sessions_operator on console_sessions (operator_id) where operator_id is not null;
-- Ending a key looks for the sessions that it began.
create index console_sessions_key on console_sessions (key_id) where key_id is not null;
-- The maintenance deletes expired sessions.
create index console_sessions_expiry on console_sessions (expires_at);

-- Links that open the console once, without a key: printed at the start of a private
-- installation.
create table console_links (
    digest          bytea primary key check (length(digest) = 32),
    organization_id bigint not null,
    user_id         bigint not null,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null,
    foreign key (organization_id, user_id) references memberships (organization_id, user_id) on delete cascade
);
create index console_links_member on console_links (organization_id, user_id);
create index console_links_expiry on console_links (expires_at);
