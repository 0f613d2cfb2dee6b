-- +goose Up
-- What a report is of: 4 a crash, 3 out of memory, 2 a hang, 1 an error that was handled. Of
-- those that are there nobody knows it any more: they count as crashes, as they did.
set local lock_timeout = '3s';
alter table crashes add column severity smallint not null default 4;
