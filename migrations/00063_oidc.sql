-- +goose Up
set local lock_timeout = '3s';
-- How the requests of an organization sign in with tokens of an issuer of its own
-- (OpenID Connect), one for each organization.
create table oidc_configurations (
    organization_id    bigint primary key references organizations on delete cascade,
    -- The service account that such requests act as. Its membership has the role and
    -- the block; it cannot be deleted before the configuration.
    user_id            bigint not null,
    enabled            boolean not null,
    -- oidc_only: API keys of the organization are refused.
    mode               text not null check (mode in ('oidc_only', 'oidc_or_key')),
    issuer_url         text not null check (length(issuer_url) between 1 and 2048),
    -- The claim iss, where it is not the issuer's URL; '' where it is.
    expected_issuer    text not null default '' check (length(expected_issuer) <= 2048),
    audience           text not null default '', -- '' is not checked
    allowed_algorithms text[] not null check (cardinality(allowed_algorithms) > 0),
    required_scopes    text[] not null default '{}', -- any one of them
    required_claims    jsonb not null default '{}', -- {"name": ["pattern", ...]}, all names, any pattern
    jwks_cache_seconds integer not null check (jwks_cache_seconds > 0),
    clock_skew_seconds integer not null check (clock_skew_seconds >= 0),
    -- all_teams: the account works in every team; else in those of team_memberships.
    all_teams          boolean not null default true,
    key_digest         bytea not null unique check (length(key_digest) = 32),
    key_hint           text not null,
    created_at         timestamptz not null default now(),
    updated_at         timestamptz not null default now(),
    foreign key (organization_id, user_id) references memberships (organization_id, user_id)
);
