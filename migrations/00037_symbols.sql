-- +goose Up
set local lock_timeout = '3s';
-- Symbol files: what was uploaded, the debug files in it, and the names by which crashes
-- find them.

-- One uploaded file, which may be an archive of several debug files.
create table symbols (
    id               bigint generated always as identity primary key,
    organization_id  bigint not null references organizations on delete cascade,
    -- The crash project that it came to; null: all of the organization.
    crash_project_id bigint references crash_projects on delete cascade,
    file_id          bigint not null references files,
    -- As the sender calls it.
    name             text not null,
    sha256           text not null,
    source           text not null check (source in ('api', 'post', 'upload')),
    -- What the sender said: the format (symbols, proguard, sourcemap; '' to be recognised),
    -- the release and the id that names it.
    format           text not null default '',
    release          text not null default '',
    given_id         text not null default '',
    -- What stands before the path of a script in the addresses of stack traces.
    url_prefix       text not null default '',
    -- The build that it came with; its removal takes the symbols along.
    build_id         bigint references builds on delete cascade,
    state            text not null default 'pending' check (state in ('pending', 'indexed', 'failed')),
    -- Why it failed: a code for programs and words for people.
    error_code       text not null default '',
    error            text not null default '',
    -- The task symbol:index that reads it, or read it last.
    task_id          uuid,
    -- A dSYM: what was seen in it, for the builds that it is attached to, and the teams
    -- whose builds may have it; null: those of all teams.
    description      jsonb,
    teams            bigint[],
    created_at       timestamptz not null default now(),
    indexed_at       timestamptz,
    -- What is sent again to the same place is the same.
    unique nulls not distinct (organization_id, crash_project_id, build_id, sha256, release, given_id)
);
-- The list, newest first.
create index symbols_list on symbols (organization_id, id desc);
-- Deleting a crash project, a build or a file looks for its symbols.
create index symbols_crash_project on symbols (crash_project_id) where crash_project_id is not null;
create index symbols_build on symbols (build_id) where build_id is not null;
create index symbols_file on symbols (file_id);
-- The list looks for the id that a sender named, and debuginfod for the sources of a build id.
create index symbols_given_id on symbols (organization_id, lower(given_id)) where given_id <> '';

-- A debug file: the uploaded file itself, or one in it.
create table symbol_files (
    id              bigint generated always as identity primary key,
    organization_id bigint not null references organizations on delete cascade,
    symbol_id       bigint not null references symbols on delete cascade,
    -- Where it is in the archive; '' for the uploaded file itself. A fat Mach-O is one
    -- row for each architecture.
    path            text not null default '',
    kind            text not null,
    arch            text not null default '',
    state           text not null check (state in ('indexed', 'failed')),
    error_code      text not null default '',
    error           text not null default '',
    -- What is in it: functions, lines, inlines, publics, unwind, sources, text.
    features        text[] not null default '{}',
    size            bigint not null,
    sha256          text not null,
    -- The index: its object, the version of its format, its bytes; '' when there is none.
    index_key       text not null default '',
    index_version   integer not null default 0,
    index_size      bigint not null default 0,
    created_at      timestamptz not null default now()
);
-- The files of a symbol.
create index symbol_files_symbol on symbol_files (symbol_id, id);
-- The same bytes have one index in an organization.
create index symbol_files_sha256 on symbol_files (organization_id, sha256);
-- An index is removed with the last row that names it.
create index symbol_files_index on symbol_files (index_key) where index_key <> '';
-- The maintenance finds indexes of an older version.
create index symbol_files_version on symbol_files (kind, index_version, id) where index_key <> '';

-- The names by which crashes find a debug file.
create table symbol_identifiers (
    organization_id bigint not null references organizations on delete cascade,
    type            text not null,
    value           text not null,
    release         text not null default '',
    symbol_file_id  bigint not null references symbol_files on delete cascade,
    -- A crash looks for its files; a client of debuginfod for a build id.
    primary key (organization_id, type, value, release, symbol_file_id)
);
-- Removing a file takes its names along.
create index symbol_identifiers_file on symbol_identifiers (symbol_file_id);
