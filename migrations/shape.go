package migrations

import (
	"embed"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// early is the schema of the first two days. It was rewritten as the baseline, under the same
// numbers and with other names. Its steps are kept, so that data of these days can be
// upgraded: the early steps that it lacks, then what converts it to the baseline of 1 to 8.
//
//go:embed early
var early embed.FS

const (
	// Baseline is the number of the baseline's last step.
	Baseline = 8
	// EarlyNewest is the number of the last early step.
	EarlyNewest = 13
)

// EarlyCommit returns the commit, and its date, whose newest step is an early one of this
// number; "" when none is.
func EarlyCommit(version int64) string {
	return map[int64]string{
		3:  "03894a4 of 2026-11-21",
		8:  "93cd53f of 2026-11-21",
		10: "3f4fd9c of 2026-11-21",
		13: "4b85c2d of 2026-11-22",
	}[version]
}

// EarlySteps are the steps before the baseline, in goose's format.
func EarlySteps() fs.FS { return below("early") }

// EarlyConversions are the statements that make the baseline of the newest early schema, in
// the order of their names; each begins where another schema that landed begins.
func EarlyConversions() fs.FS { return below("early/convert") }

// The conversions.
const (
	// FromEarly is run on the newest early schema.
	FromEarly = "1_baseline.sql"
	// FromFires is run after it, and on the baseline of its first half hour.
	FromFires = "2_firings.sql"
)

func below(folder string) fs.FS {
	files, err := fs.Sub(early, folder)
	if err != nil {
		panic(err) // the folder is embedded
	}
	return files
}

//go:embed shape.txt
var shapeText string

//go:embed early/shape.txt
var earlyShapeText string

// Key begins the names of primary keys and unique constraints where they are among columns.
const Key = "key:"

// Change is what a step does to the tables: the columns that it adds and removes, each
// "table.column", and the keys, each "table.key:constraint".
type Change struct {
	Adds, Removes []string
}

// Changes are those of the steps by their numbers. They are recorded in shape.txt, where a
// step that changes no column is left out.
type Changes map[int64]Change

// Shape returns the recorded changes of the steps.
func Shape() Changes { return ParseShape(shapeText) }

// EarlyShape returns those of the early steps.
func EarlyShape() Changes { return ParseShape(earlyShapeText) }

// ParseShape reads recorded changes: for each step a line with its number, then lines "+table
// column column" and "-table column".
func ParseShape(text string) Changes {
	changes := Changes{}
	var version int64
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if number, err := strconv.ParseInt(line, 10, 64); err == nil {
			version = number
			continue
		}
		words := strings.Fields(line[1:])
		change := changes[version]
		for _, column := range words[1:] {
			name := words[0] + "." + column
			if line[0] == '+' {
				change.Adds = append(change.Adds, name)
			} else {
				change.Removes = append(change.Removes, name)
			}
		}
		changes[version] = change
	}
	return changes
}

// After returns the columns that a schema has after these steps, sorted: the changes in the
// order of the numbers, in whichever order the steps were applied.
func (c Changes) After(versions []int64) []string {
	has := map[string]bool{}
	for _, version := range slices.Sorted(slices.Values(versions)) {
		for _, column := range c[version].Adds {
			has[column] = true
		}
		for _, column := range c[version].Removes {
			delete(has, column)
		}
	}
	list := make([]string, 0, len(has))
	for column := range has {
		list = append(list, column)
	}
	slices.Sort(list)
	return list
}

var ifNotExists = regexp.MustCompile(`(?i)\b(?:alter\s+table\s+(\w+)|add\s+column\s+if\s+not\s+exists\s+(\w+))`)

// Tolerated returns the columns, "table.column", that a step adds only where they are not
// there yet.
func Tolerated() map[string]bool {
	columns := map[string]bool{}
	names, err := fs.Glob(Files, "*.sql")
	if err != nil {
		panic(err) // the pattern is none
	}
	for _, name := range names {
		text, err := Files.ReadFile(name)
		if err != nil {
			panic(err) // the files are embedded
		}
		table := ""
		for _, found := range ifNotExists.FindAllSubmatch(text, -1) {
			if column := string(found[2]); column != "" {
				columns[table+"."+column] = true
				continue
			}
			table = string(found[1])
		}
	}
	return columns
}
