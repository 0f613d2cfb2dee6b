package processtest

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSchedules tells the story of a team that leaves its tests to the clock:
// schedules fire on time, are skipped while they run, end, fail and are mended.
func TestSchedules(t *testing.T) {
	t.Parallel()
	in := startUp(t, t.TempDir())
	s := &scheduleStory{runStory: runStory{tester: newTester(in), t: t, in: in, site: newSite(t)}, user: in.boot.Owner.UUID.String()}
	id := s.fires()
	s.byHand(id)
	s.fails()
	s.isRefused()
	s.ok(t, http.StatusNoContent, http.MethodDelete, schedulesPath+"/"+id, nil, nil)
	s.refused(t, http.StatusNotFound, "TEST_SCHEDULE_NOT_FOUND", http.MethodGet, schedulesPath+"/"+id, nil)
	require.Zero(t, in.signal(t, os.Interrupt))
	checkNoSecrets(t, in)
}

const schedulesPath = "/test-schedules"

type scheduleStory struct {
	runStory
	user string // the owner's id
}

// scheduled is a schedule as the interface answers.
type scheduled struct {
	ID              string
	CronDescription string
	State           struct {
		StateName                string
		RunCount                 int
		LastRunDate, NextRunDate *time.Time
		RemainingRuns            *int
		LastRunError             string
	}
}

// fired is a fire of a schedule as the interface answers.
type fired struct {
	FireDate, CreationDate   time.Time
	Trigger, Outcome, Reason string
	SuiteRuns                []struct{ ID, TestSuiteID, BuildName, Status string }
}

func (s *scheduleStory) settings(cron string, more obj) obj {
	settings := obj{"cron": cron, "timezone": "Europe/Berlin", "runningUserId": s.user}
	for k, v := range more {
		settings[k] = v
	}
	return settings
}

// suite creates a suite of a case whose test takes some seconds.
func (s *scheduleStory) suite(name string) (suite, testCase string) {
	s.t.Helper()
	testCase = s.add(name, []obj{openPage(s.site.URL + "/"), {"tool": obj{"type": "pause", "args": obj{"time": 2500}}},
		assertText("#login", "Log in")}, nil).ID
	var made struct{ ID string }
	s.ok(s.t, http.StatusCreated, http.MethodPost, "/testsuites", obj{"name": name, "testCases": []string{testCase}}, &made)
	return made.ID, testCase
}

func (s *scheduleStory) create(body obj) scheduled {
	s.t.Helper()
	var made scheduled
	s.ok(s.t, http.StatusCreated, http.MethodPost, schedulesPath, body, &made)
	return made
}

func (s *scheduleStory) get(id string) scheduled {
	s.t.Helper()
	var got scheduled
	s.ok(s.t, http.StatusOK, http.MethodGet, schedulesPath+"/"+id, nil, &got)
	return got
}

// await waits until a schedule has a state.
func (s *scheduleStory) await(id, state string) (got scheduled) {
	s.t.Helper()
	eventually(s.t, "the schedule is "+state, func() bool {
		got = s.get(id)
		return got.State.StateName == state
	})
	return got
}

// history returns the fires of an outcome, "" for all, latest first.
func (s *scheduleStory) history(id, outcome string) (of []fired) {
	s.t.Helper()
	var list struct{ Items []fired }
	s.ok(s.t, http.StatusOK, http.MethodGet, schedulesPath+"/"+id+"/runs?limit=100", nil, &list)
	for _, f := range list.Items {
		if outcome == "" || f.Outcome == outcome {
			of = append(of, f)
		}
	}
	return of
}

// passed waits for the suite runs of a fire.
func (s *scheduleStory) passed(f fired) {
	s.t.Helper()
	require.NotEmpty(s.t, f.SuiteRuns)
	for _, r := range f.SuiteRuns {
		require.Equal(s.t, "PASSED", s.wait("/testsuites/"+r.TestSuiteID+"/runs/"+r.ID).Status)
	}
}

// fires every two seconds, but not while the former run is open, and twice in all.
func (s *scheduleStory) fires() string {
	t := s.t
	suite, _ := s.suite("Sign-in page")
	made := s.create(obj{"name": "Every two seconds", "testSuiteIds": []string{suite},
		"settings": s.settings("*/2 * * * * *", obj{"maxRuns": 2, "buildName": "by the clock"})})
	require.Equal(t, "ENABLED", made.State.StateName)
	require.NotEmpty(t, made.CronDescription)
	require.Equal(t, 2, *made.State.RemainingRuns)
	require.WithinDuration(t, time.Now(), *made.State.NextRunDate, time.Minute)

	running := s.await(made.ID, "RUNNING")
	require.NotNil(t, running.State.NextRunDate, "a schedule that runs goes on")
	require.NotNil(t, running.State.LastRunDate)
	ended := s.await(made.ID, "DISABLED")
	require.Equal(t, 2, ended.State.RunCount)
	require.Nil(t, ended.State.NextRunDate)
	require.Nil(t, ended.State.RemainingRuns)

	started := s.history(made.ID, "STARTED")
	require.Len(t, started, 2)
	for _, f := range started {
		require.Contains(t, []string{"CRON", "CATCH_UP"}, f.Trigger) // the latter when the machine is that slow
		require.Zero(t, f.FireDate.UnixMilli()%2000, "due at %s", f.FireDate)
		require.GreaterOrEqual(t, f.CreationDate, f.FireDate, "never early")
		require.Len(t, f.SuiteRuns, 1)
		require.Equal(t, "by the clock", f.SuiteRuns[0].BuildName)
		s.passed(f)
	}
	skipped := s.history(made.ID, "SKIPPED")
	require.NotEmpty(t, skipped, "the test takes longer than two seconds")
	require.NotEmpty(t, skipped[0].Reason)
	return made.ID
}

// byHand runs a schedule that has ended; it counts nothing.
func (s *scheduleStory) byHand(id string) {
	t := s.t
	var first, second fired
	s.ok(t, http.StatusOK, http.MethodPost, schedulesPath+"/"+id+"/run", nil, &first)
	require.Equal(t, "MANUAL STARTED", first.Trigger+" "+first.Outcome)
	s.ok(t, http.StatusOK, http.MethodPost, schedulesPath+"/"+id+"/run", nil, &second)
	require.Equal(t, "MANUAL SKIPPED", second.Trigger+" "+second.Outcome)
	s.passed(first)
	after := s.get(id)
	require.Equal(t, "DISABLED", after.State.StateName)
	require.Equal(t, 2, after.State.RunCount)
}

// fails five times in a row, is mended and enabled again.
func (s *scheduleStory) fails() {
	t := s.t
	suite, testCase := s.suite("Emptied")
	cases := func(ids ...string) {
		s.ok(t, http.StatusOK, http.MethodPost, "/testsuites/"+suite, obj{"testCaseIds": append([]string{}, ids...)}, nil)
	}
	cases()
	id := s.create(obj{"testSuiteIds": []string{suite}, "settings": s.settings("* * * * * *", nil)}).ID
	errored := s.await(id, "ERRORED")
	require.NotEmpty(t, errored.State.LastRunError)
	require.Nil(t, errored.State.NextRunDate)
	require.Zero(t, errored.State.RunCount)
	require.Empty(t, s.history(id, "STARTED"))
	failed := s.history(id, "FAILED") // besides, what the machine was too slow for is SKIPPED
	require.Len(t, failed, 5)
	for _, f := range failed {
		require.NotEmpty(t, f.Reason)
		require.Empty(t, f.SuiteRuns)
	}

	cases(testCase)
	var again scheduled
	s.ok(t, http.StatusOK, http.MethodPost, schedulesPath+"/"+id+"/enable", nil, &again)
	require.Equal(t, "ENABLED", again.State.StateName)
	s.await(id, "RUNNING")
	s.ok(t, http.StatusOK, http.MethodPost, schedulesPath+"/"+id+"/disable", nil, &again)
	require.Equal(t, "DISABLED", again.State.StateName)
	require.Empty(t, again.State.LastRunError)
	for _, f := range s.history(id, "STARTED") {
		s.passed(f)
	}
}

// isRefused is what no schedule can be.
func (s *scheduleStory) isRefused() {
	t := s.t
	suite, _ := s.suite("Never")
	for word, settings := range map[string]obj{
		"minute": s.settings("61 * * * *", nil), "never fires": s.settings("0 0 31 2 *", nil),
		"timezone": s.settings("0 0 * * *", obj{"timezone": "Europe/Atlantis"}), "maxRuns": s.settings("0 0 * * *", obj{"maxRuns": 0}),
	} {
		detail := s.refused(t, http.StatusBadRequest, "INVALID_BODY", http.MethodPost, schedulesPath,
			obj{"testSuiteIds": []string{suite}, "settings": settings})
		require.Contains(t, strings.ToLower(detail), strings.ToLower(word))
	}
	s.refused(t, http.StatusBadRequest, "RUNNING_USER_NOT_FOUND", http.MethodPost, schedulesPath,
		obj{"testSuiteIds": []string{suite}, "settings": s.settings("0 0 * * *", obj{"runningUserId": suite})})
	s.refused(t, http.StatusBadRequest, "TEST_SUITES_NOT_FOUND", http.MethodPost, schedulesPath,
		obj{"testSuiteIds": []string{s.user}, "settings": s.settings("0 0 * * *", nil)})
}
