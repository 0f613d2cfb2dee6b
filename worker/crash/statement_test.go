package crash

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/count"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/proguard"
	"github.com/slipway-qa/slipway/storage/symbol/sourcemap"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
	"github.com/slipway-qa/slipway/worker/symbols/library"
)

// countedWorld is a world whose statements are counted, with a library of symbol files.
type countedWorld struct {
	*world
	counter       count.Counter
	library       *library.Library
	warm, waiting *symbolicate.Library
}

func newCountedWorld(t *testing.T) *countedWorld {
	t.Helper()
	c := &countedWorld{}
	db, err := storage.Open(storage.Config{URL: servicetest.DatabaseURL(t), WrapConnector: c.counter.Connector})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	store, err := crash.New(db)
	require.NoError(t, err)
	c.world = &world{t: t, db: db, store: store, ledger: ledger.New(db), seen: map[string]int{}}
	c.objects, err = object.Open(t.Context(), object.Config{URL: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.objects.Close() })
	c.org = c.newOrganization("one")
	c.project = c.newProject(c.org)
	c.library, err = library.New(library.Config{DB: db, Objects: c.objects, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	c.warm, c.waiting = symbolicate.NewLibraries(db, c.library)
	return c
}

// symbolFile stores an index with identifiers, as symbol:index does.
func (w *world) symbolFile(tb testing.TB, kind symbol.Kind, index []byte, ids ...symbol.Identifier) {
	tb.Helper()
	key := symbolfile.IndexPrefix + uuid.NewString()
	_, err := object.Put(tb.Context(), w.objects, key, bytes.NewReader(index), int64(len(index)), object.WriteOptions{})
	require.NoError(tb, err)
	require.NoError(tb, w.db.InTx(tb.Context(), func(tx *storage.Tx) error {
		stored, err := symbolfile.Insert(tb.Context(), tx, symbolfile.New{OrganizationID: w.org, Name: "upload", Source: symbolfile.SourceAPI,
			TaskID: uuid.New(), File: storedfile.NewFile{Key: storedfile.Prefix + uuid.NewString(), Size: 1,
				SHA256: strings.Repeat("0", 28) + uuid.NewString()}})
		if err != nil {
			return err
		}
		return symbolfile.RecordFiles(tb.Context(), tx, stored.Upload.ID,
			[]symbolfile.File{{Kind: kind, State: symbolfile.Indexed, SHA256: uuid.NewString(),
				Features: []string{"functions"}, IndexKey: key, IndexSize: int64(len(index)), Identifiers: ids}}, "", "")
	}))
}

// mapIndex is the index of a source map of one line for each of the script.
func mapIndex(tb testing.TB, lines int) []byte {
	tb.Helper()
	text := `{"version":3,"file":"x.js","sources":["src/cart.ts"],"names":["price"],"mappings":"AAAAA,CAAC,CAAC` +
		strings.Repeat(";AACA,CAAC", lines) + `"}`
	var index bytes.Buffer
	_, err := sourcemap.Index(strings.NewReader(text), int64(len(text)), &index, sourcemap.Options{})
	require.NoError(tb, err)
	return index.Bytes()
}

func scriptURL(value string) symbol.Identifier {
	return symbol.Identifier{Type: symbol.URL, Value: value}
}

// manyFiles are a mapping, a script that names its map, and maps of some dozen scripts.
func (w *countedWorld) manyFiles() {
	w.t.Helper()
	const mapping = "org.example.Cart -> a.b:\n    1:3:void price(int):10:12 -> c\n"
	var index bytes.Buffer
	_, err := proguard.Index(strings.NewReader(mapping), int64(len(mapping)), &index, proguard.Options{})
	require.NoError(w.t, err)
	w.symbolFile(w.t, symbol.ProGuard, index.Bytes(), symbol.Identifier{Type: symbol.MappingID, Value: "m"})
	script := mapIndex(w.t, 3)
	for i := range 40 {
		w.symbolFile(w.t, symbol.SourceMap, script, scriptURL(fmt.Sprintf("~/srv/app/dist/file%d.js.map", i)))
	}
	w.symbolFile(w.t, symbol.SourceMap, script, scriptURL("~/static/maps/main.map"))
	const text = "let a=1;\n//# sourceMappingURL=maps/main.map\n"
	index.Reset()
	_, err = sourcemap.IndexScript(strings.NewReader(text), int64(len(text)), &index, sourcemap.Options{})
	require.NoError(w.t, err)
	w.symbolFile(w.t, symbol.Source, index.Bytes(), scriptURL("https://shop.example.com/static/main.js"))
	w.symbolFile(w.t, symbol.Source, index.Bytes(), scriptURL("src/cart.ts"))
}

// manyShapes is a report of Node, a browser, Java or native code, whose frames name many files.
func manyShapes(i int) doc {
	d := doc{uuid: uuid.New(), at: time.Now()}
	var frames []string
	lang, member, more := "nodejs", "", ""
	attributes := fmt.Sprintf(`"application.version":"2.%d.0","hostname":"h"`, i%5)
	for n := range 12 {
		at := (i*7 + n*11) % 484
		switch i % 4 {
		case 0:
			frames = append(frames, fmt.Sprintf(`{"funcName":"f%d","library":"/srv/app/dist/file%d.js","line":1,"column":%d}`, at, at, n%3+1))
		case 1:
			lang = "javascript"
			frames = append(frames, fmt.Sprintf(`{"funcName":"f%d","library":"https://shop.example.com/static/main%s.js","line":1,"column":2}`, at,
				[]string{"", fmt.Sprint(at)}[n%2]))
		case 2:
			lang, member = "java", `"symbolication":"proguard",`
			attributes = fmt.Sprintf(`"application.version":"2.%d.0","symbolication_id":%q`, i%5, []string{"m", fmt.Sprint("m", at)}[i/4%2])
			frames = append(frames, `{"funcName":"a.b.c","line":"1"}`)
		case 3:
			lang = "c"
			frames = append(frames, fmt.Sprintf(`{"address":"%d"}`, 0x400010+n))
			more = fmt.Sprintf(`,"modules":[{"start":"0x400000","size":65536,"code_file":"/opt/shop",`+
				`"debug_identifier":"C1A2B3C4D5E6F708192A3B4C5D6E%04d0"}]`, at)
		}
	}
	d.raw = fmt.Sprintf(`{"uuid":%q,"timestamp":%d,"lang":%q,"langVersion":"1","agent":"a","agentVersion":"1",%s"mainThread":"0",`+
		`"threads":{"0":{"stack":[%s]}},"classifiers":["E"],"attributes":{%s}%s}`,
		d.uuid, d.at.Unix(), lang, member, strings.Join(frames, ","), attributes, more)
	return d
}

// statements processes reports of one claim and returns what it took.
func (w *countedWorld) statements(reports int) count.Asked {
	w.t.Helper()
	for from := 0; from < reports; from += 64 {
		var docs []doc
		for i := range 64 {
			docs = append(docs, manyShapes(from+i))
		}
		w.accept(docs...)
	}
	p := &Process{Store: w.store, Symbols: w.warm, PartTime: time.Hour, Log: slog.New(slog.DiscardHandler)}
	return w.counter.During(func() {
		require.NoError(w.t, p.Handle(w.t.Context(), w.claim(tasks.CrashProcess, uuid.Nil)))
	})
}

// The statements of a claim are as many for 64 reports as for 256, whatever they look for.
func TestStatementsOfAClaim(t *testing.T) {
	t.Parallel()
	const most = 48
	for _, c := range []struct {
		name  string
		files bool
	}{{"no symbol files", false}, {"with symbol files", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked [2]count.Asked
			for i, reports := range []int{64, 256} {
				w := newCountedWorld(t)
				if c.files {
					w.manyFiles()
				}
				asked[i] = w.statements(reports)
				require.EqualValues(t, reports, w.number(`select count(*) from crashes`))
				require.LessOrEqual(t, len(asked[i].SQL), most, asked[i])
			}
			require.Len(t, asked[1].SQL, len(asked[0].SQL), "%s%s", asked[0], asked[1])
		})
	}
}

// What a claim has asked the next ones know, until a file comes.
func TestStatementsOfTheNextClaim(t *testing.T) {
	t.Parallel()
	w := newCountedWorld(t)
	w.manyFiles()
	finds := func(a count.Asked) (n int) {
		for _, s := range a.SQL {
			if strings.Contains(s, "symbol_identifiers") && strings.Contains(s, "cross join lateral") && strings.Contains(s, "with ordinality") {
				n++
			}
		}
		return n
	}
	require.NotZero(t, finds(w.statements(64)))
	require.Zero(t, finds(w.statements(64)))
	w.symbolFile(t, symbol.SourceMap, []byte("x"), scriptURL("~/y"))
	require.NotZero(t, finds(w.statements(64)))
}

// Late files are asked for once for all crashes that lacked them.
func TestStatementsOfReadingAgain(t *testing.T) {
	t.Parallel()
	var asked [2]count.Asked
	for i, reports := range []int{64, 256} {
		w := newCountedWorld(t)
		w.statements(reports)
		w.manyFiles()
		var ids []uuid.UUID
		require.NoError(t, w.db.SelectContext(t.Context(), &ids, `select distinct crash_id from crash_lacks order by 1`))
		require.Greater(t, len(ids), reports/3)
		again := &rereader{store: w.store, reader: reader{symbols: w.waiting, log: slog.New(slog.DiscardHandler)}}
		asked[i] = w.counter.During(func() {
			crashes, err := again.read(t.Context(), w.org, ids)
			require.NoError(t, err)
			require.Len(t, crashes, len(ids))
		})
	}
	require.Len(t, asked[1].SQL, len(asked[0].SQL), "%s%s", asked[0], asked[1])
}

// fewGroups is a Java report of one of eight groups, which a mapping makes one.
func fewGroups(i int) doc {
	d := doc{uuid: uuid.New(), at: time.Now()}
	d.raw = fmt.Sprintf(`{"uuid":%q,"timestamp":%d,"lang":"java","langVersion":"1","agent":"a","agentVersion":"1","symbolication":"proguard",`+
		`"mainThread":"0","threads":{"0":{"stack":[{"funcName":"a.b.c%d","line":"1"}]}},"classifiers":["E"],`+
		`"attributes":{"application.version":"2.0.0","symbolication_id":"few","guid":"u%d","hostname":"h%d"}}`,
		d.uuid, d.at.Unix(), i%8, i, i%8)
	return d
}

// fewMapping is the mapping of fewGroups.
func (w *countedWorld) fewMapping() {
	w.t.Helper()
	mapping := "org.example.Cart -> a.b:\n"
	for i := range 8 {
		mapping += fmt.Sprintf("    1:3:void price(int):10:12 -> c%d\n", i)
	}
	var index bytes.Buffer
	_, err := proguard.Index(strings.NewReader(mapping), int64(len(mapping)), &index, proguard.Options{})
	require.NoError(w.t, err)
	w.symbolFile(w.t, symbol.ProGuard, index.Bytes(), symbol.Identifier{Type: symbol.MappingID, Value: "few"})
}

// Crashes that get other keys are moved by as many statements whether they are 64 or 256: the
// groups that they leave and come to count, not they.
func TestStatementsOfMovingWhatIsReadAgain(t *testing.T) {
	t.Parallel()
	const most = 130
	for _, c := range []struct {
		name    string
		younger bool // a younger group has the key that all get
	}{{"to a key that is new", false}, {"to the key of a younger group", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked [2]count.Asked
			for i, reports := range []int{64, 256} {
				w := newCountedWorld(t)
				for from := 0; from < reports; from += 64 {
					var docs []doc
					for n := range 64 {
						docs = append(docs, fewGroups(from+n))
					}
					w.accept(docs...)
				}
				w.processFew()
				require.EqualValues(t, 8, w.number(`select count(*) from crash_groups`))
				w.fewMapping()
				if c.younger {
					w.accept(fewGroups(0))
					w.processFew()
					require.EqualValues(t, 9, w.number(`select count(*) from crash_groups`))
				}
				asked[i] = w.readFewAgain(reports)
				require.EqualValues(t, 1, w.number(`select count(*) from crash_groups where merged_into is null`))
				require.LessOrEqual(t, len(asked[i].SQL), most, asked[i])
			}
			require.Len(t, asked[1].SQL, len(asked[0].SQL), "%s%s", asked[0], asked[1])
		})
	}
}

// processFew processes what was accepted, with the indexes that are there.
func (w *countedWorld) processFew() {
	w.t.Helper()
	p := &Process{Store: w.store, Symbols: w.waiting, PartTime: time.Hour, Log: slog.New(slog.DiscardHandler)}
	require.NoError(w.t, p.Handle(w.t.Context(), w.claim(tasks.CrashProcess, uuid.Nil)))
}

// readFewAgain moves the crashes that lack a file and returns what that took.
func (w *countedWorld) readFewAgain(reports int) count.Asked {
	w.t.Helper()
	var ids []uuid.UUID
	require.NoError(w.t, w.db.SelectContext(w.t.Context(), &ids, `select distinct crash_id from crash_lacks order by 1`))
	require.Len(w.t, ids, reports)
	again := &rereader{store: w.store, reader: reader{symbols: w.waiting, log: slog.New(slog.DiscardHandler)}}
	crashes, err := again.read(w.t.Context(), w.org, ids)
	require.NoError(w.t, err)
	return w.counter.During(func() {
		require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
			done, err := crash.ReadAgain(w.t.Context(), tx, w.org, crashes)
			require.Equal(w.t, reports, done.Changed)
			return err
		}))
	})
}
