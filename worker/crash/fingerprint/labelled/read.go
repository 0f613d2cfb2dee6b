package labelled

import (
	"fmt"
	"io/fs"
	"reflect"
	"strings"
)

// Read reads the files of a folder whose names end in .txt. Their lines are:
//
//   - "language NAME" begins a part of the file; lang and agent after it are the
//     defaults of its reports.
//   - "same NAME" and "other NAME" begin a pair: one bug or two. "why" says in one
//     sentence what a developer would say; "a" and "b" begin the reports.
//   - "crash BUG" begins a single report of a bug. Many of them are clusters, and
//     are measured by B-cubed.
//   - class (each is one classifier), message (several are one message of several
//     lines), "attr KEY VALUE", "module FILE START SIZE", symbolication, lang and
//     agent are members of a report. Side b repeats only what differs: what it
//     has no line of is as in side a, and "-" as the value removes it.
//   - Two spaces begin a frame of the faulting thread, the one that failed first:
//     its function as the client sends it (nothing when there is only an address),
//     then, after bars, file (with line and column), lib, line (with the column,
//     for a frame without a file), at (the address), debug (the identifier),
//     guessed and faulted.
//   - "thread NAME" begins a thread that did not fail.
//   - "#" begins a comment.
func Read(folder fs.FS) (*Set, error) {
	names, err := fs.Glob(folder, "*.txt")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("labelled: no file ends in .txt")
	}
	set := new(Set)
	seen := make(map[string]bool)
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		r := reader{set: set, seen: seen}
		if err := r.file(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return set, nil
}

// reader reads one file.
type reader struct {
	set      *Set
	seen     map[string]bool
	language string
	defaults Text // lang and agent of the file

	pair   *Pair
	crash  *Crash
	text   *Text   // the report that lines belong to
	thread *Thread // a thread other than the faulting one
}

func (r *reader) file(text string) error {
	line := ""
	number := 0
	for line = range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, " \r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if err := r.line(line); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := r.finish(); err != nil {
		return fmt.Errorf("line %d: %w", number, err)
	}
	return nil
}

func (r *reader) line(line string) error {
	if strings.HasPrefix(line, "  ") {
		return r.frame(line)
	}
	key, value, _ := strings.Cut(line, " ")
	if value == "" && key != "a" && key != "b" {
		return fmt.Errorf("%q needs a value", key)
	}
	switch key {
	case "language":
		if err := r.finish(); err != nil {
			return err
		}
		r.language, r.defaults = value, Text{}
		return nil
	case "same", "other", "crash":
		return r.begin(key, value)
	case "why":
		if r.pair == nil || r.pair.Why != "" {
			return fmt.Errorf("why belongs to a pair, once")
		}
		r.pair.Why = value
		return nil
	case "a", "b":
		return r.side(key)
	}
	return r.member(key, value)
}

// begin finishes the pair or crash before, and begins the next.
func (r *reader) begin(key, name string) error {
	if err := r.finish(); err != nil {
		return err
	}
	if r.language == "" {
		return fmt.Errorf("the file names no language")
	}
	if key == "crash" {
		r.crash = &Crash{Language: r.language, Bug: name, Text: r.defaults}
		r.text = &r.crash.Text
		return nil
	}
	id := r.language + "\x00" + name
	if r.seen[id] {
		return fmt.Errorf("%q is in the set twice", name)
	}
	r.seen[id] = true
	r.pair = &Pair{Language: r.language, Name: name, Same: key == "same"}
	return nil
}

func (r *reader) side(key string) error {
	switch {
	case r.pair == nil:
		return fmt.Errorf("a side without a pair")
	case r.pair.Why == "":
		return fmt.Errorf("a pair needs a why before its sides")
	case key == "a" && r.pair.A == nil:
		r.pair.A = &Crash{Language: r.language, Text: r.defaults}
		r.text = &r.pair.A.Text
	case key == "b" && r.pair.A != nil && r.pair.B == nil:
		r.pair.B = &Crash{Language: r.language, Text: r.defaults}
		r.pair.B.Text.Lang, r.pair.B.Text.Agent = r.pair.A.Text.Lang, r.pair.A.Text.Agent
		r.text = &r.pair.B.Text
	default:
		return fmt.Errorf("side %s out of order", key)
	}
	r.thread = nil
	return nil
}

// finish checks and stores what was read since begin.
func (r *reader) finish() error {
	p, c := r.pair, r.crash
	r.pair, r.crash, r.text, r.thread = nil, nil, nil, nil
	if c != nil {
		if err := c.build(); err != nil {
			return err
		}
		r.set.Crashes = append(r.set.Crashes, *c)
	}
	if p == nil {
		return nil
	}
	if p.A == nil || p.B == nil {
		return fmt.Errorf("%q needs two sides", p.Name)
	}
	p.B.Text.inherit(&p.A.Text)
	if reflect.DeepEqual(p.A.Text, p.B.Text) {
		return fmt.Errorf("%q has equal sides", p.Name)
	}
	for _, c := range []*Crash{p.A, p.B} {
		if err := c.build(); err != nil {
			return fmt.Errorf("%q: %w", p.Name, err)
		}
	}
	r.set.Pairs = append(r.set.Pairs, *p)
	return nil
}
