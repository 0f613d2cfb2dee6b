package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

// A seeder makes rows for tables of which it knows what the catalog says: it draws values of
// the columns' types and, where a constraint refuses them, draws those of its columns again.
type seeder struct {
	t      *testing.T
	db     *storage.DB
	random *rand.Rand
	serial int
	tables []*seedTable
}

type seedTable struct {
	name    string
	columns []seedColumn
	// foreign has for each foreign key the columns here and there.
	foreign []foreignKey
	// constraints are the columns of checks and unique indexes, by name.
	constraints map[string][]string
	// allowed are the values that a check lists for a column, and patterns what it must match.
	allowed  map[string][]string
	patterns map[string]*regexp.Regexp
}

type seedColumn struct {
	Name     string `db:"name"`
	Type     string `db:"type"`
	Required bool   `db:"required"`
	Default  bool   `db:"has_default"`
	Identity bool   `db:"identity"`
}

type foreignKey struct {
	Table string         `db:"of"`
	Here  pq.StringArray `db:"here"`
	There pq.StringArray `db:"there"`
}

const (
	seedRows  = 2    // of each table
	seedTries = 1500 // for each row
)

// seed makes some rows of each table, and returns the tables that have any, those with
// foreign keys after those that they name.
func seed(ctx context.Context, t *testing.T, db *storage.DB) []string {
	t.Helper()
	s := &seeder{t: t, db: db, random: rand.New(rand.NewPCG(1, 2))}
	s.read(ctx, t)
	var done []string
	for len(s.tables) > 0 {
		next := func(needed func(*seedTable, foreignKey) bool) int {
			return slices.IndexFunc(s.tables, func(of *seedTable) bool {
				return !slices.ContainsFunc(of.foreign, func(k foreignKey) bool {
					return k.Table != of.name && !slices.Contains(done, k.Table) && needed(of, k)
				})
			})
		}
		// A check may require one of two columns, of which neither is required.
		at := next(func(*seedTable, foreignKey) bool { return true })
		if at < 0 {
			at = next((*seedTable).requires)
		}
		require.GreaterOrEqual(t, at, 0, "a circle of foreign keys")
		table := s.tables[at]
		s.tables = slices.Delete(s.tables, at, at+1)
		var has int
		for range seedRows {
			if !table.single() || has == 0 {
				s.insert(ctx, t, table, done)
			}
			require.NoError(t, db.GetContext(ctx, &has, `select count(*) from `+table.name))
		}
		if has == 0 {
			t.Errorf("no row of %s", table.name)
		}
		done = append(done, table.name)
	}
	return done
}

// onlyRow is the column of a table with a single row.
const onlyRow = "only_row"

func (of *seedTable) single() bool {
	return slices.ContainsFunc(of.columns, func(c seedColumn) bool { return c.Name == onlyRow })
}

func (of *seedTable) requires(k foreignKey) bool {
	return slices.ContainsFunc(of.columns, func(c seedColumn) bool { return c.Required && slices.Contains(k.Here, c.Name) })
}

var listed = regexp.MustCompile(`\(?\(?(\w+)\)? = ANY \(\(?ARRAY\[(.*?)\]`)
var only = regexp.MustCompile(`^CHECK \(\((\w+) = '([^']*)'::text\)\)$`) // a list of one value
var matched = regexp.MustCompile(`(\w+) ~ '(\^[^']*)'`)
var quoted = regexp.MustCompile(`'((?:[^']|'')*)'`)

// read reads the catalog.
func (s *seeder) read(ctx context.Context, t *testing.T) {
	t.Helper()
	var names []string
	require.NoError(t, s.db.SelectContext(ctx, &names, `select relname from pg_class where relkind = 'r'
		and relnamespace = 'public'::regnamespace and relname <> 'goose_db_version' order by relname`))
	for _, name := range names {
		of := &seedTable{name: name, constraints: map[string][]string{}, allowed: map[string][]string{}, patterns: map[string]*regexp.Regexp{}}
		require.NoError(t, s.db.SelectContext(ctx, &of.columns, `
			select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required, atthasdef as has_default,
				attidentity <> '' as identity
			from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`, name))
		require.NoError(t, s.db.SelectContext(ctx, &of.foreign, `
			select confrelid::regclass::text as of,
				(select array_agg(attname::text order by n) from unnest(conkey) with ordinality k(num, n)
				join pg_attribute on attrelid = conrelid and attnum = num) as here,
				(select array_agg(attname::text order by n) from unnest(confkey) with ordinality k(num, n)
				join pg_attribute on attrelid = confrelid and attnum = num) as there
			from pg_constraint where contype = 'f' and conrelid = $1::regclass order by conname`, name))
		var constraints []struct {
			Name    string         `db:"name"`
			Columns pq.StringArray `db:"columns"`
			Text    string         `db:"text"`
		}
		require.NoError(t, s.db.SelectContext(ctx, &constraints, `
			select conname as name, pg_get_constraintdef(oid) as text,
				coalesce((select array_agg(attname::text) from pg_attribute where attrelid = conrelid and attnum = any (conkey)), '{}') as columns
			from pg_constraint where contype = 'c' and conrelid = $1::regclass
			union all
			select indexrelid::regclass::text, '', (select array_agg(attname::text) from pg_attribute
			where attrelid = indrelid and attnum = any (indkey))
			from pg_index where indisunique and indrelid = $1::regclass`, name))
		for _, c := range constraints {
			of.constraints[c.Name] = c.Columns
			if match := only.FindStringSubmatch(c.Text); match != nil {
				of.allowed[match[1]] = append(of.allowed[match[1]], match[2])
			}
			for _, match := range matched.FindAllStringSubmatch(c.Text, -1) {
				of.patterns[match[1]] = regexp.MustCompile(match[2])
			}
			for _, match := range listed.FindAllStringSubmatch(c.Text, -1) {
				for _, value := range quoted.FindAllStringSubmatch(match[2], -1) {
					of.allowed[match[1]] = append(of.allowed[match[1]], value[1])
				}
			}
		}
		s.tables = append(s.tables, of)
	}
}

// insert inserts a row, unless no values are found that are accepted.
func (s *seeder) insert(ctx context.Context, t *testing.T, of *seedTable, done []string) {
	t.Helper()
	row, again := map[string]any{}, map[string]bool{}
	var last error
	for try := range seedTries {
		s.draw(ctx, t, of, row, again, done)
		var columns []string
		for name := range row {
			columns = append(columns, name)
		}
		slices.Sort(columns)
		doc, err := json.Marshal(row)
		require.NoError(t, err)
		list := strings.Join(columns, ", ")
		statement := fmt.Sprintf(`insert into %s (%s) select %s from jsonb_populate_record(null::%s, $1::jsonb)`, of.name, list, list, of.name)
		if len(columns) == 0 {
			statement = `insert into ` + of.name + ` select where $1 <> '' `
		}
		_, last = s.db.ExecContext(ctx, statement, string(doc))
		if last == nil {
			return
		}
		var refusal *pq.Error
		require.True(t, errors.As(last, &refusal), "%s: %v", of.name, last)
		clear(again)
		for _, column := range of.constraints[refusal.Constraint] {
			again[column] = true
		}
		if refusal.Column != "" {
			again[refusal.Column] = true
		}
		if len(again) == 0 || try%100 == 99 {
			clear(row)
		}
	}
	t.Logf("%s: %v", of.name, last)
}

// draw draws values: all where there are none, else those of the columns that were refused.
func (s *seeder) draw(ctx context.Context, t *testing.T, of *seedTable, row map[string]any, again map[string]bool, done []string) {
	t.Helper()
	s.serial++
	fresh := len(row) == 0
	for _, c := range of.columns {
		if c.Identity || c.Name == onlyRow || !fresh && !again[c.Name] {
			continue
		}
		delete(row, c.Name)
		if c.Default && s.random.IntN(3) == 0 {
			continue
		}
		row[c.Name] = nil
		if c.Required || s.random.IntN(5) > 0 {
			row[c.Name] = s.value(of, c)
		}
		if row[c.Name] == unknownType {
			require.False(t, c.Required && !c.Default, "%s.%s: nothing of type %s is known", of.name, c.Name, c.Type)
			delete(row, c.Name)
		}
	}
	for _, k := range of.foreign {
		var parent string
		if slices.Contains(done, k.Table) {
			err := s.db.GetContext(ctx, &parent, `select to_jsonb(t) from `+k.Table+` t order by random() limit 1`)
			require.NoError(t, err)
		}
		var values map[string]any
		if parent != "" {
			decoder := json.NewDecoder(strings.NewReader(parent))
			decoder.UseNumber()
			require.NoError(t, decoder.Decode(&values))
		}
		for i, column := range k.Here {
			if row[column] != nil {
				row[column] = values[k.There[i]]
			}
		}
	}
}

// unknownType is the value of a type of which the seeder knows none.
const unknownType = "\x00"

// value draws a value of a column's type.
func (s *seeder) value(of *seedTable, c seedColumn) any {
	one := func(list ...any) any { return list[s.random.IntN(len(list))] }
	n := s.serial
	if list := of.allowed[c.Name]; len(list) > 0 && s.random.IntN(10) > 0 {
		return list[s.random.IntN(len(list))]
	}
	at := time.Date(2026, 11, 20, 12, n%60, 0, 0, time.UTC)
	digest := fmt.Sprintf("%016x%016x%016x%016x", s.random.Uint64(), s.random.Uint64(), s.random.Uint64(), s.random.Uint64())
	switch strings.Split(c.Type, "(")[0] {
	case "bigint", "integer", "smallint":
		return one(n%1000, 1, 2, 0, 60)
	case "double precision", "real", "numeric":
		return one(0.5, 1, 0)
	case "boolean":
		return one(true, false)
	case "text", "character varying":
		texts := []string{fmt.Sprint("name-", n), fmt.Sprint("n", n), "", fmt.Sprintf("u%d@example.com", n), s.uuid(),
			digest, digest[:32], digest[:24],
			fmt.Sprintf("https://example.com/%d", n), fmt.Sprintf("1.0.%d", n%100), "UTC", "*/5 * * * *", "en",
			fmt.Sprint(n), "com.example.app", "day", "off"}
		if pattern := of.patterns[c.Name]; pattern != nil {
			texts = slices.DeleteFunc(texts, func(text string) bool { return !pattern.MatchString(text) })
		}
		require.NotEmpty(s.t, texts, "%s.%s: no text matches", of.name, c.Name)
		return texts[s.random.IntN(len(texts))]
	case "text[]":
		return one([]string{"a", fmt.Sprint("b", n)}, []string{})
	case "bigint[]", "integer[]", "smallint[]":
		return one([]int{1, n}, []int{})
	case "uuid[]":
		return one([]string{s.uuid()}, []string{})
	case "uuid":
		return s.uuid()
	case "timestamp with time zone", "timestamp without time zone":
		return at.Format(time.RFC3339)
	case "date":
		return at.AddDate(0, 0, -(n % 300)).Format(time.DateOnly)
	case "interval":
		return "01:00:00"
	case "inet":
		return "192.0.2.1"
	case "jsonb", "json":
		return one(map[string]any{}, []any{}, map[string]any{"n": n}, []any{map[string]any{"n": n}})
	case "bytea":
		return one(`\x`+digest, `\x00`, `\x`+digest[:32], `\x`+digest[:16], `\x`+digest[:40], `\x`)
	}
	return unknownType
}

func (s *seeder) uuid() string {
	var id uuid.UUID
	for i := range id {
		id[i] = byte(s.random.Uint32())
	}
	return id.String()
}
