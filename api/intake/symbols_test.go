package intake

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// fakeSymbols keeps what it is handed.
type fakeSymbols struct {
	mu     sync.Mutex
	added  []symbolfile.New
	unused bool
	err    error
}

func (f *fakeSymbols) Add(_ context.Context, n symbolfile.New) (*symbolfile.Stored, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	f.added = append(f.added, n)
	id := uuid.MustParse("0190f5b4-0000-7000-8000-0000000000aa")
	return &symbolfile.Stored{Unused: f.unused, Created: !f.unused,
		Upload: symbolfile.Upload{ID: int64(len(f.added)), Name: n.Name, SHA256: n.File.SHA256, TaskID: &id}}, nil
}

func symbolView(u *symbolfile.Upload) any { return map[string]any{"id": u.ID, "name": u.Name} }

// contents reads the objects of what was added.
func (w *world) contents(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, n := range w.symbols.added {
		r, _, err := w.objects.Open(t.Context(), n.File.Key, 0, -1)
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.EqualValues(t, len(b), n.File.Size)
		all = append(all, string(b))
	}
	return all
}

func (w *world) countObjects(t *testing.T) int {
	t.Helper()
	list, err := w.objects.List(t.Context(), storedfile.Prefix, "", 100)
	require.NoError(t, err)
	return len(list)
}

func TestSymbolFileAsBody(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]symbolfile.New{
		"/post?token=symbols&format=symbols&upload_file=app.pdb&tag=1.2": {Name: "app.pdb", Format: "symbols", Release: "1.2"},
		"/api/post?token=symbols&format=proguard&symbolication_id=abc":   {Name: "proguard", Format: "proguard", GivenID: "abc"},
		"/post?token=symbols&format=proguard&uuid=abd&project=x":         {Name: "proguard", Format: "proguard", GivenID: "abd"},
		"/universe/symbols/sourcemap?release=3&url_prefix=~/a&name=m.js": {Name: "m.js", Format: "sourcemap", Release: "3", URLPrefix: "~/a"},
	} {
		w := newWorld(t, nil)
		rec := w.post(target, "content", "Content-Type", "application/x-www-form-urlencoded")
		require.Equal(t, 200, rec.Code, rec.Body)
		var answer map[string]any
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
		require.Equal(t, "ok", answer["response"])
		require.Equal(t, "0190f5b4-0000-7000-8000-0000000000aa", answer["_rxid"])
		require.Equal(t, map[string]any{"id": 1.0, "name": want.Name}, answer["symbol"])
		require.Len(t, answer["symbols"], 1)
		require.Len(t, w.symbols.added, 1)
		got := w.symbols.added[0]
		require.Equal(t, [4]string{want.Name, want.Format, want.Release, want.GivenID}, [4]string{got.Name, got.Format, got.Release, got.GivenID})
		require.Equal(t, want.URLPrefix, got.URLPrefix)
		require.Equal(t, []any{int64(3), int64(7), symbolfile.SourcePost, "crash token 2"}, []any{got.OrganizationID,
			got.ProjectID, got.Source, got.Actor.Name})
		require.Equal(t, "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73", got.File.SHA256)
		require.Equal(t, []string{"content"}, w.contents(t))
	}
}

func TestSymbolFilesOfAForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	big := strings.Repeat("large ", 100_000)
	body := form(filePart("upload_file", "one.sym", "1"), filePart("anything", "two.sym", big), fieldPart("release", "7"),
		fieldPart("uuid", "u"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(body))
	require.NoError(t, z.Close())
	rec := w.post("/post?token=symbols&format=symbols&release=6", packed.String(), "Content-Type", multipartB, "Content-Encoding", "gzip")
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Equal(t, []string{"1", big}, w.contents(t))
	require.Equal(t, []any{2, int64(1 + len(big))}, []any{w.counts.symbols, w.counts.symbolBytes})
	for i, name := range []string{"one.sym", "two.sym"} {
		require.Equal(t, [3]string{name, "7", "u"}, [3]string{w.symbols.added[i].Name, w.symbols.added[i].Release, w.symbols.added[i].GivenID})
	}
}

func TestSymbolFilesRefused(t *testing.T) {
	t.Parallel()
	cut := form(filePart("upload_file", "one.sym", "1"), filePart("upload_file", "two.sym", "22222"))
	for name, c := range map[string]struct {
		target, body, kind string
		err                error
		status, code       int
		text               string
	}{
		"empty":      {"/post?token=symbols&format=symbols", "", "", nil, 400, 2, "empty"},
		"empty part": {"/post?token=symbols&format=symbols", form(filePart("upload_file", "a", "")), multipartB, nil, 400, 2, "empty"},
		"no file":    {"/post?token=symbols&format=symbols", form(fieldPart("release", "1")), multipartB, nil, 400, 2, "required"},
		"cut off":    {"/post?token=symbols&format=symbols", cut[:len(cut)-20], multipartB, nil, 400, 1, "ends early"},
		"too long":   {"/post?token=symbols&format=symbols", strings.Repeat("x", 200<<10), "", nil, 413, 8, "longer than 102400"},
		"too long in form": {"/post?token=symbols&format=symbols", form(filePart("upload_file", "a", strings.Repeat("x", 200<<10))),
			multipartB, nil, 413, 8, "longer than 102400"},
		"bad release": {"/post?token=symbols&format=symbols", "x", "", &storage.InvalidError{Field: "release",
			Msg: "is too long"}, 400, 2, "release"},
		"database away": {"/post?token=symbols&format=symbols", "x", "", storage.ErrUnavailable, 503, 10, "again later"},
		"broken":        {"/post?token=symbols&format=symbols", "x", "", errors.New("secret detail"), 500, 10, "internal"},
		"wrong scope":   {"/post?token=good&format=symbols", "x", "", nil, 403, 7, "symbol:post"},
		"wrong token":   {"/post?token=wrong&format=symbols", "x", "", nil, 403, 6, "token"},
	} {
		w := newWorld(t, func(cfg *Config) { cfg.Limits.Symbols = 100 << 10 })
		w.symbols.err = c.err
		rec := w.post(c.target, c.body, "Content-Type", c.kind)
		require.Equal(t, c.status, rec.Code, name)
		var answer map[string]any
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer), name)
		require.EqualValues(t, c.code, failureCode(answer), "%s: %s", name, rec.Body)
		require.Contains(t, fmt.Sprint(answer), c.text, name)
		require.NotContains(t, rec.Body.String(), "secret detail")
		require.Empty(t, w.symbols.added, name)
		require.Zero(t, w.countObjects(t), name)
	}
}

func TestSymbolFileSentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.symbols.unused = true
	rec := w.post("/post?token=symbols&format=symbols", "x")
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Zero(t, w.countObjects(t), "the object is there already")
}

// A token with the scope stores rows and tasks; the same file again is the same row.
func TestSymbolFileIsStored(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	_, err := s.db.ExecContext(t.Context(), `update crash_tokens set scopes = '{symbol:post}'`)
	require.NoError(t, err)
	status, first := s.post(t, "/post?token=one&format=proguard&symbolication_id=abc", "text/plain", "a.B -> c:\n")
	require.Equal(t, 200, status, first)
	status, again := s.post(t, "/post?token=one&format=proguard&symbolication_id=abc", "text/plain", "a.B -> c:\n")
	require.Equal(t, 200, status, again)
	require.Equal(t, first["_rxid"], again["_rxid"])
	symbol := first["symbol"].(map[string]any)
	require.Equal(t, "pending", symbol["state"])
	require.Equal(t, "abc", symbol["given_id"])
	require.Equal(t, symbol, again["symbol"])
	require.Equal(t, 1, s.count(t, `select count(*) from symbols where format = 'proguard' and source = 'post'`))
	require.Equal(t, 1, s.count(t,
		`select count(*) from tasks where kind = 'symbol:index' and (payload->>'symbol_id')::bigint = (select id from symbols)`))
	require.Equal(t, 1, s.count(t, `select count(*) from audit_events where type = 1540`))

	// Another project, and another id, are other places.
	for _, target := range []string{"/post?token=two&format=proguard&symbolication_id=abc",
		"/post?token=one&format=proguard&symbolication_id=abd"} {
		status, _ := s.post(t, target, "text/plain", "a.B -> c:\n")
		require.Equal(t, 200, status)
	}
	require.Equal(t, 3, s.count(t, `select count(*) from symbols`))
	s.requireObjectsOf(t, storedfile.Prefix, 3)
}

// requireObjectsOf waits for the removal of objects, which follows the answer.
func (s *server) requireObjectsOf(t *testing.T, prefix string, want int) {
	t.Helper()
	require.Eventually(t, func() bool {
		list, err := s.objects.List(t.Context(), prefix, "", 100)
		return err == nil && len(list) == want
	}, time.Minute, 5*time.Millisecond)
}
