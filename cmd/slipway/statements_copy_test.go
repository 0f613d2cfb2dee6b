package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

// copier makes more rows of those that are there: of each row of each table one for every
// number, with the same parents. Where a unique index wants it, a column changes, or
// leads to the copy of its parent that has the same number.
type copier struct {
	t      *testing.T
	db     *storage.DB
	tables []*copiedTable // parents first
	// referenced are the columns that foreign keys lead to.
	referenced map[string]bool
	// refused are the tables whose rows could not be copied, with the reason.
	refused map[string]string
}

type copiedTable struct {
	name    string
	columns []copiedColumn
	uniques [][]string // the columns of each unique index
}

type copiedColumn struct {
	Table    string  `db:"tbl"`
	Name     string  `db:"name"`
	Kind     string  `db:"kind"`
	Sequence *string `db:"sequence"`
	Parent   *string `db:"parent"`    // of a foreign key
	ParentOf *string `db:"parent_of"` // the column there
	Fixed    bool    `db:"fixed"`     // computed, or one of a set of words
}

const copiedColumns = `
select c.relname as tbl, a.attname as name, format_type(a.atttypid, null) as kind,
	pg_get_serial_sequence(c.oid::regclass::text, a.attname) as sequence,
	f.confrelid::regclass::text as parent, pa.attname as parent_of,
	a.attgenerated <> '' as fixed
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join lateral (
	select k.confrelid, k.confkey[array_position(k.conkey, a.attnum)] as confnum from pg_constraint k
	where k.conrelid = c.oid and k.contype = 'f' and a.attnum = any(k.conkey)
	order by cardinality(k.conkey), k.oid limit 1
) f on true
left join pg_attribute pa on pa.attrelid = f.confrelid and pa.attnum = f.confnum
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname, a.attnum`

const copiedIndexes = `
select c.relname as tbl, pg_get_indexdef(i.indexrelid) as def
from pg_index i join pg_class c on c.oid = i.indrelid
where i.indisunique and c.relnamespace = 'public'::regnamespace order by 1, 2`

// uncopied are the tables that are no rows of a page.
func uncopied() []string {
	return []string{"goose_db_version", "slipway_copies", "organizations", "crash_batches", "task_hours", "task_hours_until"}
}

func newCopier(t *testing.T, db *storage.DB) *copier {
	t.Helper()
	c := &copier{t: t, db: db, referenced: map[string]bool{}, refused: map[string]string{}}
	_, err := db.ExecContext(t.Context(), `create table slipway_copies (tbl text, old text, n int, copy text, primary key (tbl, old, n))`)
	require.NoError(t, err)
	var columns []copiedColumn
	require.NoError(t, db.SelectContext(t.Context(), &columns, copiedColumns))
	tables := map[string]*copiedTable{}
	for _, column := range columns {
		if tables[column.Table] == nil {
			tables[column.Table] = &copiedTable{name: column.Table}
		}
		if column.Parent != nil && column.ParentOf != nil {
			c.referenced[*column.Parent+"."+*column.ParentOf] = true
		}
		tables[column.Table].columns = append(tables[column.Table].columns, column)
	}
	var indexes []struct {
		Table string `db:"tbl"`
		Def   string `db:"def"`
	}
	require.NoError(t, db.SelectContext(t.Context(), &indexes, copiedIndexes))
	for _, index := range indexes {
		table := tables[index.Table]
		if table == nil {
			continue
		}
		_, keys, _ := strings.Cut(index.Def, "(")
		keys, _, _ = strings.Cut(keys, " WHERE ")
		var of []string
		for _, column := range table.columns {
			if regexp.MustCompile(`\b` + column.Name + `\b`).MatchString(keys) {
				of = append(of, column.Name)
			}
		}
		table.uniques = append(table.uniques, of)
	}
	c.order(tables)
	return c
}

// order puts parents before their children.
func (c *copier) order(tables map[string]*copiedTable) {
	done := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		table := tables[name]
		if table == nil || done[name] || slices.Contains(uncopied(), name) {
			return
		}
		done[name] = true
		for _, column := range table.columns {
			if column.Parent != nil {
				visit(*column.Parent)
			}
		}
		c.tables = append(c.tables, table)
	}
	names := make([]string, 0, len(tables))
	for name := range tables {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		visit(name)
	}
}

// copy makes a copy of each row for each number. The numbers of a second call are
// multiples of what is larger than all numbers of the first: no sum of two is another.
func (c *copier) copy(numbers ...int) {
	c.t.Helper()
	require.NoError(c.t, c.db.InTx(c.t.Context(), func(tx *storage.Tx) error {
		for _, table := range c.tables {
			err := tx.Savepoint(c.t.Context(), func() error { return c.copyTable(tx, table, numbers) })
			if err != nil {
				c.refused[table.name] = err.Error()
			}
		}
		return nil
	}))
}

// rank says how well a column tells copies apart; 0: not at all.
func (column copiedColumn) rank() int {
	switch {
	case column.Fixed || column.Name == "organization_id":
		return 0
	case column.Sequence != nil:
		return 9
	case column.Parent != nil:
		return 1
	case column.Kind == "uuid":
		return 8
	case column.Kind == "text":
		return 7
	case column.Kind == "bytea":
		return 6
	case column.Kind == "bigint" || column.Kind == "integer":
		return 5
	case strings.HasPrefix(column.Kind, "timestamp"), column.Kind == "date":
		return 4
	}
	return 0
}

// expression is the value of a column in a copy.
func (column copiedColumn) expression() string {
	name := "t." + column.Name
	switch column.Kind {
	case "uuid":
		return "gen_random_uuid()"
	case "bytea":
		return "sha256(" + name + " || i.n::text::bytea)"
	case "bigint", "integer":
		return name + " + 1000000 + i.n"
	case "date":
		return name + " - i.n"
	case "text":
		// A token keeps its length.
		return fmt.Sprintf("case when length(%[1]s) > 20 and %[1]s !~ '[ @]' then left(%[1]s, -8) || left(md5(%[1]s || 'x' || i.n), 8) else %[1]s || 'x' || i.n end", name)
	}
	return name + " - i.n * interval '1 second'"
}

// changes are the columns in which a copy differs, with their values there, and the parents
// that these need.
func (table *copiedTable) changes() (changed map[string]string, parents string) {
	changed = map[string]string{}
	for _, unique := range table.uniques {
		best, differs := copiedColumn{}, false
		for _, column := range table.columns {
			if !slices.Contains(unique, column.Name) {
				continue
			}
			differs = differs || changed[column.Name] != ""
			if column.rank() > 0 && column.rank() >= best.rank() { // of (group, user) the user, who stands behind
				best = column
			}
		}
		switch {
		case differs, best.Name == "":
		case best.Sequence != nil:
			changed[best.Name] = fmt.Sprintf("nextval('%s')", *best.Sequence)
		case best.Parent != nil:
			p := "p_" + best.Name
			parents += fmt.Sprintf(" join slipway_copies %[1]s on %[1]s.tbl = '%[2]s' and %[1]s.old = t.%[3]s::text and %[1]s.n = i.n",
				p, *best.Parent+"."+*best.ParentOf, best.Name)
			changed[best.Name] = p + ".copy::" + best.Kind
		default:
			changed[best.Name] = best.expression()
		}
	}
	return changed, parents
}

func (c *copier) copyTable(tx *storage.Tx, table *copiedTable, numbers []int) error {
	changed, parents := table.changes()
	var names, values, kept []string
	for _, column := range table.columns {
		if column.Fixed {
			continue
		}
		value := cmp.Or(changed[column.Name], "t."+column.Name)
		names, values = append(names, column.Name), append(values, value+" as "+column.Name)
		if key := table.name + "." + column.Name; c.referenced[key] && changed[column.Name] != "" {
			values = append(values, "t."+column.Name+"::text as old_"+column.Name)
			kept = append(kept, fmt.Sprintf(", kept_%[1]s as (insert into slipway_copies select '%[2]s', old_%[1]s, copy_number, %[1]s::text from made on conflict do nothing)",
				column.Name, key))
		}
	}
	list := strings.Join(names, ", ")
	_, err := tx.ExecContext(c.t.Context(), fmt.Sprintf(`
		with made as materialized (select %s, i.n as copy_number from %s t cross join unnest($1::int[]) as i(n)%s)%s
		insert into %s (%s) overriding system value select %s from made on conflict do nothing`,
		strings.Join(values, ", "), table.name, parents, strings.Join(kept, ""), table.name, list, list), pq.Array(numbers))
	return err
}
