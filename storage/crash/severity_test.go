package crash_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// A group is of the worst of its reports, also of those of its parts.
func TestSeverityOfGroups(t *testing.T) {
	t.Parallel()
	r := open(t)
	made := func(key string, s crash.Severity) crash.Crash {
		return r.Made(func(c *crash.Crash) { c.Group, c.Severity = crashtest.Grouping(key), s })
	}
	r.Record(made("caught", crash.Handled), made("slow", crash.Handled))
	r.Record(made("slow", crash.Hang), made("full", crash.OutOfMemory), made("full", crash.Hang), made("down", crash.SevereCrash))
	r.Record(made("slow", crash.Handled), made("old", ""))
	for key, want := range map[string]crash.Severity{"caught": crash.Handled, "slow": crash.Hang, "full": crash.OutOfMemory,
		"down": crash.SevereCrash, "old": crash.SevereCrash} {
		require.Equal(t, want, r.Group(key).Severity, key)
	}
	list := func(of ...crash.Severity) (titles int, reports int) {
		groups, total, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Severities: of, Limit: 10})
		require.NoError(t, err)
		require.Len(t, groups, total.Rows)
		rows, _, err := reading.List(t.Context(), r.DB, reading.ListFilter{OrganizationID: r.Org.ID, Severities: of, Limit: 20})
		require.NoError(t, err)
		for i := range rows {
			if len(of) > 0 {
				require.Contains(t, of, rows[i].Severity)
			}
		}
		return len(groups), len(rows)
	}
	for name, c := range map[string]struct {
		of              []crash.Severity
		groups, reports int
	}{
		"all": {nil, 5, 8}, "handled": {[]crash.Severity{crash.Handled}, 1, 3}, "hangs": {[]crash.Severity{crash.Hang}, 1, 2},
		"memory": {[]crash.Severity{crash.OutOfMemory}, 1, 1}, "crashes": {[]crash.Severity{crash.SevereCrash}, 2, 2},
		"no crashes": {[]crash.Severity{crash.Handled, crash.Hang, crash.OutOfMemory}, 3, 6},
	} {
		groups, reports := list(c.of...)
		require.Equal(t, c.groups, groups, name)
		require.Equal(t, c.reports, reports, name)
	}
	_, _, err := reading.List(t.Context(), r.DB, reading.ListFilter{OrganizationID: r.Org.ID, Severities: []crash.Severity{"bad"}, Limit: 1})
	require.ErrorContains(t, err, "severity")

	part := r.Group("full").ID
	_, _, err = r.merge(t.Context(), r.Org.ID, part, r.Group("caught").ID)
	require.NoError(t, err)
	require.Equal(t, crash.OutOfMemory, r.Group("caught").Severity)
	r.Record(made("full", crash.SevereCrash))
	require.Equal(t, crash.SevereCrash, r.Group("caught").Severity, "a report of the part")
	require.NoError(t, r.unmerge(part))
	require.Equal(t, crash.SevereCrash, r.Group("full").Severity, "a part keeps what came to it")
	require.Equal(t, crash.Handled, r.Group("caught").Severity, "the worst went with the part")
}

// Reports take their severity to the group that they go to, and leave none behind where they are
// removed.
func TestSeverityOfReportsThatGo(t *testing.T) {
	t.Parallel()
	r := open(t)
	made := func(stackName string, s crash.Severity) crash.Crash {
		id := uuid.New()
		receipts, _ := r.Accept(r.Incoming(id, crashtest.Document(id, "m")))
		return r.Made(func(c *crash.Crash) {
			c.ID, c.UUID, c.Group, c.StackKey, c.Severity = receipts[0].ID, id, crashtest.Grouping("k"), stack(stackName), s
		})
	}
	down := made("x", crash.SevereCrash)
	r.Record(down, made("x", crash.Hang), made("y", crash.Handled))
	to, key, err := r.split(r.Org.ID, r.Group("k").ID, byStack("y"))
	require.NoError(t, err)
	r.moveAll(key)
	g, err := reading.GroupByID(t.Context(), r.DB, r.Org.ID, to)
	require.NoError(t, err)
	require.Equal(t, crash.Handled, g.Severity)
	require.Equal(t, crash.SevereCrash, r.Group("k").Severity)

	plan, _, err := r.Store.PlanRemoval(t.Context(), r.Org.ID, []uuid.UUID{down.ID})
	require.NoError(t, err)
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := r.Store.Remove(ctx, tx, plan)
		return err
	})
	require.Equal(t, crash.Hang, r.Group("k").Severity)
}

// Only crashes count in the figures of a version that is free of them.
func TestOnlyCrashesEndSessions(t *testing.T) {
	t.Parallel()
	r := open(t)
	for i := range 4 {
		r.use(launch("1.0", fmt.Sprint("s", i), fmt.Sprint("u", i)))
	}
	for i, s := range crash.Severities() {
		r.Record(r.Made(func(c *crash.Crash) { crashed("1.0", fmt.Sprint("s", i), fmt.Sprint("u", i))(c); c.Severity = s }))
	}
	row := r.versions(reading.VersionFilter{})[0]
	require.Equal(t, reading.Figures{Sessions: 4, CrashedSessions: 1, Users: 4, CrashedUsers: 1}, row.Figures)
	require.EqualValues(t, 4, row.Crashes, "they are reports all the same")
}

func TestClockDrift(t *testing.T) {
	t.Parallel()
	received := time.Unix(1_700_000_000, 500)
	for sent, want := range map[int64]time.Duration{0: 0, -5: 0, 1_700_000_000: 0, 1_699_999_800: 0, 1_700_000_200: 0,
		1_699_900_000: 100_000 * time.Second, 1_700_100_000: -100_000 * time.Second, 1: 1_699_999_999 * time.Second} {
		require.Equal(t, want, crash.ClockDrift(sent, received), sent)
	}
}

func TestAllowedOrigins(t *testing.T) {
	t.Parallel()
	r := open(t)
	set := func(origins ...string) (*crashproject.Project, error) {
		var p *crashproject.Project
		err := r.DB.InTx(t.Context(), func(tx *storage.Tx) (err error) {
			p, err = crashproject.Update(t.Context(), tx, account.CLI(), r.Org.ID, r.Project, crashproject.Change{Origins: &origins})
			return err
		})
		return p, err
	}
	p, err := crashproject.ByID(t.Context(), r.DB, r.Org.ID, r.Project)
	require.NoError(t, err)
	require.Equal(t, []string{"*"}, []string(p.AllowedOrigins))
	p, err = set(" https://Shop.example/", "https://*.shop.example", "http://localhost:3000", "capacitor://localhost", "https://shop.example")
	require.NoError(t, err)
	require.Equal(t, []string{"https://shop.example", "https://*.shop.example", "http://localhost:3000", "capacitor://localhost"},
		[]string(p.AllowedOrigins))
	token := crash.Token{Origins: p.AllowedOrigins}
	for origin, want := range map[string]bool{"https://shop.example": true, "https://a.b.shop.example": true, "http://shop.example": false,
		"https://badshop.example": false, "http://localhost:3000": true, "http://localhost": false, "capacitor://localhost": true,
		"null": false, "": false, "https://shop.example.evil": false} {
		require.Equal(t, want, token.AllowsOrigin(origin), origin)
	}
	p, err = set("https://a", "*")
	require.NoError(t, err)
	require.Equal(t, []string{"*"}, []string(p.AllowedOrigins))
	token.Origins = p.AllowedOrigins
	require.True(t, token.AllowsOrigin("null"))
	_, err = set()
	require.NoError(t, err)
	for _, wrong := range []string{"shop.example", "https://", "https://a/b", "https://u@a", "https://a?x", "https://*",
		"https://a.*.b", "null", "https://a\x00", "https://a b"} {
		_, err = set(wrong)
		require.ErrorContains(t, err, "allowed_origins", "%q", wrong)
	}
}

func TestFeedback(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := uuid.New()
	receipts, _ := r.Accept(r.Incoming(id, `{"a":1}`))
	add := func(crashID uuid.UUID, text string) (uuid.UUID, error) {
		return r.Store.AddFeedback(t.Context(), crash.NewFeedback{OrganizationID: r.Org.ID, ProjectID: r.Project, CrashID: crashID,
			Name: " Ann ", Email: "ann@shop.example", Text: text})
	}
	for _, of := range []uuid.UUID{receipts[0].ID, id, id} { // pending, by either id, and again
		found, err := add(of, " I pressed pay.\nTwice. ")
		require.NoError(t, err)
		require.Equal(t, receipts[0].ID, found)
	}
	list, err := crash.FeedbackOf(t.Context(), r.DB, r.Org.ID, receipts[0].ID)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "Ann ann@shop.example I pressed pay.\nTwice.", list[0].Name+" "+list[0].Email+" "+list[0].Text)
	none, err := crash.FeedbackOf(t.Context(), r.DB, r.Rival.ID, receipts[0].ID)
	require.NoError(t, err)
	require.Empty(t, none)
	for range 30 {
		_, err = add(receipts[0].ID, uuid.NewString())
	}
	require.ErrorIs(t, err, crash.ErrTooMuchFeedback)
	_, err = add(uuid.New(), "x")
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = r.Store.AddFeedback(t.Context(), crash.NewFeedback{OrganizationID: r.Rival.ID, ProjectID: r.RivalProject,
		CrashID: receipts[0].ID, Text: "x"})
	require.ErrorIs(t, err, storage.ErrNotFound, "another organization's")

	c := r.Made(func(c *crash.Crash) { c.ID = receipts[0].ID; c.UUID = id })
	r.Record(c)
	group := r.Group("k").ID
	page, total, err := crash.FeedbackOfGroup(t.Context(), r.DB, r.Org.ID, group, storage.FirstPage())
	require.NoError(t, err)
	require.Equal(t, 20, total)
	require.Len(t, page, 20)
	require.Greater(t, page[0].ID, page[1].ID)
	_, total, err = crash.FeedbackOfGroup(t.Context(), r.DB, r.Rival.ID, group, storage.FirstPage())
	require.NoError(t, err)
	require.Zero(t, total)

	for _, wrong := range []crash.NewFeedback{{Text: ""}, {Text: "a\x00"}, {Text: "x", Email: "ann"},
		{Text: "x", Email: "Ann <a@b.c>"}, {Text: "x", Name: "a\nb"},
		{Text: string(make([]byte, 9000))}} {
		var invalid *storage.InvalidError
		require.ErrorAs(t, wrong.Clean(), &invalid, "%.20q", wrong)
	}
}
