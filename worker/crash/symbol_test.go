package crash

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/storage/symbolication"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
)

// shelf is a Source of mappings by their ids. Each maps "a.b.c", or "a.b.c:7" for line 7,
// to a function in clear.
type shelf struct {
	mu       sync.Mutex
	mappings map[string]map[string]string
	cold     bool
	looks    int
	each     func(look int) // is called with each look for a mapping; may be nil
	broken   error
	db       *storage.DB // where builds are; nil: none is known
}

func (s *shelf) put(id string, mapping map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mappings == nil {
		s.mappings = map[string]map[string]string{}
	}
	s.mappings[id] = mapping
}

func (s *shelf) Native(context.Context, symbolicate.Query) (symbolicate.Native, symbolication.File, error) {
	return nil, symbolication.File{}, symbolicate.ErrMissing
}

func (s *shelf) SourceMap(context.Context, symbolicate.Query) (symbolicate.SourceMap, symbolication.File, error) {
	return nil, symbolication.File{}, symbolicate.ErrMissing
}

func (s *shelf) Script(context.Context, symbolicate.Query) (symbolicate.Script, symbolication.File, error) {
	return nil, symbolication.File{}, symbolicate.ErrMissing
}

// Begin implements symbolicate.Source: all that a shelf has is known.
func (s *shelf) Begin(context.Context, int64) (symbolicate.Session, error) { return s, nil }

func (s *shelf) Named(string) (bool, error)            { return true, nil }
func (s *shelf) Ask(context.Context) error             { return nil }
func (s *shelf) Full() bool                            { return false }
func (s *shelf) Refresh(context.Context) (bool, error) { return false, nil }
func (s *shelf) Forget()                               {}

func (s *shelf) Build(ctx context.Context, at symbolicate.Place, ref crash.BuildRef) (int64, error) {
	if s.db == nil {
		return 0, nil
	}
	named := crash.NamedBuild{ProjectID: at.ProjectID, BuildRef: ref}
	found, err := crash.FindBuilds(ctx, s.db, []crash.NamedBuild{named})
	return found[named], err
}

func (s *shelf) Mapping(_ context.Context, q symbolicate.Query) (symbolicate.Mapping, symbolication.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looks++; s.each != nil {
		s.each(s.looks)
	}
	if s.broken != nil {
		return nil, symbolication.File{}, s.broken
	}
	for _, id := range q.Identifiers {
		if m := s.mappings[id.Value]; m != nil {
			if s.cold {
				return nil, symbolication.File{}, symbolicate.ErrCold
			}
			return table(m), symbolication.File{SymbolID: 1, FileID: 1, Name: "mapping.txt", Kind: symbol.ProGuard, Identifier: id}, nil
		}
	}
	return nil, symbolication.File{}, symbolicate.ErrMissing
}

// table is a mapping of functions.
type table map[string]string

func (m table) Stack(_ string, frames []symbolicate.JavaFrame) ([]symbolicate.JavaLine, error) {
	lines := make([]symbolicate.JavaLine, len(frames))
	for i, f := range frames {
		name := f.Class + "." + f.Method
		clear, ok := m[name+":"+strconv.Itoa(f.Line)]
		if !ok {
			clear, ok = m[name]
		}
		if ok {
			j := strings.LastIndexByte(clear, '.')
			lines[i].Alternatives = [][]symbolicate.JavaResult{{{JavaFrame: symbolicate.JavaFrame{Class: clear[:j],
				Method: clear[j+1:], File: "Cart.java", Line: 100 + f.Line}}}}
		}
	}
	return lines, nil
}

func (m table) Class(name string) (string, bool, error) {
	clear, ok := m["class "+name]
	return clear, ok, nil
}

func (m table) Text(text string) (string, error) {
	for from, to := range m {
		text = strings.ReplaceAll(text, from, to)
	}
	return text, nil
}

// obfuscatedDoc is a report whose frame is a.b.c in a line, of a mapping.
func obfuscatedDoc(mapping string, line int, more ...string) doc {
	attributes := fmt.Sprintf(`"symbolication_id":%q`, mapping)
	if len(more) > 0 {
		attributes += "," + strings.Join(more, ",")
	}
	return doc{attributes: attributes, stack: fmt.Sprintf(`{"funcName":"a.b.c","line":"%d"}`, line)}
}

// symbolWorld is a world with symbols.
type symbolWorld struct {
	*world
	shelf *shelf
}

func newSymbolWorld(t *testing.T) *symbolWorld { return &symbolWorld{newWorld(t), &shelf{}} }

func (w *symbolWorld) processAll() {
	w.t.Helper()
	p := w.processor()
	p.Symbols = w.shelf
	for w.number(`select count(*) from tasks where kind = 'crash:process' and state = 'queued'`) > 0 {
		require.NoError(w.t, p.Handle(w.t.Context(), w.claim(tasks.CrashProcess, uuid.Nil)))
	}
}

// upload records a mapping as indexed, as symbol:index does, and returns the id of the
// upload and of the task, which is nil when no crash needs it.
func (w *symbolWorld) upload(id string, mapping map[string]string) (int64, uuid.UUID) {
	w.t.Helper()
	return w.uploadOf(id, mapping, nil)
}

// uploadOf is upload with a build, nil for none.
func (w *symbolWorld) uploadOf(id string, mapping map[string]string, build *int64) (int64, uuid.UUID) {
	w.t.Helper()
	w.shelf.put(id, mapping)
	ctx := w.t.Context()
	var file, upload int64
	require.NoError(w.t, w.db.GetContext(ctx, &file, `insert into files (organization_id, object_key, size, sha256, content_type)
		values ($1, $2, 1, $3, 'mapping.txt') returning id`, w.org, uuid.NewString(), strings.Repeat("0", 64)))
	require.NoError(w.t, w.db.GetContext(ctx, &upload, `insert into symbols (organization_id, file_id, name, sha256, source, build_id)
		values ($1, $2, 'mapping.txt', $3, 'api', $4) returning id`, w.org, file, uuid.NewString(), build))
	task := uuid.Nil
	require.NoError(w.t, w.db.InTx(ctx, func(tx *storage.Tx) error {
		err := symbolfile.RecordFiles(ctx, tx, upload, []symbolfile.File{{Kind: symbol.ProGuard, State: symbolfile.Indexed, SHA256: "x",
			Features: []string{}, Identifiers: []symbol.Identifier{{Type: symbol.MappingID, Value: id}}}}, "", "")
		if err != nil {
			return err
		}
		needed, err := symbolfile.Needed(ctx, tx, w.org, upload)
		if err != nil || !needed {
			return err
		}
		t := tasks.NewCrashResymbolicate(w.org, "", upload)
		task = t.ID
		_, err = ledger.Insert(ctx, tx, t)
		task = t.ID
		return err
	}))
	return upload, task
}

func (w *symbolWorld) resymbolicate(task uuid.UUID) (sum ResymbolicateResult) {
	w.t.Helper()
	h := &Resymbolicate{Store: w.store, Symbols: w.shelf, Log: slog.New(slog.DiscardHandler)}
	require.NoError(w.t, h.Handle(w.t.Context(), w.claim(tasks.CrashResymbolicate, task)))
	w.result(task, &sum)
	return sum
}

func (w *symbolWorld) group(id int64) *reading.Group {
	w.t.Helper()
	g, err := reading.GroupByID(w.t.Context(), w.db, w.org, id)
	require.NoError(w.t, err)
	return g
}

// groupOf returns the group that shows a crash.
func (w *symbolWorld) groupOf(id uuid.UUID) int64 {
	w.t.Helper()
	g, err := reading.GroupOf(w.t.Context(), w.db, w.org, id)
	require.NoError(w.t, err)
	return g.ID
}

func (w *symbolWorld) state(id uuid.UUID) crash.SymbolState {
	w.t.Helper()
	states, err := crash.SymbolStates(w.t.Context(), w.db, w.org, []uuid.UUID{id})
	require.NoError(w.t, err)
	return states[id]
}

func (w *symbolWorld) change(group int64, c crash.GroupChange) {
	w.t.Helper()
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		_, err := crash.ChangeGroup(w.t.Context(), tx, account.Writer{OrganizationID: w.org, Actor: account.CLI()}, group, c)
		return err
	}))
}

// countsAgree compares the counts of all groups with their crashes.
func (w *symbolWorld) countsAgree() {
	w.t.Helper()
	require.Zero(w.t, w.number(`select count(*) from crash_groups g where g.root_id is null and g.count <> (
		select coalesce(sum(c.duplicates), 0) from crashes c join crash_group_keys k on k.id = c.key_id
		join crash_groups p on p.id = k.group_id where p.id = g.id or p.root_id = g.id)`), "counts of groups")
	require.Zero(w.t, w.number(`select count(*) from crash_groups g
		where coalesce((select sum(d.count) from crash_group_days d where d.group_id = g.id), 0) <> (
		select coalesce(sum(c.duplicates), 0) from crashes c join crash_group_keys k on k.id = c.key_id
		where k.group_id = g.id)`), "days of groups")
	require.Zero(w.t, w.number(`select count(*) from crash_group_values v where v.count <> (
		select coalesce(sum(c.duplicates), 0) from crashes c join crash_group_keys k on k.id = c.key_id
		where k.group_id = v.group_id and v.value = case v.kind when 'version' then c.version else c.host end)`), "values of groups")
}

func TestSymbolsBeforeTheKey(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	w.shelf.put("one", map[string]string{"a.b.c": "shop.Cart.price"})
	w.shelf.put("two", map[string]string{"x.y.z": "shop.Cart.price"})
	ids := w.accept(obfuscatedDoc("one", 1), doc{attributes: `"symbolication_id":"two"`, stack: `{"funcName":"x.y.z","line":"9"}`})
	w.processAll()
	require.Equal(t, w.groupOf(ids[0]), w.groupOf(ids[1]), "two builds, one bug")
	require.Contains(t, w.group(w.groupOf(ids[0])).Culprit, "shop.Cart.price")
	require.Equal(t, crash.SymbolsComplete, w.state(ids[0]))
	require.Zero(t, w.number(`select count(*) from symbol_needs`))
	w.countsAgree()
}

func TestFramesOfTwoBuildsStayApart(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	ids := w.accept(obfuscatedDoc("one", 1), obfuscatedDoc("two", 1), obfuscatedDoc("one", 2))
	w.processAll()
	require.NotEqual(t, w.groupOf(ids[0]), w.groupOf(ids[1]))
	require.Equal(t, w.groupOf(ids[0]), w.groupOf(ids[2]))
	require.Equal(t, crash.SymbolsMissing, w.state(ids[0]))
	require.EqualValues(t, 2, w.number(`select count(*) from symbol_needs`))
	require.EqualValues(t, 3, w.number(`select count(*) from crash_lacks`))
}

// Rule (b), and (a) for those that follow.
func TestLateSymbolsKeepTheGroup(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	ids := w.accept(obfuscatedDoc("one", 1, `"version":"1.0"`), obfuscatedDoc("one", 2, `"version":"1.1"`))
	w.processAll()
	group := w.groupOf(ids[0])
	resolved := crash.Resolved
	w.change(group, crash.GroupChange{State: &resolved})
	before := w.group(group)

	_, task := w.upload("one", map[string]string{"a.b.c": "shop.Cart.price"})
	require.NotEqual(t, uuid.Nil, task)
	sum := w.resymbolicate(task)
	require.Equal(t, ResymbolicateResult{Total: 2, Done: 2, Changed: 2, Cursor: sum.Cursor}, sum)

	g := w.group(group)
	require.Equal(t, crash.Resolved, g.State, "old crashes open nothing")
	require.Equal(t, before.ResolvedAt, g.ResolvedAt)
	require.EqualValues(t, 2, g.Count)
	require.Contains(t, g.Culprit, "shop.Cart.price")
	require.Contains(t, g.Title, "E")
	require.Equal(t, group, w.groupOf(ids[0]))
	require.Equal(t, group, w.groupOf(ids[1]))
	require.Equal(t, crash.SymbolsComplete, w.state(ids[1]))
	require.Zero(t, w.number(`select count(*) from symbol_needs`))
	require.EqualValues(t, 1, w.number(`select count(*) from audit_events where type = $1`, account.CrashGroupSymbolicated))
	found, _, err := reading.Groups(t.Context(), w.db, reading.GroupFilter{OrganizationID: w.org, Search: "shop.Cart.price", Limit: 5})
	require.NoError(t, err)
	require.Len(t, found, 1, "the new title is found")
	d, err := reading.CrashByID(t.Context(), w.store, w.org, ids[0])
	require.NoError(t, err)
	require.Contains(t, string(d.Explanation), "shop.Cart.price")
	w.countsAgree()

	// What comes now has the new key at once, and what cannot be symbolicated the old one.
	next := w.accept(obfuscatedDoc("one", 3))
	w.processAll()
	require.Equal(t, group, w.groupOf(next[0]))
	require.Equal(t, crash.Open, w.group(group).State, "a new crash is a regression")
	w.countsAgree()
}

// Rule (c).
func TestLateSymbolsSplitAGroup(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	day := 24 * time.Hour
	var docs []doc
	for i, line := range []int{1, 2, 1, 2, 3} { // the last is the newest
		d := obfuscatedDoc("one", line, `"version":"1.0"`, `"os":"android"`)
		d.at = time.Now().Add(time.Duration(i-5) * day)
		docs = append(docs, d)
	}
	ids := w.accept(docs...)
	w.processAll()
	group := w.groupOf(ids[0])
	_, task := w.upload("one", map[string]string{"a.b.c:1": "shop.Cart.price", "a.b.c:2": "shop.Pay.send", "a.b.c:3": "shop.Pay.send"})
	sum := w.resymbolicate(task)
	require.Equal(t, 1, sum.Split)
	require.Equal(t, 5, sum.Changed)
	require.Equal(t, 2, sum.Moved)
	require.Equal(t, group, w.groupOf(ids[4]), "the newest decides what the group is")
	require.Equal(t, group, w.groupOf(ids[1]))
	other := w.groupOf(ids[0])
	require.NotEqual(t, group, other)
	require.Equal(t, other, w.groupOf(ids[2]))
	require.EqualValues(t, 3, w.group(group).Count)
	require.EqualValues(t, 2, w.group(other).Count)
	require.Contains(t, w.group(other).Culprit, "shop.Cart.price")
	require.EqualValues(t, 2, w.number(`select crashes from crash_group_successors where group_id = $1 and successor_id = $2`, group, other))
	w.countsAgree()
	for _, id := range []int64{group, other} {
		found, _, err := reading.Groups(t.Context(), w.db, reading.GroupFilter{OrganizationID: w.org, Limit: 5,
			Attributes: []condition.Attribute{{Key: "os", Value: "android"}}})
		require.NoError(t, err)
		require.Len(t, found, 2, "facets moved to %d", id)
	}
}

// Rule (d): another group, older, has the key.
func TestLateSymbolsJoinAGroup(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	w.shelf.put("one", map[string]string{"a.b.c": "shop.Cart.price"})
	first := w.accept(obfuscatedDoc("one", 1))
	w.processAll()
	target := w.groupOf(first[0])
	ids := w.accept(obfuscatedDoc("two", 1, `"version":"2.0"`), obfuscatedDoc("two", 2, `"version":"2.0"`))
	w.processAll()
	old := w.groupOf(ids[0])
	require.NotEqual(t, target, old)
	ignored, link := crash.Ignored, "https://issues.example.com/7"
	w.change(old, crash.GroupChange{State: &ignored, UntilVersion: "9.0", IssueURL: &link})
	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		_, err := tx.ExecContext(t.Context(), `insert into crash_group_comments (group_id, author, text) values ($1, 'a', 'seen')`, old)
		return err
	}))
	_, task := w.upload("two", map[string]string{"a.b.c": "shop.Cart.price"})
	sum := w.resymbolicate(task)
	require.Equal(t, 2, sum.Moved)
	require.Equal(t, target, w.groupOf(ids[0]))
	g := w.group(old)
	require.Equal(t, target, g.ID, "the old number leads to the group")
	require.EqualValues(t, 3, g.Count)
	require.Equal(t, 1, g.Comments)
	require.Equal(t, crash.Ignored, g.State, "the decision was not lost")
	require.Equal(t, "9.0", g.IgnoredVersion)
	require.Equal(t, link, g.IssueURL)
	w.countsAgree()
}

func TestDecisionsOfTheOtherGroupStay(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	w.shelf.put("one", map[string]string{"a.b.c": "shop.Cart.price"})
	first := w.accept(obfuscatedDoc("one", 1))
	w.processAll()
	target := w.groupOf(first[0])
	ids := w.accept(obfuscatedDoc("two", 1))
	w.processAll()
	resolved, ignored := crash.Resolved, crash.Ignored
	w.change(target, crash.GroupChange{State: &resolved, InVersion: "5"})
	w.change(w.groupOf(ids[0]), crash.GroupChange{State: &ignored})
	old := w.groupOf(ids[0])
	_, task := w.upload("two", map[string]string{"a.b.c": "shop.Cart.price"})
	w.resymbolicate(task)
	require.Equal(t, crash.Resolved, w.group(target).State)
	require.Equal(t, "5", w.group(target).ResolvedIn)
	// Taken out again, the part has its own.
	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		_, err := crash.Unmerge(t.Context(), tx, account.Writer{OrganizationID: w.org, Actor: account.CLI()}, old)
		return err
	}))
	require.Equal(t, crash.Ignored, w.group(old).State)
}

// A report that came between the arrival of the symbols and the reading of older crashes
// made a group, which becomes a part of the old one.
func TestYoungerGroupBecomesAPart(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	ids := w.accept(obfuscatedDoc("one", 1))
	w.processAll()
	old := w.groupOf(ids[0])
	assigned := "https://issues.example.com/1"
	w.change(old, crash.GroupChange{IssueURL: &assigned})
	_, task := w.upload("one", map[string]string{"a.b.c": "shop.Cart.price"})
	next := w.accept(obfuscatedDoc("one", 1), obfuscatedDoc("one", 4))
	w.processAll()
	require.NotEqual(t, old, w.groupOf(next[0]))
	w.resymbolicate(task)
	for _, id := range append(ids, next...) {
		require.Equal(t, old, w.groupOf(id))
	}
	require.EqualValues(t, 3, w.group(old).Count)
	require.Contains(t, w.group(old).Culprit, "shop.Cart.price")
	w.countsAgree()
}

// A group that has the new key since a crash of it was read in the same step is as young.
func TestYoungerGroupOfTheSameStepBecomesAPart(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	ids := w.accept(obfuscatedDoc("one", 1))
	w.processAll()
	old := w.groupOf(ids[0])
	assigned := "https://issues.example.com/1"
	w.change(old, crash.GroupChange{IssueURL: &assigned})
	other := obfuscatedDoc("one", 1)
	other.stack = strings.ReplaceAll(other.stack, "a.b.c", "a.b.d")
	ids = append(ids, w.accept(other)...)
	w.processAll()
	require.NotEqual(t, old, w.groupOf(ids[1]))
	_, task := w.upload("one", map[string]string{"a.b.c": "shop.Cart.price", "a.b.d": "shop.Cart.price"})
	w.resymbolicate(task)
	for _, id := range ids {
		require.Equal(t, old, w.groupOf(id))
	}
	require.EqualValues(t, 2, w.group(old).Count)
	w.countsAgree()
}
