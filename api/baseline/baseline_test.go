package baseline

import (
	"errors"
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
)

// twoTargets is a run of one step that checks accessibility and one that compares a picture,
// on two targets.
func twoTargets(first, second uuid.UUID) *run.Run {
	found := &step.Findings{List: []step.Finding{{Key: "a", Fails: true}, {Key: "b", Fails: true}, {Key: "low"}}}
	only := &step.Findings{List: []step.Finding{{Key: "a", Fails: true}, {Key: "c", Fails: true}, {Key: "old", Accepted: true}}}
	return &run.Run{Jobs: []run.Job{
		{Records: []step.Record{{StepID: "s1", Findings: found}, {StepID: "s2", Look: &step.Look{State: step.LookDifferent, BaselineID: uuid.NewString(), CandidateID: first.String()}}}},
		{Records: []step.Record{{StepID: "s1", Findings: only}, {StepID: "s2", Look: &step.Look{State: step.LookUnreviewed, BaselineID: second.String()}},
			{StepID: "s3", Look: &step.Look{State: step.LookMatched, BaselineID: uuid.NewString()}}, {StepID: "s4", Look: &step.Look{State: step.LookDifferent, CandidateID: first.String()}}}},
	}}
}

func TestChosenFindings(t *testing.T) {
	r := twoTargets(uuid.New(), uuid.New())
	keys := func(in acceptBody) (list []string) {
		got, err := chosen(r, &in)
		require.NoError(t, err)
		for _, f := range got {
			list = append(list, f.Key)
		}
		return list
	}
	require.Equal(t, []string{"a", "b", "c"}, keys(acceptBody{StepID: "s1"}), "what failed, of all targets, once")
	require.Equal(t, []string{"low"}, keys(acceptBody{StepID: "s1", Findings: []string{"low"}}))
	for field, in := range map[string]acceptBody{"stepId": {StepID: "s2"}, "findings": {StepID: "s1", Findings: []string{"a", "none"}}} {
		_, err := chosen(r, &in)
		var wrong *storage.InvalidError
		require.True(t, errors.As(err, &wrong), field)
		require.Equal(t, field, wrong.Field)
	}
}

func TestPage(t *testing.T) {
	for _, c := range []struct {
		query string
		want  storage.Page
		wrong bool
	}{
		{"", storage.Page{Limit: 20}, false}, {"limit=5&skip=7", storage.Page{Limit: 5, Offset: 7}, false}, {"limit=0", storage.Page{}, false},
		{"limit=99999999999999999999", storage.Page{Limit: 100}, false}, {"limit=-1", storage.Page{}, true}, {"skip=x", storage.Page{}, true},
		{"skip=99999999999999999999", storage.Page{}, true},
	} {
		q, err := url.ParseQuery(c.query)
		require.NoError(t, err)
		got, err := page(q)
		var problem *respond.Problem
		require.Equal(t, c.wrong, errors.As(err, &problem), c.query)
		if !c.wrong {
			require.Equal(t, c.want, got, c.query)
		}
	}
}
