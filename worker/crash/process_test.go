package crash

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/tasks"
)

func TestProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	given := uuid.New()
	ids := w.accept(
		doc{function: "f", attributes: `"version":"1","hostname":"h"`},
		doc{function: "f", attributes: `"_mod_duplicate":"4"`},
		doc{function: "x", more: `,"fingerprint":"` + strings.Repeat("A", 43) + `="`},
		doc{function: "y", uuid: given, more: `,"fingerprint":"` + strings.Repeat("A", 43) + `="`})
	w.accept(doc{uuid: given, function: "z"})
	claim := w.claim(tasks.CrashProcess, uuid.Nil)
	require.Len(t, claim.Tasks, 2, "one claim merges")
	require.NoError(t, w.processor().Handle(t.Context(), claim))
	require.Equal(t, map[string]int{"processed": 5}, w.seen)
	require.EqualValues(t, 2, w.number(`select count(*) from tasks where state = 'succeeded'`))
	require.EqualValues(t, 5, w.number(`select max(count) from crash_groups`))
	require.EqualValues(t, 2, w.number(`select count from crash_groups where algorithm = 0`), "given fingerprints")
	require.EqualValues(t, 1, w.number(`select count(*) from crashes where uuid_conflict_of = $1`, ids[3]))

	d, err := reading.CrashByID(t.Context(), w.store, w.org, ids[0])
	require.NoError(t, err)
	require.Equal(t, "1", d.Version)
	require.Equal(t, "h", d.Host)
	require.Contains(t, string(d.Explanation), `"source":"stack"`)

	// Twice is once: the second claim is refused as a whole.
	require.ErrorIs(t, w.processor().Handle(t.Context(), claim), storage.ErrStale)
	require.EqualValues(t, 5, w.number(`select count(*) from crashes`))
}

func TestExamine(t *testing.T) {
	t.Parallel()
	body := []byte("not json")
	good := doc{function: "f"}.bytes()
	b := &received.Batch{ID: uuid.New(), ReceivedAt: time.Now(), Body: append(body, good...), Entries: []received.Entry{
		{Start: 0, End: 8}, {Start: 8, End: 8 + len(good), Format: "minidump"}, {Start: 9, End: 5}, {Start: 8, End: 8 + len(good)}}}
	for entry, want := range []crash.State{crash.Failed, crash.Stored, crash.Failed, crash.Processed} {
		r := &reader{}
		p := r.parse(b, entry)
		c := p.crash
		if p.report != nil {
			c = r.grouped(t.Context(), &p, nil, nil)
		}
		require.Equal(t, want, c.State)
		require.Equal(t, want == crash.Failed, c.Error != "")
		require.Equal(t, want == crash.Processed, c.Group != nil)
		require.Equal(t, byte(entry), c.ID[15])
	}
}

func TestClamp(t *testing.T) {
	t.Parallel()
	received := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for seconds, want := range map[int64]time.Time{
		received.Unix() - 60:   received.Add(-time.Minute),
		received.Unix() + 3600: received.Add(time.Hour),
		received.Unix() + 3601: received.Add(time.Hour),
		0:                      received.AddDate(-1, 0, 0),
		-1 << 62:               received.AddDate(-1, 0, 0),
		1<<63 - 1:              received.Add(time.Hour),
	} {
		require.True(t, want.Equal(clampTime(seconds, received)), "%d", seconds)
	}
}

// PostgreSQL takes whatever the attributes become.
func TestAttributes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for in, want := range map[string]string{
		`"a":"x","b":true,"c":null,"d":1.5`:       `{"a":"x","b":true,"c":null,"d":1.5}`,
		`"a":"\u0000\ud800\"\\\n"`:                `{"a":"\ufffd\ufffd\"\\\n"}`,
		`"a":1e39`:                                `{"a":1000000000000000000000000000000000000000}`,
		`"a":1e400`:                               `{"a":"1e400"}`,
		`"a":-1e300`:                              `{"a":"-1e300"}`,
		`"a":1e-20000`:                            `{"a":"1e-20000"}`,
		`"a":1,"a":2`:                             `{"a":2}`,
		`"` + strings.Repeat("k", 300) + `":1`:    `{"` + condition.IndexedKey(strings.Repeat("k", 300)) + `":1}`,
		`"a":"` + strings.Repeat("v", 5000) + `"`: `{"a":"` + condition.IndexedValue(strings.Repeat("v", 5000)) + `"}`,
	} {
		r, err := report.Parse(doc{function: "f", attributes: in}.bytes())
		require.NoError(t, err)
		var got string
		require.NoError(t, w.db.GetContext(t.Context(), &got, `select ($1::jsonb)::text`, attributes(r)), in)
		require.JSONEq(t, want, got)
	}
	for in, want := range map[string]int{`"_mod_duplicate":"7"`: 7, `"_mod_duplicate":7`: 7, `"_mod_duplicate":"-1"`: 1,
		`"_mod_duplicate":"9999999999"`: MaxDuplicates, `"_mod_duplicate":"99999999999999999999"`: MaxDuplicates,
		`"_mod_duplicate":"-99999999999999999999"`: 1, `"_mod_duplicate":"x"`: 1, ``: 1} {
		r, err := report.Parse(doc{function: "f", attributes: in}.bytes())
		require.NoError(t, err)
		require.Equal(t, want, duplicates(r), in)
	}
}

// A report that the database refuses fails alone, wherever it stands.
func TestRefusedReportFailsAlone(t *testing.T) {
	t.Parallel()
	for _, bad := range []int{0, 3, 7} {
		w := newWorld(t)
		_, err := w.db.ExecContext(t.Context(), `
			create function refuse() returns trigger language plpgsql as $$ begin
				if new.attributes ? 'poison' then raise exception 'refused' using errcode = '22003'; end if;
				return new;
			end $$;
			create trigger refuse before insert on crashes for each row execute function refuse()`)
		require.NoError(t, err)
		var docs []doc
		for i := range 8 {
			d := doc{function: "f"}
			if i == bad {
				d.attributes = `"poison":1`
			}
			docs = append(docs, d)
		}
		ids := w.accept(docs...)
		w.process()
		require.Equal(t, map[string]int{"processed": 7, "failed": 1}, w.seen)
		require.EqualValues(t, 7, w.number(`select count from crash_groups`))
		d, err := reading.CrashByID(t.Context(), w.store, w.org, ids[bad])
		require.NoError(t, err)
		require.Equal(t, crash.Failed, d.State)
		require.Contains(t, *d.Error, "refused")
		require.Contains(t, string(d.Document), "poison", "its bytes stay readable")
	}
}

// A batch whose bytes are broken fails alone, however many are merged with it.
func TestBrokenBatchFailsAlone(t *testing.T) {
	t.Parallel()
	for name, breakage := range map[string]string{
		"body":     `update crash_batches set body = 'no zstd' where id = $1`,
		"cut body": `update crash_batches set body = substr(body, 1, length(body) - 9) where id = $1`,
		"entries":  `update crash_batches set entries = '{"a":1}' where id = $1`,
		"entry":    `update crash_batches set entries = '[1, 2]' where id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.accept(doc{function: "f"})
			broken := w.accept(doc{function: "f", attributes: `"user":"ann"`}, doc{function: "g"})
			after := w.accept(doc{function: "f"})
			batch, _ := received.SplitID(broken[0])
			_, err := w.db.ExecContext(t.Context(), breakage, batch)
			require.NoError(t, err)

			claim := w.claim(tasks.CrashProcess, uuid.Nil)
			require.Len(t, claim.Tasks, 3)
			require.NoError(t, w.processor().Handle(t.Context(), claim))
			require.Equal(t, map[string]int{"processed": 2, "failed": 2}, w.seen)
			var out ProcessResult
			w.result(batch, &out)
			require.Equal(t, ProcessResult{Failed: 2}, out)
			require.EqualValues(t, 2, w.number(`select count(*) from tasks where state = 'succeeded' and result is null`))
			for i, id := range append(append(before, after...), broken...) {
				d, err := reading.CrashByID(t.Context(), w.store, w.org, id)
				require.NoError(t, err)
				require.Equal(t, i >= 2, d.State == crash.Failed, d.State)
				require.Equal(t, i >= 2, d.Error != nil && *d.Error != "")
				require.Equal(t, i < 2, len(d.Document) > 0)
			}
			// Nor does it stop a purge.
			require.Zero(t, w.purge(tasks.CrashPurgePayload{Key: "user", Value: "ann"}))
		})
	}
}

// A phone sends an old crash late, and then one of a version from before the fix:
// neither opens the group again. A crash of now in the fixed version does.
func TestRegressionCountsByTheTimeOfTheCrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	report := func(version string, at time.Time) *reading.Group {
		w.accept(doc{function: "f", attributes: `"application.version":"` + version + `"`, at: at})
		w.process()
		id := w.number(`select id from crash_groups`)
		g, err := reading.GroupByID(t.Context(), w.db, w.org, id)
		require.NoError(t, err)
		return g
	}
	g := report("2.0", time.Now().Add(-time.Hour))
	state := crash.Resolved
	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		_, err := crash.ChangeGroup(t.Context(), tx, account.Writer{OrganizationID: w.org, Actor: account.CLI()}, g.ID,
			crash.GroupChange{State: &state, InVersion: "2.1"})
		return err
	}))
	require.Equal(t, crash.Resolved, report("2.1", time.Now().Add(-time.Minute)).State)
	require.Equal(t, crash.Resolved, report("2.0", time.Now()).State)
	g = report("2.1", time.Now())
	require.Equal(t, crash.Open, g.State)
	require.Equal(t, "2.1", g.RegressedIn)
	require.EqualValues(t, 4, g.Count, "all are counted")
}

// The users of a group are those that its reports name, each once.
func TestUsersAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var docs []doc
	for _, who := range []string{`"user.id":"ann","guid":"1"`, `"user.id":"ann","guid":"2"`, `"guid":"3"`, `"guid":"3"`,
		`"hostname":"localhost"`} {
		docs = append(docs, doc{function: "f", attributes: who})
	}
	w.accept(docs...)
	w.process()
	require.EqualValues(t, 1, w.number(`select count(*) from crash_groups`))
	require.EqualValues(t, 2, w.number(`select users from crash_groups`))
	require.EqualValues(t, 5, w.number(`select sum(count) from crash_group_hours`))
}
