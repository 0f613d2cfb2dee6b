package gate

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
)

func ptr[T any](v T) *T { return &v }

// Each type says pass, fail and unknown by what was measured, and nothing passes that was not.
func TestJudge(t *testing.T) {
	t.Parallel()
	uploaded := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	suite, other := uuid.New(), uuid.New()
	ran := func(state string, total, passed, flaky int) func(*facts) {
		return func(f *facts) {
			f.suites[suite] = suiteFacts{SuiteID: suite, RunID: uuid.New(), Name: "Smoke", State: state, Total: total, Passed: passed, Flaky: flaky}
		}
	}
	quarantined := func(n int) func(*facts) {
		return func(f *facts) {
			s := f.suites[suite]
			s.Quarantined = n
			f.suites[suite] = s
		}
	}
	sessions := func(n, crashed int64) func(*facts) {
		return func(f *facts) { f.sessions = sessionFacts{n, crashed, false} }
	}
	before := func(b beforeFacts) func(*facts) { return func(f *facts) { f.before = &b } }
	group := func(g groupFacts) func(*facts) {
		return func(f *facts) {
			f.HasCrashProject, f.Crashes = true, 1
			f.groups = append(f.groups, g)
		}
	}
	late := func(f *facts) { f.CreatedAt = uploaded.Add(-48 * time.Hour) } // every window is closed
	watched := func(f *facts) { f.HasCrashProject = true }
	verified := func(v artifact.Verdict) func(*facts) { return func(f *facts) { f.Verification = v } }
	for _, c := range []struct {
		name   string
		of     Condition
		facts  []func(*facts)
		want   State
		reason string
	}{
		{"a suite that passed", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}}, []func(*facts){ran("PASSED", 20, 20, 0)}, Pass, ""},
		{"a suite that was not run", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}}, nil, Unknown, "was not run"},
		{"one of two suites", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite, other}},
			[]func(*facts){ran("PASSED", 20, 20, 0)}, Unknown, "was not run"},
		{"a suite that runs", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}}, []func(*facts){ran("RUNNING", 20, 20, 0)}, Unknown, "runs"},
		{"a suite that was cancelled", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}},
			[]func(*facts){ran("CANCELLED", 20, 20, 0)}, Unknown, "cancelled"},
		{"a suite without cases", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}}, []func(*facts){ran("ERROR", 0, 0, 0)},
			Unknown, "no case"},
		{"a suite that failed", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite, other}},
			[]func(*facts){ran("FAILED", 20, 19, 0)}, Fail, "1 of 20"},
		{"a share that is enough", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}, MinShare: ptr(0.95)},
			[]func(*facts){ran("FAILED", 20, 19, 0)}, Pass, ""},
		{"flaky as passed", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}}, []func(*facts){ran("PASSED", 20, 20, 1)}, Pass, ""},
		{"flaky as failed", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}, Flaky: FlakyFailed},
			[]func(*facts){ran("PASSED", 20, 20, 1)}, Fail, "1 of 20"},
		{"failures in quarantine", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}},
			[]func(*facts){ran("PASSED", 18, 18, 0), quarantined(2)}, Pass, ""},
		{"all failed in quarantine", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}},
			[]func(*facts){ran("PASSED", 0, 0, 0), quarantined(2)}, Unknown, "in quarantine"},
		{"a suite that did not start", Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}},
			[]func(*facts){func(f *facts) { f.notStarted[suite.String()] = "no host" }}, Unknown, "no host"},

		{"no crash project", Condition{Type: CrashGroups}, []func(*facts){late}, Unknown, "no crash project"},
		{"a window that is open", Condition{Type: CrashGroups}, []func(*facts){watched}, Unknown, "the time ends at 2026-05-21 12:00 UTC"},
		{"nobody used it", Condition{Type: CrashGroups}, []func(*facts){watched, late}, Unknown, "nobody used"},
		{"used without crashes", Condition{Type: CrashGroups}, []func(*facts){watched, late, sessions(3, 0)}, Pass, ""},
		{"a new group", Condition{Type: CrashGroups}, []func(*facts){group(groupFacts{Hours: 24, Title: "NPE", Reports: 1})},
			Fail, `"NPE" has 1 report`},
		{"a new group within the bound", Condition{Type: CrashGroups, MaxReports: ptr(int64(1))},
			[]func(*facts){late, group(groupFacts{Hours: 24, Reports: 1})}, Pass, ""},
		{"a group of another window", Condition{Type: CrashGroups, Hours: ptr(int64(1))},
			[]func(*facts){late, group(groupFacts{Hours: 24, Reports: 9})}, Pass, ""},
		{"only new ones", Condition{Type: CrashGroups, Kinds: []string{NewGroups}},
			[]func(*facts){late, group(groupFacts{Hours: 24, Reports: 9, Regressed: true})}, Pass, ""},
		{"regressed ones", Condition{Type: CrashGroups, Kinds: []string{RegressedGroups}},
			[]func(*facts){late, group(groupFacts{Hours: 24, Reports: 9, Regressed: true})}, Fail, "9 reports"},
		{"many reports of few users", Condition{Type: CrashGroups, MaxUsers: ptr(int64(2))},
			[]func(*facts){late, group(groupFacts{Hours: 24, Reports: 9, Users: 2})}, Pass, ""},
		{"too many users", Condition{Type: CrashGroups, MaxUsers: ptr(int64(2)), MaxReports: ptr(int64(100))},
			[]func(*facts){group(groupFacts{Hours: 24, Reports: 9, Users: 3})}, Fail, "9 reports of 3 users"},

		{"too few sessions", Condition{Type: CrashFree, MinPercent: ptr(99.0)}, []func(*facts){sessions(99, 0)}, Unknown, "99 sessions of 100"},
		{"enough of them", Condition{Type: CrashFree, MinPercent: ptr(99.0)}, []func(*facts){sessions(100, 1)}, Pass, ""},
		{"too many crashed", Condition{Type: CrashFree, MinPercent: ptr(99.0)}, []func(*facts){sessions(100, 2)}, Fail,
			"2 % of the sessions crashed"},
		{"more crashes than sessions", Condition{Type: CrashFree, MinPercent: ptr(1.0), MinSessions: ptr(int64(1))},
			[]func(*facts){sessions(1, 5)}, Fail, "100 %"},
		{"nothing before", Condition{Type: CrashFree, MaxDropPoints: ptr(1.0)}, []func(*facts){sessions(100, 0)}, Unknown, "no build before"},
		{"nothing before, and a bound", Condition{Type: CrashFree, MaxDropPoints: ptr(1.0), MinPercent: ptr(90.0)},
			[]func(*facts){sessions(100, 0)}, Pass, ""},
		{"worse than before", Condition{Type: CrashFree, MaxDropPoints: ptr(1.0)},
			[]func(*facts){sessions(100, 3), before(beforeFacts{sessions: sessionFacts{1000, 10, false}})}, Fail, "had 99 %"},
		{"as good as before", Condition{Type: CrashFree, MaxDropPoints: ptr(1.0)},
			[]func(*facts){sessions(100, 2), before(beforeFacts{sessions: sessionFacts{1000, 10, false}})}, Pass, ""},
		{"too few before", Condition{Type: CrashFree, MaxDropPoints: ptr(1.0)},
			[]func(*facts){sessions(100, 2), before(beforeFacts{sessions: sessionFacts{10, 0, false}})}, Unknown, "the build before has"},

		{"not verified yet", Condition{Type: Signature}, []func(*facts){verified(artifact.Pending)}, Unknown, "not been verified"},
		{"cannot be verified", Condition{Type: Signature}, []func(*facts){verified(artifact.Unchecked)}, Unknown, "cannot be verified"},
		{"verified", Condition{Type: Signature}, []func(*facts){verified(artifact.Verified)}, Pass, ""},
		{"unsigned", Condition{Type: Signature}, []func(*facts){verified(artifact.Unsigned)}, Fail, "unsigned"},
		{"tampered", Condition{Type: Signature}, []func(*facts){verified(artifact.Verified),
			func(f *facts) { f.BuildState = "invalid" }}, Fail, "invalid"},
		{"the same signer", Condition{Type: Signature, SameSigner: ptr(true)},
			[]func(*facts){verified(artifact.Verified), func(f *facts) { f.Signer = "ab" }, before(beforeFacts{Signer: "ab"})}, Pass, ""},
		{"another signer", Condition{Type: Signature, SameSigner: ptr(true)},
			[]func(*facts){verified(artifact.Verified), func(f *facts) { f.Signer = "ab" }, before(beforeFacts{Signer: "cd"})}, Fail, "not that of"},
		{"no signer to compare with", Condition{Type: Signature, SameSigner: ptr(true)},
			[]func(*facts){verified(artifact.Verified)}, Unknown, "no build before"},
		{"a signer that nobody knows", Condition{Type: Signature, SameSigner: ptr(true)},
			[]func(*facts){verified(artifact.Verified), before(beforeFacts{Signer: "cd"})}, Unknown, "not known"},
		{"the first build, verified", Condition{Type: Signature, SameSigner: ptr(true), Verified: ptr(true)},
			[]func(*facts){verified(artifact.Verified)}, Pass, ""},

		{"small enough", Condition{Type: Size, MaxBytes: ptr(int64(100))}, []func(*facts){func(f *facts) { f.Size = 100 }}, Pass, ""},
		{"too large", Condition{Type: Size, MaxBytes: ptr(int64(100))}, []func(*facts){func(f *facts) { f.Size = 101 }},
			Fail, "1 byte too large"},
		{"grown too much", Condition{Type: Size, MaxGrowthPercent: ptr(10.0)},
			[]func(*facts){func(f *facts) { f.Size = 111 }, before(beforeFacts{Size: 100})}, Fail, "11 % above"},
		{"grown a little", Condition{Type: Size, MaxGrowthPercent: ptr(10.0)},
			[]func(*facts){func(f *facts) { f.Size = 110 }, before(beforeFacts{Size: 100})}, Pass, ""},
		{"nothing to grow from", Condition{Type: Size, MaxGrowthPercent: ptr(10.0)}, nil, Unknown, "no build before"},

		{"nothing known of symbols", Condition{Type: Symbols}, nil, Unknown, "nothing says"},
		{"symbols on their way", Condition{Type: Symbols}, []func(*facts){func(f *facts) { f.SymbolsPending = true }}, Unknown, "being read"},
		{"symbols of each image", Condition{Type: Symbols}, []func(*facts){func(f *facts) { f.Images = 2 }}, Pass, ""},
		{"symbols of an image missing", Condition{Type: Symbols},
			[]func(*facts){func(f *facts) { f.Images, f.MissingImages = 2, 1 }}, Fail, "1 image"},
		{"symbols that a crash lacks", Condition{Type: Symbols},
			[]func(*facts){func(f *facts) { f.HasSymbols, f.MissingNeeds, f.MissingNames = true, 2, []string{"libapp.so"} }}, Fail, "libapp.so"},
		{"crashes that lack nothing", Condition{Type: Symbols}, []func(*facts){func(f *facts) { f.Crashes = 1 }}, Pass, ""},
		{"no mapping", Condition{Type: Symbols, Mapping: ptr(true)}, []func(*facts){func(f *facts) { f.Crashes = 1 }}, Fail, "no mapping"},
		{"a mapping", Condition{Type: Symbols, Mapping: ptr(true)},
			[]func(*facts){func(f *facts) { f.HasSymbols, f.HasMapping = true, true }}, Pass, ""},

		{"too few testers", Condition{Type: Testers, MinTesters: ptr(int64(2))}, []func(*facts){func(f *facts) { f.Testers = 1 }},
			Unknown, "1 of 2 testers"},
		{"enough testers", Condition{Type: Testers, MinTesters: ptr(int64(2))}, []func(*facts){func(f *facts) { f.Testers = 2 }}, Pass, ""},
		{"a blocker", Condition{Type: Testers}, []func(*facts){func(f *facts) {
			f.Testers, f.blockers = 1, []blockerFacts{{ID: 7, Text: "it burns", At: uploaded}}
		}}, Fail, "it burns"},
		{"a blocker that does not count", Condition{Type: Testers, NoBlocker: ptr(false)}, []func(*facts){func(f *facts) {
			f.Testers, f.blockers = 1, []blockerFacts{{ID: 7, Text: "it burns", At: uploaded}}
		}}, Pass, ""},
		{"a blocker after the time", Condition{Type: Testers, Hours: ptr(int64(1))}, []func(*facts){late, func(f *facts) {
			f.Testers, f.blockers = 1, []blockerFacts{{ID: 7, Text: "it burns", At: uploaded}}
		}}, Pass, ""},
		{"time for blockers", Condition{Type: Testers, Hours: ptr(int64(1))}, []func(*facts){func(f *facts) { f.Testers = 1 }},
			Unknown, "the time ends"},
		{"a type of a later program", Condition{Type: "moon"}, nil, Unknown, "does not know"},
	} {
		f := &facts{suites: map[uuid.UUID]suiteFacts{}, notStarted: map[string]string{}}
		f.CreatedAt = uploaded
		for _, set := range c.facts {
			set(f)
		}
		c.of.Name = c.name
		r := c.of.judge(f, uploaded.Add(30*time.Minute))
		require.Equal(t, c.want, r.State, "%s: %+v", c.name, r)
		require.Contains(t, r.Reason, c.reason, c.name)
		require.Equal(t, r.State == Pass, r.Reason == "", "%s: a reason is there unless it passed: %q", c.name, r.Reason)
		if c.of.Type != "moon" {
			require.NotEmpty(t, r.Wanted, c.name)
		}
	}
}

func TestTogether(t *testing.T) {
	t.Parallel()
	for want, states := range map[State][][]State{
		Pass:    {{Pass}, {Pass, Pass}},
		Fail:    {{Pass, Unknown, Fail}, {Fail}},
		Unknown: {{}, {Pass, Unknown}},
	} {
		for _, list := range states {
			var results []Result
			for _, s := range list {
				results = append(results, Result{State: s})
			}
			require.Equal(t, want, together(results), list)
		}
	}
}
