package library

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"unsafe"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

const (
	// answerBytes bounds the answers that are remembered: some hundred thousand.
	answerBytes = 32 << 20
	// answerCost is what an answer takes besides its texts, foundCost each file of it.
	answerCost = 256
	foundCost  = int64(unsafe.Sizeof(symbolfile.Found{})) + 128
	// maxIdentifiers of one query are looked for.
	maxIdentifiers = 96
	// maxAsked identifiers are asked for by one statement.
	maxAsked = 20_000
	// maxKnown identifiers are known or noted by one session: some tens of megabytes.
	maxKnown = 100_000
	// maxScriptNames: an organization with more addresses of scripts is asked about each.
	maxScriptNames = 20_000
)

// Session looks files of one organization up for some reports. A query whose answer is not
// known returns ErrUnasked and is noted; Ask asks for all that was noted. An answer holds for
// every session that begins in the same generation of the kinds that it may be of. A session
// is of use for one goroutine and for as long as one claim: Refresh tells it of what changed.
type Session struct {
	l            *Library
	organization int64
	generations  symbolfile.Generations
	files        map[answerKey][]symbolfile.Found
	builds       map[int64][]symbolfile.Found
	names        scriptNames

	wanted       map[answerKey]bool
	wants        []answerKey // in their order
	wantedBuilds map[int64]bool
	wantsNames   bool
}

// answerKey is an identifier that a project looks for, among the kinds of a family.
type answerKey struct {
	project int64
	family  int
	id      symbol.Identifier
}

// scriptNames are those of all scripts of an organization.
type scriptNames struct {
	known bool
	all   bool // too many to be known
	names map[string]bool
}

// families are the kinds of which files have identifiers in common.
var families = [...][]symbol.Kind{
	{symbol.ProGuard},
	{symbol.SourceMap, symbol.Source},
	{symbol.ELF, symbol.MachO, symbol.PE, symbol.PDB, symbol.Breakpad, symbol.Wasm, symbol.PortablePDB},
	{symbol.ProGuard, symbol.SourceMap, symbol.Source, symbol.ELF, symbol.MachO, symbol.PE, symbol.PDB, symbol.Breakpad,
		symbol.Wasm, symbol.PortablePDB},
}

const scriptFamily = 1

// familyOf returns the number of the first family with all of the kinds.
func familyOf(kinds []symbol.Kind) int {
	for i, family := range families {
		if len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k symbol.Kind) bool { return !slices.Contains(family, k) }) {
			return i
		}
	}
	return len(families) - 1
}

// Begin begins a session: one statement.
func (l *Library) Begin(ctx context.Context, organization int64) (*Session, error) {
	generations, err := symbolfile.ReadGenerations(ctx, l.cfg.DB, organization)
	if err != nil {
		return nil, err
	}
	s := &Session{l: l, organization: organization, generations: generations}
	s.Forget()
	return s, nil
}

// Refresh begins the session anew for other reports: one statement. It reports whether what was
// found holds, since no symbol file came or went; but for what was found by a build, which the
// session forgets.
func (s *Session) Refresh(ctx context.Context) (holds bool, err error) {
	generations, err := symbolfile.ReadGenerations(ctx, s.l.cfg.DB, s.organization)
	if err != nil {
		return false, err
	}
	if holds = maps.Equal(generations, s.generations); holds {
		clear(s.builds)
		return true, nil
	}
	s.generations, s.names = generations, scriptNames{}
	s.Forget()
	return false, nil
}

// Forget drops what the session knows, which is not yet remembered elsewhere.
func (s *Session) Forget() {
	s.files, s.builds = map[answerKey][]symbolfile.Found{}, map[int64][]symbolfile.Found{}
	s.wanted, s.wants, s.wantedBuilds, s.wantsNames = map[answerKey]bool{}, nil, map[int64]bool{}, false
}

// Full reports whether so much is known or noted that the memory which it takes counts: those
// who go on ask, end what they began, and then Forget.
func (s *Session) Full() bool { return len(s.files)+len(s.wants) >= maxKnown }

// Named reports whether the organization has a script, or the map of one, with the name of an
// address. Until Ask has been called once it is ErrUnasked.
func (s *Session) Named(address string) (bool, error) {
	if !s.generations.Has(families[scriptFamily]...) {
		return false, nil
	}
	if !s.names.known {
		known, ok := s.l.answers.get(s.namesKey())
		if !ok {
			s.wantsNames = true
			return false, ErrUnasked
		}
		s.names = known.(scriptNames)
	}
	return s.names.all || s.names.names[symbolfile.ScriptName(address)], nil
}

func (s *Session) namesKey() string {
	return "names " + strconv.FormatInt(s.organization, 10) + " " + strconv.FormatInt(s.generations.Of(families[scriptFamily]...), 10)
}

// Note notes what a query looks for, for the next Ask.
func (s *Session) Note(q Query) { _, _ = s.find(q) }

// find returns the files that serve a query, the best first.
func (s *Session) find(q Query) ([]symbolfile.Found, error) {
	family := familyOf(q.Kinds)
	if !s.generations.Has(families[family]...) {
		return nil, nil // nothing to ask for
	}
	var found []symbolfile.Found
	known := true
	for i, id := range normalized(q.Identifiers) {
		if i == maxIdentifiers {
			break
		}
		files, ok := s.answer(answerKey{q.ProjectID, family, id})
		known = known && ok
		found = append(found, files[:min(len(files), symbolfile.MaxFound-len(found))]...)
	}
	build, ok := s.ofBuild(q.BuildID)
	if !known || !ok {
		return nil, ErrUnasked
	}
	if found = q.useful(found); len(found) > 0 {
		return found, nil
	}
	build = slices.Clone(build)
	for i := range build {
		build[i].By = symbol.Identifier{Type: symbolfile.BuildIdentifier, Value: strconv.FormatInt(q.BuildID, 10)}
	}
	return q.useful(build), nil
}

// normalized are identifiers as they are stored, each once.
func normalized(ids []symbol.Identifier) []symbol.Identifier {
	normal := make([]symbol.Identifier, 0, len(ids))
	for _, id := range ids {
		if id, ok := id.Normalize(); ok && !slices.Contains(normal, id) {
			normal = append(normal, id)
		}
	}
	return normal
}

// answer returns what is known of an identifier, or notes it.
func (s *Session) answer(key answerKey) ([]symbolfile.Found, bool) {
	if files, ok := s.files[key]; ok {
		return files, true
	}
	if got, ok := s.l.answers.get(s.cacheKey(key)); ok {
		files := got.([]symbolfile.Found)
		s.files[key] = files
		return files, true
	}
	if !s.wanted[key] {
		s.wanted[key] = true
		s.wants = append(s.wants, key)
	}
	return nil, false
}

// ofBuild returns what is known of a build, or notes it. It is not remembered after the
// session: which files a build has may change without one that comes or goes.
func (s *Session) ofBuild(build int64) ([]symbolfile.Found, bool) {
	if build == 0 {
		return nil, true
	}
	files, ok := s.builds[build]
	if !ok {
		s.wantedBuilds[build] = true
	}
	return files, ok
}

// cacheKey is a text that is the same for the same identifiers only, in the same generation.
func (s *Session) cacheKey(key answerKey) string {
	b := make([]byte, 0, 64+len(key.id.Value)+len(key.id.Release))
	for _, n := range [...]int64{s.organization, key.project, int64(key.family), s.generations.Of(families[key.family]...),
		int64(len(key.id.Value))} {
		b = append(strconv.AppendInt(b, n, 36), ' ')
	}
	b = append(append(append(b, key.id.Type...), ' '), key.id.Value...)
	return string(append(b, key.id.Release...))
}

// Ask asks the database for all that was noted since it was last called: a statement for the
// identifiers, one for the builds, and one for the names of scripts where these are wanted.
func (s *Session) Ask(ctx context.Context) error {
	for wants := range slices.Chunk(s.wants, maxAsked) {
		if err := s.askFiles(ctx, wants); err != nil {
			return err
		}
	}
	s.wants = nil
	clear(s.wanted)
	if err := s.askBuilds(ctx); err != nil || !s.wantsNames {
		return err
	}
	names, ok, err := symbolfile.ScriptNames(ctx, s.l.cfg.DB, s.organization, maxScriptNames)
	if err != nil {
		return err
	}
	s.wantsNames, s.names = false, scriptNames{known: true, all: !ok, names: names}
	cost := int64(answerCost)
	for name := range names {
		cost += int64(len(name)) + 48
	}
	s.l.answers.put(s.namesKey(), s.organization, cost, s.names)
	return nil
}

func (s *Session) askFiles(ctx context.Context, wants []answerKey) error {
	list := make([]symbolfile.Want, len(wants))
	for i, w := range wants {
		list[i] = symbolfile.Want{ProjectID: w.project, Identifier: w.id}
	}
	found, err := symbolfile.Find(ctx, s.l.cfg.DB, s.organization, list)
	if err != nil {
		return err
	}
	for i, w := range wants {
		key := s.cacheKey(w)
		s.files[w] = found[i]
		s.l.answers.put(key, s.organization, int64(len(key))+answerCost+int64(len(found[i]))*foundCost, found[i])
	}
	return nil
}

func (s *Session) askBuilds(ctx context.Context) error {
	if len(s.wantedBuilds) == 0 {
		return nil
	}
	ids := make([]int64, 0, len(s.wantedBuilds))
	for id := range s.wantedBuilds {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	found, err := symbolfile.OfBuilds(ctx, s.l.cfg.DB, s.organization, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		s.builds[id] = found[id]
	}
	clear(s.wantedBuilds)
	return nil
}

// useful leaves out what is not wanted, and brings the best to the front: of native code
// what says most, of others what the identifiers prefer.
func (q *Query) useful(found []symbolfile.Found) []symbolfile.Found {
	found = slices.DeleteFunc(found, func(f symbolfile.Found) bool {
		return f.IndexKey == "" || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, f.Kind) ||
			q.Feature != "" && !slices.Contains(f.Features, q.Feature) || q.Without != "" && slices.Contains(f.Features, q.Without)
	})
	slices.SortStableFunc(found, func(a, b symbolfile.Found) int {
		if !a.Kind.Native() || !b.Kind.Native() {
			return 0
		}
		return score(&a) - score(&b)
	})
	return found
}
