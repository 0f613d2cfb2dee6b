package storage_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/migrations"
	"github.com/slipway-qa/slipway/storage"
)

var update = flag.Bool("update", false, "record the shapes of the migrations, and the schemas that landed, anew")

// TestShape compares what each step does to the columns and keys with what is recorded of it. After
// a new step: go test ./storage -run TestShape -update.
func TestShape(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		file  string
		steps fs.FS
		have  migrations.Changes
	}{
		{"../migrations/shape.txt", migrations.Files, migrations.Shape()},
		{"../migrations/early/shape.txt", migrations.EarlySteps(), migrations.EarlyShape()},
	} {
		t.Run(of.file, func(t *testing.T) {
			t.Parallel()
			text := shapeOf(t, of.steps)
			if *update {
				require.NoError(t, os.WriteFile(of.file, []byte(text), 0o644))
				return
			}
			require.Equal(t, migrations.ParseShape(text), of.have, "go test ./storage -run TestShape -update records new steps")
		})
	}
}

// shapeOf applies steps one after the other, and returns what each does to the columns and
// keys.
func shapeOf(t *testing.T, steps fs.FS) string {
	t.Helper()
	db := emptyDB(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	p, err := goose.NewProvider(goose.DialectPostgres, db.DB.DB, steps)
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("# What each migration adds to the columns and keys of tables, and removes; written by\n" +
		"# go test ./storage -run TestShape -update\n")
	var before []string
	for _, s := range p.ListSources() {
		_, err := p.ApplyVersion(ctx, s.Version, true)
		require.NoError(t, err)
		after := columnsOf(ctx, t, db)
		lines := changed("+", after, before) + changed("-", before, after)
		if lines != "" {
			fmt.Fprintf(&b, "%05d\n%s", s.Version, lines)
		}
		before = after
	}
	return b.String()
}

// changed returns a line for each table that has columns which are not in others.
func changed(sign string, columns, others []string) string {
	var b strings.Builder
	last := ""
	for _, name := range columns {
		if slices.Contains(others, name) {
			continue
		}
		table, column, _ := strings.Cut(name, ".")
		if table != last {
			if last != "" {
				b.WriteString("\n")
			}
			b.WriteString(sign + table)
			last = table
		}
		b.WriteString(" " + column)
	}
	if last != "" {
		b.WriteString("\n")
	}
	return b.String()
}

func columnsOf(ctx context.Context, t *testing.T, db *storage.DB) []string {
	t.Helper()
	var columns []string
	require.NoError(t, db.SelectContext(ctx, &columns, `select table_name || '.' || column_name from information_schema.columns
		where table_schema = 'public' and table_name <> 'goose_db_version'
		union all
		select table_name || '.' || 'key:' || constraint_name from information_schema.table_constraints
		where table_schema = 'public' and table_name <> 'goose_db_version' and constraint_type in ('PRIMARY KEY', 'UNIQUE')`))
	slices.Sort(columns)
	return columns
}

// emptyDB is a database without tables for this test alone.
func emptyDB(t *testing.T) *storage.DB {
	t.Helper()
	db := servicetest.DB(t)
	_, err := db.ExecContext(t.Context(), `drop schema public cascade; create schema public`)
	require.NoError(t, err)
	return db
}
