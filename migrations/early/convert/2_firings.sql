-- The baseline as it was for its first half hour says fire where it says firing since, and
-- let two firings by hand not have the same time.
alter table test_schedule_fires rename to test_schedule_firings;
alter table test_schedules rename column last_fire_id to last_firing_id;
alter table suite_runs rename column fire_id to firing_id;
alter table test_schedule_firings drop constraint test_schedule_fires_schedule_id_fire_at_key;
alter table test_schedule_firings rename constraint test_schedule_fires_pkey to test_schedule_firings_pkey;
alter table test_schedule_firings rename constraint test_schedule_fires_organization_id_fkey to test_schedule_firings_organization_id_fkey;
alter table test_schedule_firings rename constraint test_schedule_fires_outcome_check to test_schedule_firings_outcome_check;
alter table test_schedule_firings rename constraint test_schedule_fires_trigger_check to test_schedule_firings_trigger_check;
alter index suite_runs_fire rename to suite_runs_firing;
alter index test_schedule_fires_age rename to test_schedule_firings_age;
alter index test_schedule_fires_organization rename to test_schedule_firings_organization;
create unique index test_schedule_firings_clock on test_schedule_firings (schedule_id, fire_at) where trigger <> 'MANUAL';
create index test_schedule_firings_latest on test_schedule_firings (schedule_id, fire_at, id);
