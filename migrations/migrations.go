// Package migrations holds the schema of Slipway's PostgreSQL database as
// embedded SQL files, one step each, in the order of their numbers.
//
// Steps only go forward and must be safe on a live system: add before use,
// backfill in a task, remove one release after the last use. A step that has
// landed never changes; package storage applies what a database lacks.
package migrations

import "embed"

// Files are the steps, in goose's format.
//
//go:embed *.sql
var Files embed.FS
