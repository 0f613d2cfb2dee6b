-- +goose Up
set local lock_timeout = '3s';
-- Devices that testers registered, for the provisioning profiles of builds. One
-- device of two people has two rows.
create table tester_devices (
    id              bigint generated always as identity primary key,
    organization_id bigint not null,
    user_id         bigint not null,
    udid            text not null check (length(udid) between 25 and 40),
    platform        text not null check (platform in ('ios', 'mac')),
    -- What the device called itself, in Apple's words: iPhone16,2 and 22G86.
    product         text not null default '',
    os_version      text not null default '',
    name            text not null default '',
    -- How it came here: from the device itself, or typed in by an admin.
    source          text not null check (source in ('profile', 'admin')),
    -- What vouches for it: a certificate that Apple issued to the device, a signature
    -- by a certificate of whoever sent it, or nothing.
    verified        text not null check (verified in ('certificate', 'signature', 'none')),
    -- Digest of the challenge that the device answered: each serves one device.
    challenge       bytea unique check (length(challenge) = 32),
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    foreign key (organization_id, user_id) references memberships (organization_id, user_id) on delete cascade
);
-- A device that is registered again finds its row; the devices of one person are listed.
create unique index tester_devices_person on tester_devices (organization_id, user_id, udid);
-- The list of an organization's devices, newest first.
create index tester_devices_organization on tester_devices (organization_id, id desc);
-- The export, in which each device stands once.
create index tester_devices_udid on tester_devices (organization_id, udid, id);

-- How a session began: by a link in a mail to the person, or by an invitation link,
-- which admins of the organization can see and which therefore opens this
-- organization only.
alter table page_sessions add column via text not null default 'mail' check (via in ('mail', 'invite'));
