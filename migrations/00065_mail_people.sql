-- +goose Up
set local lock_timeout = '3s';
-- Whom a mail is for, and what it is made of beside its texts.
alter table mails
    add column user_id     bigint,
    add column icon_key    text not null default '', -- object of the picture cid:icon@mail
    add column qr          text not null default '', -- link in the picture cid:qr@mail
    add column unsubscribe text not null default '', -- page where the recipient ends such mail
    add column attempted_at timestamptz;             -- when it was handed over last
-- suppressed: not sent, for its recipient is not to get it. bounced: it was sent,
-- and a mail server reported later that it could not be delivered.
alter table mails drop constraint mails_state_check;
alter table mails add constraint mails_state_check
    check (state in ('queued', 'sent', 'kept', 'failed', 'suppressed', 'bounced')) not valid;

-- Addresses to which an organization's mail cannot be delivered.
create table mail_suppressions (
    id              bigint generated always as identity primary key,
    organization_id bigint not null references organizations on delete cascade,
    email           text not null,             -- in lower case
    source          text not null check (source in ('smtp', 'notification')),
    status          text not null default '',  -- 5.1.1
    detail          text not null default '',
    mail_id         uuid,
    created_at      timestamptz not null default now()
);
-- Writing mail looks its recipients up; an address is marked once.
create unique index mail_suppressions_email on mail_suppressions (organization_id, email);
-- The list, newest first.
create index mail_suppressions_list on mail_suppressions (organization_id, id desc);

-- People who want no mail that they can choose, by organization.
create table mail_unsubscribes (
    organization_id bigint not null references organizations on delete cascade,
    user_id         bigint not null references users on delete cascade,
    created_at      timestamptz not null default now(),
    primary key (organization_id, user_id)
);

-- An organization's own templates.
create table mail_templates (
    organization_id bigint not null references organizations on delete cascade,
    kind            text not null,
    subject         text not null,
    body            text not null,
    updated_at      timestamptz not null default now(),
    primary key (organization_id, kind)
);

-- How an organization's mail is sent; no row: the defaults.
create table mail_settings (
    organization_id   bigint primary key references organizations on delete cascade,
    sender_name       text not null default '',
    reply_to          text not null default '',
    rate_per_minute   int not null default 0 check (rate_per_minute >= 0), -- 0: no limit of its own
    digest_enabled    boolean not null default false,
    digest_weekday    int not null default 1 check (digest_weekday between 0 and 6), -- 0 is Sunday
    digest_hour       int not null default 8 check (digest_hour between 0 and 23),   -- UTC
    digest_recipients text[] not null default '{}',                        -- empty: owners and admins
    digest_due        timestamptz,                                         -- null: off
    updated_at        timestamptz not null default now()
);
-- The digest looks for the organizations that are due.
create index mail_settings_digest on mail_settings (digest_due) where digest_due is not null;

-- How many mails were handed over in the running minute, by organization; 0 is the
-- installation. Not logged: after a crash of the database a minute begins anew.
create unlogged table mail_rates (
    scope  bigint primary key,
    minute timestamptz not null,
    used   int not null
);
