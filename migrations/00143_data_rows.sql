-- +goose Up
set local lock_timeout = '3s';
-- The data rows of cases: a case is run once for each. A row of test_data never changes; a
-- revision names the one that its steps are run with.
create table test_data (
    id              uuid primary key,            -- version 7
    organization_id bigint not null references organizations on delete cascade,
    case_id         text not null references test_cases on delete cascade,
    columns         text[] not null,             -- their names, in the order of the author
    secret          text[] not null default '{}', -- columns whose values are sealed
    row_name        text not null default '',    -- the column that names rows; '': none
    row_count       integer not null,
    size            integer not null,            -- bytes of names and values
    sealed_key      bytea,                       -- of the secret values; null where no column is secret
    digest          text not null default '',    -- of columns and values; '' where a column is secret
    created_at      timestamptz not null default now()
);
-- The data of a case, newest first: older ones go.
create index test_data_case on test_data (case_id, id desc);
-- What an organization keeps is summed up when more comes; deleting it looks for its data.
create index test_data_organization on test_data (organization_id) include (size);

create table test_data_rows (
    data_id uuid not null references test_data on delete cascade,
    place   integer not null,                    -- from 0
    cells   jsonb not null,                      -- texts in the order of the columns; '' where the column is secret
    hidden  bytea,                               -- the secret values, sealed with the key of the data
    primary key (data_id, place)
);
