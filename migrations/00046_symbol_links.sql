-- +goose Up
set local lock_timeout = '3s';
-- The names by which a file with a part of the debug information (split units, what dwz
-- moved, a debug file without build id) and the file that lacks it find each other.
create table symbol_links (
    organization_id bigint not null references organizations on delete cascade,
    -- Whether the file lacks what the link names, or has it.
    lacking         boolean not null,
    type            text not null,
    value           text not null,
    symbol_file_id  bigint not null references symbol_files on delete cascade,
    -- A file that was read looks for those with what it lacks, and for those that lack it.
    primary key (organization_id, type, value, lacking, symbol_file_id)
);
-- Removing a file takes its links along; an upload looks for its own.
create index symbol_links_file on symbol_links (symbol_file_id);
