-- +goose Up
-- The crashes of a project by day, for the overview: it added up the days of every group that was
-- seen within two weeks. A row is what a statement added or took; their sum is the number of the
-- day. No writer waits for another: rows are only added, and put together now and then. Days
-- before the last three weeks are in nobody's overview: what there is of them is not filled in,
-- and crash:retention deletes it.
set local lock_timeout = '3s';
create table crash_project_days (
    crash_project_id bigint not null references crash_projects on delete cascade,
    day              date not null,
    count            bigint not null
);
create index crash_project_days_day on crash_project_days (crash_project_id, day);

-- A group or project that is gone by then has nothing to count.
-- +goose StatementBegin
create function count_project_days() returns trigger language plpgsql as $$
declare
    projects bigint[];
    days date[];
    counts bigint[];
begin
    if tg_op = 'INSERT' then
        select array_agg(project), array_agg(day), array_agg(n) into projects, days, counts from (
            select p.id as project, c.day, sum(c.count) as n
            from added c join crash_groups g on g.id = c.group_id join crash_projects p on p.id = g.crash_project_id
            group by 1, 2 having sum(c.count) <> 0) s;
    elsif tg_op = 'DELETE' then
        select array_agg(project), array_agg(day), array_agg(n) into projects, days, counts from (
            select p.id as project, c.day, -sum(c.count) as n
            from gone c join crash_groups g on g.id = c.group_id join crash_projects p on p.id = g.crash_project_id
            group by 1, 2 having sum(c.count) <> 0) s;
    else
        select array_agg(project), array_agg(day), array_agg(n) into projects, days, counts from (
            select p.id as project, c.day, sum(c.count) as n from (
                select group_id, day, count from added union all select group_id, day, -count from gone) c
            join crash_groups g on g.id = c.group_id join crash_projects p on p.id = g.crash_project_id
            group by 1, 2 having sum(c.count) <> 0) s;
    end if;
    if projects is null then
        return null;
    end if;
    insert into crash_project_days (crash_project_id, day, count) select * from unnest(projects, days, counts);
    -- One of fifty puts together those rows that nobody else is at; crash:retention does so with
    -- what is left of former days.
    if random() < 0.02 then
        with old as (
            delete from crash_project_days where ctid = any(array(
                select d.ctid from unnest(projects, days) as t(project, day)
                join crash_project_days d on d.crash_project_id = t.project and d.day = t.day
                limit 10000 for update of d skip locked))
            returning crash_project_id, day, count
        )
        insert into crash_project_days (crash_project_id, day, count)
        select crash_project_id, day, sum(count) from old group by 1, 2 having sum(count) <> 0;
    end if;
    return null;
end $$;
-- +goose StatementEnd
-- From here to the end of the step nobody else counts days, so that none is missed or counted
-- twice; it reads the range of three weeks of crash_group_days_day.
create trigger crash_group_days_added after insert on crash_group_days
    referencing new table as added for each statement execute function count_project_days();
create trigger crash_group_days_changed after update on crash_group_days
    referencing new table as added old table as gone for each statement execute function count_project_days();
create trigger crash_group_days_gone after delete on crash_group_days
    referencing old table as gone for each statement execute function count_project_days();
insert into crash_project_days (crash_project_id, day, count)
select g.crash_project_id, d.day, sum(d.count) from crash_group_days d join crash_groups g on g.id = d.group_id
where d.day >= (now() at time zone 'UTC')::date - 20 group by 1, 2;
