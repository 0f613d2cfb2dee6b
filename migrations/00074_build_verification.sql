-- +goose Up
set local lock_timeout = '5s';
-- What is known of the signature: pending, or the verdict. '' is a build from before
-- signatures were verified, or one of a kind that has none to verify.
alter table builds add column verification text not null default '';
-- What the upload found by comparison with the build before: codes of cautions.
alter table builds add column cautions text[] not null default '{}';
-- An app for the simulator of a Mac, which no device installs.
alter table builds add column simulator boolean not null default false;
