package symbolfile_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

type world struct {
	t       *testing.T
	db      *storage.DB
	org     int64
	project int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	w.org = w.id(`insert into organizations (uuid, slug, name) values ($1, $2, 'o') returning id`, uuid.New(), uuid.NewString())
	w.project = w.newProject()
	return w
}

func (w *world) id(query string, args ...any) (id int64) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &id, query, args...))
	return id
}

func (w *world) newProject() int64 {
	return w.id(`insert into crash_projects (organization_id, name) values ($1, $2) returning id`, w.org, uuid.NewString())
}

// upload stores an upload with debug files; project 0 is for all.
func (w *world) upload(project int64, files ...symbolfile.File) (id int64) {
	w.t.Helper()
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		stored, err := symbolfile.Insert(w.t.Context(), tx, symbolfile.New{OrganizationID: w.org, ProjectID: project, Name: "upload",
			Source: symbolfile.SourceAPI, TaskID: uuid.New(),
			File: storedfile.NewFile{Key: storedfile.Prefix + uuid.NewString(), Size: 1, SHA256: strings.Repeat("0", 28) + uuid.NewString()}})
		if err != nil {
			return err
		}
		id = stored.Upload.ID
		return symbolfile.RecordFiles(w.t.Context(), tx, id, files, "", "")
	}))
	return id
}

func file(kind symbol.Kind, state symbolfile.State, ids ...symbol.Identifier) symbolfile.File {
	return symbolfile.File{Kind: kind, State: state, SHA256: "x", Features: []string{}, Identifiers: ids}
}

// findOne is one question for one query, as crashes once asked: what Find answers is the same.
const findOne = `
select sf.id, i.type, i.value, i.release
from unnest($3::text[], $4::text[], $5::text[]) with ordinality as want(type, value, release, n)
join symbol_identifiers i on i.organization_id = $1 and i.type = want.type and i.value = want.value and i.release = want.release
join symbol_files sf on sf.id = i.symbol_file_id and sf.state = 'indexed'
join symbols s on s.id = sf.symbol_id and (s.crash_project_id is null or s.crash_project_id = $2)
order by want.n, s.crash_project_id is null, sf.id desc
limit 64`

type match struct {
	ID      int64  `db:"id"`
	Type    string `db:"type"`
	Value   string `db:"value"`
	Release string `db:"release"`
}

func TestFindIsOneQuestionForMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.newProject()
	random := rand.New(rand.NewPCG(1, 2))
	var pool []symbol.Identifier
	for i := range 12 {
		pool = append(pool, symbol.Identifier{Type: symbol.URL, Value: fmt.Sprintf("~/%d.js", i%6), Release: strings.Repeat("r", i%3)},
			symbol.Identifier{Type: symbol.MappingID, Value: fmt.Sprint("m", i)}, symbol.Identifier{Type: symbol.DebugID, Value: fmt.Sprint("d", i)})
	}
	some := func(n int) (ids []symbol.Identifier) {
		for range n {
			ids = append(ids, pool[random.IntN(len(pool))])
		}
		return ids
	}
	for range 120 {
		state := symbolfile.Indexed
		if random.IntN(6) == 0 {
			state = symbolfile.Failed
		}
		project := []int64{0, w.project, other}[random.IntN(3)]
		w.upload(project, file(symbol.ProGuard, state, some(6)...), file(symbol.Source, symbolfile.Indexed, some(2)...))
	}
	var wants []symbolfile.Want
	var queries [][]symbolfile.Want
	for i := range 40 {
		var query []symbolfile.Want
		seen := map[symbol.Identifier]bool{}
		for _, id := range append(some(i%9+1), symbol.Identifier{Type: symbol.URL, Value: "nowhere"}) {
			if !seen[id] {
				seen[id] = true
				query = append(query, symbolfile.Want{ProjectID: []int64{w.project, other, other + 1}[i%3], Identifier: id})
			}
		}
		queries, wants = append(queries, query), append(wants, query...)
	}
	found, err := symbolfile.Find(t.Context(), w.db, w.org, wants)
	require.NoError(t, err)
	matches := 0
	for _, query := range queries {
		var types, values, releases []string
		var got []match
		for _, want := range query {
			types, values, releases = append(types, string(want.Identifier.Type)), append(values, want.Identifier.Value),
				append(releases, want.Identifier.Release)
			for _, f := range found[0] {
				require.Equal(t, want.Identifier, f.By)
				got = append(got, match{f.ID, string(f.By.Type), f.By.Value, f.By.Release})
			}
			found = found[1:]
		}
		var expected []match
		require.NoError(t, w.db.SelectContext(t.Context(), &expected, findOne, w.org, query[0].ProjectID, pq.Array(types),
			pq.Array(values), pq.Array(releases)))
		require.Equal(t, expected, got[:min(len(got), 64)])
		matches += len(expected)
	}
	require.Greater(t, matches, 500)
	none, err := symbolfile.Find(t.Context(), w.db, w.org+1, wants)
	require.NoError(t, err)
	for _, files := range none {
		require.Empty(t, files, "another organization's")
	}
}

func TestFindIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := symbol.Identifier{Type: symbol.MappingID, Value: "m"}
	for range symbolfile.MaxFound + 3 {
		w.upload(0, file(symbol.ProGuard, symbolfile.Indexed, id))
	}
	found, err := symbolfile.Find(t.Context(), w.db, w.org, []symbolfile.Want{{ProjectID: w.project, Identifier: id},
		{ProjectID: w.project, Identifier: id}})
	require.NoError(t, err)
	require.Len(t, found[0], symbolfile.MaxFound)
	require.Equal(t, found[0], found[1])
}
