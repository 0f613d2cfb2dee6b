package baseline_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/baseline"
	"github.com/slipway-qa/slipway/storage/step"
)

// shelf is a case with pictures.
type shelf struct {
	*fixture.Tests
	by     account.Writer
	caseID string
}

func open(t *testing.T) *shelf {
	s := &shelf{Tests: fixture.NewTests(t)}
	s.by = s.Org.Member.Writer
	s.caseID = s.NewCase(s.by, "looks").ID
	return s
}

// see stores a picture of a step, as a run that saw it does.
func (s *shelf) see(t *testing.T, stepID, digest string) (id uuid.UUID, key string, unnamed []string) {
	t.Helper()
	at := baseline.Place{CaseID: s.caseID, StepID: stepID, Target: "chrome/linux/1280x757@1"}
	id = baseline.ID(at, digest)
	key = baseline.NewKey(id)
	s.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		unnamed, err = baseline.Store(ctx, tx, s.by.OrganizationID, s.caseID, uuid.New(), []baseline.New{{Place: at, BrowserVersion: "156",
			Fonts: "f", Digest: digest, Width: 3, Height: 2, Key: key, Size: 100}})
		return err
	})
	return id, key, unnamed
}

func (s *shelf) accept(t *testing.T, id uuid.UUID) *baseline.Baseline {
	t.Helper()
	var got *baseline.Baseline
	s.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		got, err = baseline.Accept(ctx, tx, s.by, s.caseID, id)
		return err
	})
	return got
}

func (s *shelf) states(t *testing.T) map[uuid.UUID]baseline.State {
	t.Helper()
	list, total, err := baseline.List(t.Context(), s.DB, baseline.Filter{CaseID: s.caseID, Page: storage.Page{Limit: 100}})
	require.NoError(t, err)
	require.Equal(t, len(list), total)
	states := map[uuid.UUID]baseline.State{}
	for _, b := range list {
		states[b.ID] = b.State
	}
	return states
}

func (s *shelf) current(t *testing.T, stepID string) *baseline.Baseline {
	t.Helper()
	b, err := baseline.Current(t.Context(), s.DB, baseline.Place{CaseID: s.caseID, StepID: stepID, Target: "chrome/linux/1280x757@1"})
	require.NoError(t, err)
	return b
}

func TestStatesOfBaselines(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, err := baseline.Current(t.Context(), s.DB, baseline.Place{CaseID: s.caseID, StepID: "s1"})
	require.ErrorIs(t, err, storage.ErrNotFound)

	first, _, unnamed := s.see(t, "s1", "aa")
	require.Empty(t, unnamed)
	require.Equal(t, first, s.current(t, "s1").ID)
	second, _, _ := s.see(t, "s1", "bb")
	require.Equal(t, map[uuid.UUID]baseline.State{first: baseline.Unreviewed, second: baseline.Candidate}, s.states(t))
	require.Equal(t, first, s.current(t, "s1").ID, "the first counts until somebody decides")

	_, key, unnamed := s.see(t, "s1", "bb")
	require.Equal(t, []string{key}, unnamed, "a picture that is known is not kept twice")

	got := s.accept(t, second)
	require.Equal(t, baseline.Accepted, got.State)
	require.Equal(t, s.by.UserUUID, *got.Decider)
	require.Equal(t, baseline.Former, s.states(t)[first])
	require.Equal(t, 1, s.Audited(account.TestBaselineAccepted))
	s.accept(t, second)
	require.Equal(t, 1, s.Audited(account.TestBaselineAccepted), "once is enough")

	s.see(t, "s1", "aa")
	require.Equal(t, baseline.Candidate, s.states(t)[first], "what comes back waits again")
	s.accept(t, first)
	require.Equal(t, map[uuid.UUID]baseline.State{first: baseline.Accepted, second: baseline.Former}, s.states(t))

	s.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := baseline.Reject(ctx, tx, s.by, s.caseID, first)
		return err
	})
	require.Equal(t, baseline.Rejected, s.current(t, "s1").State)
	third, _, _ := s.see(t, "s1", "cc")
	require.Equal(t, baseline.Unreviewed, s.states(t)[third], "after a rejection the next picture is a first one")
	require.Equal(t, third, s.current(t, "s1").ID)

	// Another step, and another case, have their own.
	other, _, _ := s.see(t, "s2", "aa")
	require.Equal(t, baseline.Unreviewed, s.states(t)[other])
	require.ErrorIs(t, s.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := baseline.Accept(ctx, tx, s.by, s.NewCase(s.by, "another").ID, other)
		return err
	}), storage.ErrNotFound)
}

func TestBaselinesAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t)
	first, _, _ := s.see(t, "s1", "d-first")
	s.accept(t, first)
	var gone []string
	for i := range 23 {
		_, _, unnamed := s.see(t, "s1", fmt.Sprint("d", i))
		gone = append(gone, unnamed...)
	}
	require.Len(t, s.states(t), 21, "the accepted one and the newest 20")
	require.Len(t, gone, 3)
	left, err := baseline.UnnamedObjects(t.Context(), s.DB, append(gone, s.current(t, "s1").Key))
	require.NoError(t, err)
	require.Equal(t, gone, left)
	require.Equal(t, 21*100,
		s.Count(`select sum(amount)::int from quota_usage where organization_id = $1 and resource = 'stored_bytes'`, s.by.OrganizationID))
	s.Exec(`delete from test_cases where id = $1`, s.caseID)
	require.Zero(t, s.Count(`select count(*) from test_baselines`))
	require.Zero(t, s.Count(`select sum(amount)::int from quota_usage where organization_id = $1 and resource = 'stored_bytes'`,
		s.by.OrganizationID))
	_, key, unnamed := s.see(t, "s1", "late")
	require.Equal(t, []string{key}, unnamed, "a case that is gone keeps nothing")
}

func TestAcceptedFindings(t *testing.T) {
	t.Parallel()
	s := open(t)
	list := []step.Finding{{Key: "k1", Rule: "label", Impact: step.Critical, Element: "#a"}, {Key: "k2", Rule: "label",
		Impact: step.Critical, Element: "#b"}}
	accept := func(list []step.Finding) (n int) {
		s.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			n, err = baseline.AcceptFindings(ctx, tx, s.by, s.caseID, uuid.New(), "s1", list)
			return err
		})
		return n
	}
	require.Equal(t, 1, accept(list[:1]))
	require.Equal(t, 1, accept(list))
	require.Zero(t, accept(list))
	require.Equal(t, 2, s.Audited(account.TestFindingsAccepted))
	keys, err := baseline.AcceptedKeys(t.Context(), s.DB, s.caseID)
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"k1": true, "k2": true}, keys)
	shown, total, err := baseline.Findings(t.Context(), s.DB, s.caseID, storage.Page{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.Len(t, shown, 1)
	remove := func(key string) error {
		return s.Do(func(ctx context.Context, tx *storage.Tx) error {
			return baseline.RemoveFinding(ctx, tx, s.by, s.caseID, key)
		})
	}
	require.NoError(t, remove("k1"))
	require.ErrorIs(t, remove("k1"), storage.ErrNotFound)
	require.Equal(t, 1, s.Audited(account.TestFindingRemoved))
	err = s.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := baseline.AcceptFindings(ctx, tx, s.by, s.caseID, uuid.New(), "s1", make([]step.Finding, 2000))
		return err
	})
	require.Equal(t, "findings", fixture.InvalidField(t, err))
}
