// Package migrations holds the schema of Slipway's PostgreSQL database as
// embedded SQL files, one step each, in the order of their numbers.
//
// Steps 1 to 8 are the baseline, a file for each area: accounts, tasks, mail,
// distribution, crashes, authoring, runs, schedules. From there on steps only go
// forward: a step that has landed never changes, and a new one must be safe on a
// live system. Add before use, backfill in a task, remove one release after the
// last use. package storage applies what a database lacks.
//
// A step begins with "set local lock_timeout = '3s'": whoever uses a table for
// long must not make everybody else wait behind the step, which is tried again.
// One step changes one table. An index on a table with rows is created
// concurrently, in a step of its own ("-- +goose NO TRANSACTION", with "set
// statement_timeout = 0" and a "drop index concurrently if exists" before it,
// because a try that was cut off leaves an invalid index under the name).
//
// What each step does to the columns and keys is recorded in shape.txt, by which package
// storage sees whether a schema is what its steps have made, and has nothing yet of what
// others will make, before it changes anything. After a new step: go test ./storage -run
// TestShape -update. Each schema that landed is recorded too, with rows, to be upgraded by
// tests: when the step is committed, go test ./storage -run TestLanded -update. Numbers may
// have gaps, and a step may land after one of a higher number: it is applied all the same,
// so it must not depend on which comes first. Folder early has the steps of before the
// baseline.
//
// Names: a column name means the same in every table (project_id is an app,
// crash_project_id a crash project; group_id is a group of crashes,
// tester_group_id one of testers; a column of a closed set of conditions is
// state). The comment above an index names the query that it serves.
package migrations

import "embed"

// Files are the steps, in goose's format.
//
//go:embed *.sql
var Files embed.FS
