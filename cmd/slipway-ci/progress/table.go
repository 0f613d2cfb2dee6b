package progress

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// State says how a row stands, which its colour shows.
type State int

// The states.
const (
	Waiting State = iota
	Working
	Good
	Poor // passed, with something to look at
	Bad
)

// mostRows are drawn at a terminal; above them a line says how many others there are. A screen
// has 24 lines at least, and what is above it cannot be drawn anew.
const mostRows = 16

// Table is rows that change. It is safe for concurrent use.
type Table struct {
	printer *Printer
	header  []string

	mu      sync.Mutex
	keys    []string
	rows    map[string]row
	summary string
	said    string
}

type row struct {
	state State
	cells []string
}

// Table shows a table with a header. End takes it away.
func (p *Printer) Table(header ...string) *Table {
	t := &Table{printer: p, header: header, rows: map[string]row{}}
	p.add(t)
	return t
}

// Set sets the row of a key; a new key is a row below the others.
func (t *Table) Set(key string, state State, cells ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.rows[key]; !known {
		t.keys = append(t.keys, key)
	}
	clean := make([]string, len(cells))
	for i, c := range cells {
		clean[i] = Printable(c)
	}
	t.rows[key] = row{state, clean}
}

// Summary is the table in a line, which a log gets while it goes on: 3 of 8 passed.
func (t *Table) Summary(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.summary = Printable(text)
}

// End takes the table away and leaves all of its rows as lines.
func (t *Table) End() {
	t.mu.Lock()
	lines := t.text(1000, t.printer.cfg.Mode == Live && t.printer.cfg.Color, t.keys)
	t.mu.Unlock()
	t.printer.remove(t, lines...)
}

// Drop takes the table away and leaves nothing.
func (t *Table) Drop() { t.printer.remove(t) }

func (t *Table) draw(_ time.Time, width int, color bool) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	shown, others := t.keys, 0
	if len(shown) > mostRows {
		shown, others = t.lively(), len(t.keys)-mostRows
	}
	lines := t.text(width, color, shown)
	if others > 0 {
		lines = append(lines, fit("… and "+strconv.Itoa(others)+" more", width))
	}
	if t.summary != "" {
		lines = append(lines, strings.TrimRight(fit(t.summary, width), " "))
	}
	return lines
}

// lively are the rows to draw when not all have room: what works or failed before what waits,
// and what is done well last.
func (t *Table) lively() []string {
	rank := map[State]int{Working: 0, Bad: 1, Poor: 2, Waiting: 3, Good: 4}
	keys := slices.Clone(t.keys)
	slices.SortStableFunc(keys, func(a, b string) int { return rank[t.rows[a].state] - rank[t.rows[b].state] })
	return keys[:mostRows]
}

// text is the header and rows in columns. The caller holds mu.
func (t *Table) text(width int, color bool, keys []string) []string {
	if len(keys) == 0 {
		return nil
	}
	widths := columnWidths(t.header, t.rows, keys, width)
	lines := []string{columns(t.header, widths)}
	for _, key := range keys {
		r := t.rows[key]
		lines = append(lines, paint(columns(r.cells, widths), map[State]string{Good: green, Poor: yellow, Bad: red}[r.state], color))
	}
	return lines
}

// columnWidths are as wide as the widest cell; the widest column gives way where the terminal
// is too narrow.
func columnWidths(header []string, rows map[string]row, keys []string, width int) []int {
	widths := make([]int, len(header))
	for i, h := range header {
		widths[i] = utf8.RuneCountInString(h)
	}
	for _, key := range keys {
		for i, c := range rows[key].cells[:min(len(header), len(rows[key].cells))] {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for {
		sum, widest := 0, 0
		for i, w := range widths {
			sum += w + 2
			if w > widths[widest] {
				widest = i
			}
		}
		if sum-2 <= width || widths[widest] <= 8 {
			return widths
		}
		widths[widest] -= min(sum-2-width, widths[widest]-8)
	}
}

func columns(cells []string, widths []int) string {
	var b strings.Builder
	for i, w := range widths {
		cell := ""
		if i < len(cells) {
			cell = cells[i]
		}
		if i > 0 {
			b.WriteString("  ")
		}
		b.WriteString(fit(cell, w))
	}
	return strings.TrimRight(b.String(), " ")
}

func (t *Table) line(time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.summary == t.said {
		return ""
	}
	t.said = t.summary
	return t.summary
}
