package abuse

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/bench/schedule"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
)

// chaosExample is what clients were told, and what is there when all is well: two builds
// from before the webhooks, two of each organization after.
func chaosExample() (*chaosAnswered, *chaosStored) {
	crashes := []uuid.UUID{{1}, {2}, {3}}
	runs := []uuid.UUID{{11}, {12}}
	answered := &chaosAnswered{Crashes: crashes, Builds: []int64{1, 2, 3, 4}, Earlier: []int64{1, 2}, Runs: runs, Unanswered: 1}
	return answered, &chaosStored{
		Accepted: []uuid.UUID{{2}, {1}, {3}},
		Crashes:  []uuid.UUID{{3}, {1}, {2}},
		Groups:   []chaosGroup{{ID: 7, Count: 2, Crashes: 2}, {ID: 8, Count: 1, Crashes: 1}},
		Builds:   []chaosBuild{{1, 31}, {2, 32}, {3, 31}, {4, 32}},
		Webhooks: []chaosWebhook{{21, 31}, {22, 32}},
		Events:   []chaosEvent{{"a", 3, 21}, {"b", 4, 22}},
		Received: []string{"b", "a"},
		Runs:     []chaosRun{{uuid.UUID{11}, "PASSED"}, {uuid.UUID{12}, "PASSED"}, {uuid.UUID{13}, "PASSED"}},
	}
}

func TestChaosExpectsNoEventOfBuildsFromBeforeTheWebhooks(t *testing.T) {
	t.Parallel()
	answered, stored := chaosExample()
	rows := compareChaos(answered, stored)
	require.Equal(t, "events of builds expected; delivered, received", rows[2].what)
	require.Equal(t, "2; 2, 2", rows[2].text(), "four builds, of which two are older than the webhooks")
	for _, r := range rows {
		require.True(t, r.met, "%s: %s", r.what, r.text())
		require.Empty(t, r.ids, r.what)
	}
	answered.Earlier = nil
	rows = compareChaos(answered, stored)
	require.False(t, rows[2].met)
	require.Equal(t, "4; 2, 2; without an event: 1 at webhook 21, 2 at webhook 22", rows[2].text())
}

func TestChaosNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*chaosAnswered, *chaosStored)
		row    int
		want   string
	}{
		"a crash is lost": {func(_ *chaosAnswered, s *chaosStored) {
			s.Accepted = s.Accepted[:2]
			s.Crashes = s.Crashes[1:]
			s.Groups = s.Groups[:1]
		}, 0, "3; 2, 2, 2; missing: 03000000-0000-0000-0000-000000000000"},
		"a crash waits": {func(_ *chaosAnswered, s *chaosStored) {
			s.Crashes = s.Crashes[1:]
			s.Groups = s.Groups[:1]
		}, 0, "3; 3, 2, 2; stored, not processed: 03000000-0000-0000-0000-000000000000"},
		"a crash is there twice": {func(_ *chaosAnswered, s *chaosStored) { s.Crashes = append(s.Crashes, uuid.UUID{1}) },
			0, "3; 3, 4, 3; twice: 01000000-0000-0000-0000-000000000000"},
		"a crash was counted twice": {func(_ *chaosAnswered, s *chaosStored) { s.Groups[0].Count = 3 },
			0, "3; 3, 3, 4; groups that count otherwise: 7 (counts 3, has 2)"},
		"a build is lost": {func(_ *chaosAnswered, s *chaosStored) { s.Builds = s.Builds[:3] }, 1, "4; 3; missing: 4"},
		"a build was stored without an answer": {func(_ *chaosAnswered, s *chaosStored) { s.Builds = append(s.Builds, chaosBuild{5, 33}) },
			1, "4; 5; stored without an answer: 5"},
		"an event is lost": {func(_ *chaosAnswered, s *chaosStored) { s.Events = s.Events[1:] }, 2, "2; 1, 1; without an event: 3 at webhook 21"},
		"an event is there twice": {func(_ *chaosAnswered, s *chaosStored) {
			s.Events = append(s.Events, chaosEvent{"c", 3, 21})
			s.Received = append(s.Received, "c")
		}, 2, "2; 3, 3; with an event too many: 3 at webhook 21"},
		"an event of an older build": {func(_ *chaosAnswered, s *chaosStored) {
			s.Events = append(s.Events, chaosEvent{"c", 1, 21})
			s.Received = append(s.Received, "c")
		}, 2, "2; 3, 3; with an event that nobody awaits: 1 at webhook 21"},
		"one lost, one too many: the counts agree": {func(_ *chaosAnswered, s *chaosStored) {
			s.Events[0].Build, s.Events[0].Webhook = 4, 22
		}, 2, "2; 2, 2; without an event: 3 at webhook 21; with an event too many: 4 at webhook 22"},
		"an event was not received": {func(_ *chaosAnswered, s *chaosStored) { s.Received = s.Received[1:] },
			2, "2; 2, 1; delivered, but not received: b"},
		"a run is lost": {func(_ *chaosAnswered, s *chaosStored) { s.Runs = s.Runs[1:] }, 3,
			"2, 1; 2, 2; missing: 0b000000-0000-0000-0000-000000000000"},
		"an event went to the webhook of another organization": {func(_ *chaosAnswered, s *chaosStored) { s.Events[0].Webhook = 22 },
			2, "2; 2, 2; without an event: 3 at webhook 21; with an event that nobody awaits: 3 at webhook 22"},
		"a run was stored twice, under two ids": {func(_ *chaosAnswered, s *chaosStored) {
			s.Runs = append(s.Runs, chaosRun{uuid.UUID{14}, "PASSED"})
		}, 3, "2, 1; 4, 4; stored without an answer: 0d000000-0000-0000-0000-000000000000, 0e000000-0000-0000-0000-000000000000"},
		"no start without a response, but a run that nobody knows": {func(a *chaosAnswered, _ *chaosStored) { a.Unanswered = 0 },
			3, "2, 0; 3, 3; stored without an answer: 0d000000-0000-0000-0000-000000000000"},
		"a run did not end": {func(_ *chaosAnswered, s *chaosStored) { s.Runs[2].State = "RUNNING" },
			3, "2, 1; 3, 2; ended otherwise, or not: 0d000000-0000-0000-0000-000000000000 RUNNING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answered, stored := chaosExample()
			c.change(answered, stored)
			rows := compareChaos(answered, stored)
			require.False(t, rows[c.row].met)
			require.Equal(t, c.want, rows[c.row].text())
		})
	}
}

func TestChaosMissesWhatWasNotDone(t *testing.T) {
	t.Parallel()
	earlier := &chaosAnswered{Builds: []int64{1}, Earlier: []int64{1}}
	for _, r := range append(compareChaos(&chaosAnswered{}, &chaosStored{}),
		compareChaos(earlier, &chaosStored{Builds: []chaosBuild{{1, 31}}})...) {
		require.False(t, r.met, r.what)
	}
}

func TestStartsOfRunsAreToldApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		respond           http.HandlerFunc
		again, unanswered int
		runs              int
		wrong             string
	}{
		"stored": {respond: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"data":{"id":"0b000000-0000-0000-0000-000000000000"}}`))
		}, runs: 1},
		"busy":        {respond: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, again: 1},
		"limited":     {respond: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, again: 1},
		"killed":      {respond: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, again: 1, unanswered: 1},
		"gone":        {again: 1},
		"not found":   {respond: http.NotFound, wrong: "start of a run: 404: 404 page not found"},
		"broken":      {respond: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oh", 500) }, wrong: "start of a run: 500: oh"},
		"not allowed": {respond: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", 400) }, wrong: "start of a run: 400: no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.respond)
			defer server.Close()
			if c.respond == nil {
				server.Close()
			}
			l := &chaosLoad{bases: []string{server.URL}}
			l.startRun(t.Context(), &tenant{})
			require.Equal(t, c.again, l.again)
			require.Equal(t, c.unanswered, l.answered.Unanswered)
			require.Len(t, l.answered.Runs, c.runs)
			if c.wrong == "" {
				require.NoError(t, l.wrong)
				return
			}
			require.ErrorContains(t, l.wrong, c.wrong)
		})
	}
}

// programMember is a member whose program is a script.
func programMember(t *testing.T, script string) *schedule.Member {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "slipway")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o700))
	m := &schedule.Member{Fleet: &schedule.Fleet{Binary: program}, Tier: "worker", Port: "1", Log: filepath.Join(dir, "log")}
	require.NoError(t, m.Start())
	t.Cleanup(func() { _ = m.Kill() })
	return m
}

func TestAKillSeesWhatEndedByItself(t *testing.T) {
	t.Parallel()
	require.NoError(t, programMember(t, "exec sleep 100").Kill())
	m := programMember(t, "echo 'panic: oh no' >&2\necho >&2\necho 'goroutine 1 [running]:' >&2\nexit 2")
	<-m.Ended
	require.EqualError(t, m.Kill(), "slipway worker ended by itself: exit status 2: panic: oh no")
	require.Equal(t, []string{"slipway worker ended by itself: exit status 2: panic: oh no"}, endedByThemselves([]*schedule.Member{m}))
	require.NoError(t, m.Start())
	<-m.Ended
	kills, ended, err := killInTurn(t.Context(), []*schedule.Member{m}, time.Nanosecond)
	require.NoError(t, err)
	require.Len(t, ended, kills)
	require.Equal(t, "the last line", schedule.LastWords("a line\nthe last line\n"))
}

func TestAMissedRowIsAnError(t *testing.T) {
	t.Parallel()
	b := &bench{}
	b.row("chaos", "figure without a target", "", "", "", false)
	b.row("chaos", "builds", "", "", "none lost", true)
	require.NoError(t, b.verdict())
	b.row("chaos", "runs", "", "", "none lost", false)
	require.EqualError(t, b.verdict(), "missed: runs")
}

func TestManyIDsAreCounted(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"missing: 1, 2, 3, 4, 5, and 2 more"}, nameIDs("missing", []int{1, 2, 3, 4, 5, 6, 7}))
	require.Empty(t, nameIDs[int]("missing", nil))
}

// newFleet is a fleet without processes, with an organization.
func newFleet(t *testing.T) *schedule.Fleet {
	t.Helper()
	f := fixture.Empty(t)
	f.Bootstrap("")
	return &schedule.Fleet{DB: f.DB}
}

// The queries fit the schema.
func TestChaosIsRead(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	stored, err := readChaos(t.Context(), f)
	require.NoError(t, err)
	require.Equal(t, &chaosStored{}, stored)
	open, err := countOpen(t.Context(), f)
	require.NoError(t, err)
	require.Zero(t, open)
}
