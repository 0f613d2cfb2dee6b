-- +goose Up
set local lock_timeout = '3s';
-- What a build asks of the devices of people, and the system that it was made for, as its
-- package says. null: nobody read it, of a build from before this or of a file that is no app.
alter table builds
    add column permissions text[],
    add column target_os   text;
