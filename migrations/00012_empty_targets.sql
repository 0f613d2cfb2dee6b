-- +goose Up
set local lock_timeout = '3s';
-- A target without capabilities is none: cases that have no other cannot run. In its
-- lax mode the path finds nothing where a member is missing or null.
update test_cases set runnable = false
where runnable
    and not jsonb_path_exists(run_settings, '$.primaryTarget.capabilities ? (@.type() == "object").keyvalue()')
    and not jsonb_path_exists(run_settings, '$.runTargets[*].capabilities ? (@.type() == "object").keyvalue()');
