-- +goose Up
set local lock_timeout = '3s';
-- Builds: who keeps them, which files they have, who may install them.

-- What all processes of the installation share and nobody outside knows: it
-- signs the short-lived links of install pages. 244 random bits.
create table installation (
    only_row boolean primary key default true check (only_row),
    secret   bytea not null check (length(secret) >= 32)
);
insert into installation (secret)
    values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- Bearer tokens: they end with the membership, not with the key.
create table bearer_tokens (
    digest          bytea primary key check (length(digest) = 32),
    organization_id bigint not null,
    user_id         bigint not null,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null,
    foreign key (organization_id, user_id) references memberships (organization_id, user_id) on delete cascade
);
create index bearer_tokens_expiry on bearer_tokens (expires_at);
-- Deleting a membership looks for its tokens.
create index bearer_tokens_member on bearer_tokens (organization_id, user_id);

-- The vendor's app storage that builds are copied to. The secret is encrypted
-- (AES-256-GCM) under a key that is not in the database.
create table storage_connections (
    organization_id bigint primary key references organizations on delete cascade,
    kind            text not null check (kind in ('s3', 'http')),
    endpoint        text not null,
    bucket          text not null default '',
    region          text not null default '',
    prefix          text not null default '',
    access_key      text not null default '',
    secret          bytea not null,
    updated_at      timestamptz not null default now()
);

create table folders (
    id         bigint generated always as identity primary key,
    team_id    bigint not null references teams on delete cascade,
    path       text not null check (length(path) between 1 and 255),
    created_at timestamptz not null default now()
);
create unique index folders_path on folders (team_id, lower(path));

-- A stored object and what it holds. Copies of a build name the same file; the
-- row goes, and the object after it, when nothing names it any more.
create table files (
    id              bigint generated always as identity primary key,
    organization_id bigint not null references organizations on delete cascade,
    object_key      text not null unique,
    size            bigint not null check (size >= 0),
    sha256          text not null,
    content_type    text not null,
    created_at      timestamptz not null default now()
);

-- An app on one platform.
create table projects (
    id                bigint generated always as identity primary key,
    organization_id   bigint not null references organizations on delete cascade,
    -- No cascade: builds go by their tasks, which release their files.
    team_id           bigint not null references teams,
    folder_id         bigint references folders on delete set null,
    name              text not null check (length(name) between 1 and 255),
    package_name      text not null default '' check (length(package_name) <= 255),
    platform          text not null default '',
    description       text not null default '',
    -- token names the landing page for as long as the project has no slug, and
    -- after that as well.
    token             text not null unique,
    landing_page_slug text,
    landing_page_mode text not null check (landing_page_mode in ('open', 'closed')),
    -- all_testers opens the project to every tester of the organization.
    all_testers       boolean not null default false,
    icon_file_id      bigint references files,
    -- Of the builds that are not deleted; kept by the statements that add and
    -- delete builds, so that a page of a list need not count.
    build_count       bigint not null default 0 check (build_count >= 0),
    latest_build_id   bigint,
    deleted_at        timestamptz,
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now()
);
create unique index projects_slug on projects (lower(landing_page_slug)) where deleted_at is null;
-- The lists, newest first.
create index projects_organization on projects (organization_id, id desc) where deleted_at is null;
-- An upload looks for the team's app of its package.
create index projects_package on projects (organization_id, package_name, platform) where deleted_at is null;
create index projects_team on projects (team_id);
create index projects_folder on projects (folder_id) where folder_id is not null;
create index projects_icon on projects (icon_file_id) where icon_file_id is not null;
-- Deleted ones wait for the task that removes what belongs to them.
create index projects_deleted on projects (deleted_at) where deleted_at is not null;

create table builds (
    id                bigint generated always as identity primary key,
    organization_id   bigint not null references organizations on delete cascade,
    project_id        bigint not null references projects,
    token             text not null unique,
    app_name          text not null,
    version           text not null default '',
    version_code      text not null default '',
    platform          text not null,
    package_name      text not null default '',
    kind              text not null,           -- apk, aab, apks, ipa, mac, dsym, generic, ...
    min_os_version    text not null default '',
    abis              text[] not null default '{}',
    signer            jsonb,
    provisioning      jsonb,
    warnings          text[] not null default '{}',
    -- The UUIDs of the main executable's architectures: symbols that come later
    -- find their builds by them.
    image_uuids       text[] not null default '{}',
    -- has_sdk: the package holds the vendor's SDK.
    has_sdk           boolean not null default false,
    state             text not null default 'enabled'
                      check (state in ('enabled', 'disabled', 'certificate_expired', 'invalid')),
    state_reason      text not null default '',
    -- expires_at is when the provisioning profile ends.
    expires_at        timestamptz,
    file_id           bigint not null references files,
    file_name         text not null,
    icon_file_id      bigint references files,
    symbols_file_id   bigint references files,
    symbols_name      text not null default '',
    symbols           jsonb,                   -- what the symbols file says of itself
    release_notes     text not null default '',
    tags              text[] not null default '{}',
    metadata          jsonb not null default '{}',
    auto_update       boolean not null default false,
    all_testers       boolean not null default false,
    options           text not null default '',
    downloads         bigint not null default 0,
    crashes           bigint not null default 0,
    sessions          bigint not null default 0,
    feedbacks         bigint not null default 0,
    -- The user's number; no foreign key, for deleting the account of a CI job would
    -- rewrite all of its builds.
    uploaded_by       bigint,
    uploaded_by_name  text not null default '',
    uploaded_via      text not null default '',
    deleted_at        timestamptz,
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now()
) with (fillfactor = 90);
-- The builds of a project, newest first: ascending, for rows come in the order of
-- their ids and then fill its pages.
create index builds_project on builds (project_id, id) where deleted_at is null;
-- The page of a project shows its newest enabled builds, or the newest of another
-- state; to who was granted single builds, those that are open to all testers.
create index builds_state on builds (state, project_id, id) where deleted_at is null;
create index builds_all_testers on builds (state, project_id, id) where all_testers and deleted_at is null;
-- A crash finds the newest build of its version and code, or of its version.
create index builds_version on builds (project_id, version, version_code, id) where deleted_at is null;
create index builds_newest on builds (project_id, version, id) where deleted_at is null;
create index builds_images on builds using gin (image_uuids) where image_uuids <> '{}';
-- Which builds name a file.
create index builds_file on builds (file_id);
create index builds_icon on builds (icon_file_id) where icon_file_id is not null;
create index builds_symbols on builds (symbols_file_id) where symbols_file_id is not null;
-- Profiles that end.
create index builds_expiry on builds (expires_at) where expires_at is not null and state = 'enabled' and deleted_at is null;
create index builds_deleted on builds (deleted_at) where deleted_at is not null;
create index builds_organization on builds (organization_id);

-- Groups of testers, and what they may install.
create table tester_groups (
    id              bigint generated always as identity primary key,
    organization_id bigint not null references organizations on delete cascade,
    name            text not null check (length(name) between 1 and 255),
    private         boolean not null default false,
    created_at      timestamptz not null default now()
);
create unique index tester_groups_name on tester_groups (organization_id, lower(name));

create table tester_group_members (
    group_id   bigint not null references tester_groups on delete cascade,
    user_id    bigint not null references users on delete cascade,
    created_at timestamptz not null default now(),
    primary key (group_id, user_id)
);
create index tester_group_members_user on tester_group_members (user_id);

create table project_groups (
    project_id bigint not null references projects on delete cascade,
    group_id   bigint not null references tester_groups on delete cascade,
    created_at timestamptz not null default now(),
    primary key (project_id, group_id)
);
create index project_groups_group on project_groups (group_id);

create table build_groups (
    build_id   bigint not null references builds on delete cascade,
    group_id   bigint not null references tester_groups on delete cascade,
    created_at timestamptz not null default now(),
    primary key (build_id, group_id)
);
-- The page of a project looks through the grants of a tester's groups, newest first.
create index build_groups_group on build_groups (group_id, build_id);

-- The answers of requests that carried an Idempotency-Key, for 24 hours.
create table idempotency_keys (
    organization_id bigint not null references organizations on delete cascade,
    scope           text not null,              -- "upload"
    key             text not null check (length(key) between 1 and 255),
    build_id        bigint references builds on delete cascade,
    created_at      timestamptz not null default now(),
    primary key (organization_id, scope, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
create index idempotency_keys_build on idempotency_keys (build_id) where build_id is not null;

-- Mail, written in the transaction of what it tells of, sent by a task each.
create table mails (
    id              uuid primary key,           -- version 7; also the Message-ID
    organization_id bigint references organizations on delete cascade,
    kind            text not null,              -- new-build, sign-in, key-revoked
    recipient       text not null,
    subject         text not null,
    text_body       text not null,
    html_body       text not null default '',
    -- kept: there is no mail server to send by, so it stays here to be read.
    state           text not null default 'queued' check (state in ('queued', 'sent', 'kept', 'failed')),
    error           text not null default '',
    -- One mail for each recipient of one event.
    dedupe_key      text unique,
    created_at      timestamptz not null default now(),
    sent_at         timestamptz
);
create index mails_created on mails (created_at);

-- Signing in to closed landing pages: a link by mail, used once, then a session.
create table sign_in_links (
    digest          bytea primary key check (length(digest) = 32),
    organization_id bigint not null,
    user_id         bigint not null,
    path            text not null,              -- the page to go to
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null,
    used_at         timestamptz,
    foreign key (organization_id, user_id) references memberships (organization_id, user_id) on delete cascade
);
create index sign_in_links_member on sign_in_links (organization_id, user_id, created_at);
create index sign_in_links_expiry on sign_in_links (expires_at);

create table page_sessions (
    digest          bytea primary key check (length(digest) = 32),
    organization_id bigint not null,
    user_id         bigint not null,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null,
    foreign key (organization_id, user_id) references memberships (organization_id, user_id) on delete cascade
);
create index page_sessions_member on page_sessions (organization_id, user_id);
create index page_sessions_expiry on page_sessions (expires_at);
