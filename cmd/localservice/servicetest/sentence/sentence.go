// Package sentence is a set of pages with sentences that ask for something on them,
// for the generation of tests: small pages of bare elements, a mail client, a shop,
// forms, trees, tables, dialogs, widgets of libraries.
//
// A page is the judge of its sentences. It records what was done on it (did, in
// pages/sentence.js) and which values it holds (state), in the storage of the
// browser's context, where windows, frames and further pages of a flow add to it. A
// pair says what the record must be in the end. Anything else in it is wrong: the
// deletion of another row as much as a second click.
//
// A generated test is replayed on changed pages. Where ids, classes, wrappers or the
// order of siblings changed, it must pass; where the thing that it is about is gone,
// or does something else, it must fail. A Site serves one change at a time, under
// the same addresses:
//
//	~word~                an id or class, which the change "ids" replaces
//	<!--w-->..<!--/w-->   what the change "wrap" puts into further elements
//	<!--o-->..<!--|-->..<!--/o-->  siblings that the change "order" reverses
//	<!--x NAME-->..<!--/x-->       what "removed" takes away from pairs about NAME
//
// Lists that scripts make go through items, and effects through did, which do the
// same for them.
//
// Pages that are not ours (npm packages, as they are or with a page around them) record
// nothing. Their pairs have an oracle, an expression on the page as it is in the end.
package sentence

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

//go:embed pairs/*.json pages
var own embed.FS

// Pair is a page with sentences that all ask for the same on it.
type Pair struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // of what is asked for: "choose", "drag"
	// Page is the path of the page, with its query.
	Page      string   `json:"page"`
	Sentences []string `json:"sentences"`
	// Did are the effects that the page must have recorded, and State the values.
	Did      []string          `json:"did"`
	AnyOrder bool              `json:"anyOrder,omitempty"` // of Did
	State    map[string]string `json:"state,omitempty"`
	// Target names what the change "removed" takes away.
	Target string `json:"target,omitempty"`
	// Without are changes that make another task of this one: where "the second"
	// is asked for, the order matters.
	Without []string `json:"without,omitempty"`
	// Lang is the language of the sentences: "en", "de", "es", "fr"; "" is not said.
	Lang string `json:"lang,omitempty"`
	// Oracle is an expression in JavaScript, true on the last page exactly if what the
	// sentences ask for was done and nothing else; for what must be refused, if no harm was
	// done. It takes the place of Did and State.
	Oracle string `json:"oracle,omitempty"`
	// Solution are steps that do it: they show that it can be done, and what the oracle
	// knows.
	Solution []step.Step `json:"solution,omitempty"`
	// Trap: a likely guess does harm.
	Trap bool `json:"trap,omitempty"`
	// Names are words of which a refusal must have one.
	Names []string `json:"names,omitempty"`
	// Codes are the ends that are right for a sentence that cannot be done; "" is
	// COMPLETED, with the judge's consent. None: it must be COMPLETED.
	Codes []string `json:"codes,omitempty"`
}

// The changes of pages.
const (
	Plain     = ""
	IDs       = "ids"
	Wrap      = "wrap"
	Order     = "order"
	Removed   = "removed"
	Behaviour = "behaviour"
	// Theme is other fonts, sizes and distances.
	Theme = "theme"
	// Other is IDs, Wrap, Order and Theme at once.
	Other = "other"
)

// Parts are those of Other.
var Parts = []string{IDs, Wrap, Order, Theme}

// Changes are all changes.
var Changes = []string{IDs, Wrap, Order, Removed, Behaviour, Other}

// Harmless reports whether a test must still pass after a change.
func Harmless(change string) bool {
	return change == Plain || change == Other || slices.Contains(Parts, change)
}

// Has reports whether a change can be made for the pair.
func (p *Pair) Has(change string) bool {
	if p.Oracle != "" {
		return change == Other && !slices.Contains(p.Without, change)
	}
	return !slices.Contains(p.Without, change) && (change != Removed || p.Target != "") && change != Other
}

// Record is what a page recorded.
type Record struct {
	Did   []string          `json:"did"`
	State map[string]string `json:"state"`
}

// RecordScript returns the record of the page on which it is executed, as JSON.
const RecordScript = `return JSON.stringify({
	did: JSON.parse(localStorage.getItem('did') || '[]'),
	state: JSON.parse(localStorage.getItem('state') || '{}')})`

// Judge returns what is wrong with a record; "" if exactly what was asked for was
// done.
func (p *Pair) Judge(r Record) string {
	want, got := slices.Clone(p.Did), slices.Clone(r.Did)
	if p.AnyOrder {
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(want, got) {
		return fmt.Sprintf("did %q, expected %q", r.Did, p.Did)
	}
	if !maps.Equal(p.State, r.State) {
		return fmt.Sprintf("state %q, expected %q", r.State, p.State)
	}
	return ""
}

// oracleScript returns a script that returns "" where the oracle is true, else why not.
func (p *Pair) oracleScript() string {
	return "try { return (" + p.Oracle + ") ? \"\" : \"the oracle is false\" } catch (e) { return \"the oracle: \" + e }"
}

// Set is a set of pairs with their pages.
type Set struct {
	Pairs []Pair
	pages fs.FS
	// mounts are folders of packages that stand where the pages of a package expect them:
	// "/assets/" is "gentelella/dist/assets".
	mounts map[string]string
}

// Own returns the set of this package.
func Own() (*Set, error) { return Load(own) }

// Load reads a set out of a folder: pairs/*.json, pages, and mounts.json where pages of
// packages need files at other paths than below /npm/.
func Load(folder fs.FS) (*Set, error) {
	names, err := fs.Glob(folder, "pairs/*.json")
	if err != nil {
		return nil, err
	}
	s := &Set{}
	if s.pages, err = fs.Sub(folder, "pages"); err != nil {
		return nil, err
	}
	if s.mounts, err = readMounts(folder); err != nil {
		return nil, fmt.Errorf("mounts.json: %w", err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		var some []Pair
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&some); err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(name), err)
		}
		for _, p := range some {
			if seen[p.Name] {
				return nil, fmt.Errorf("%s: a second pair %q", path.Base(name), p.Name)
			}
			seen[p.Name] = true
		}
		s.Pairs = append(s.Pairs, some...)
	}
	return s, nil
}

// readMounts reads mounts.json of a set; nil without one.
func readMounts(folder fs.FS) (mounts map[string]string, err error) {
	text, err := fs.ReadFile(folder, "mounts.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return mounts, json.Unmarshal(text, &mounts)
}
