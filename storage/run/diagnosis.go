package run

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/failure"
)

// goodDigest is what is kept of a job that passed; nil for others.
func (e *JobEnd) goodDigest() []byte {
	if e.Status != Passed {
		return nil
	}
	return e.Digest
}

// diagnosisDocument returns the stored form of why a job failed; nil for one that did not.
func diagnosisDocument(end JobEnd) (*string, error) {
	if end.Diagnosis == nil || end.Status != Failed && end.Status != Errored {
		return nil, nil
	}
	text, err := json.Marshal(end.Diagnosis)
	if err != nil {
		return nil, fmt.Errorf("diagnosis of a test job: %w", err)
	}
	doc := storage.WithoutNUL(string(text))
	return &doc, nil
}

// ReadDiagnosis reads the stored form; nil without one.
func ReadDiagnosis(doc []byte) (*failure.Diagnosis, error) {
	if doc == nil {
		return nil, nil
	}
	d := &failure.Diagnosis{}
	if err := json.Unmarshal(doc, d); err != nil {
		return nil, fmt.Errorf("diagnosis of a test job: %w", err)
	}
	return d, nil
}

// lostDiagnosis is that of jobs whose workers were lost.
func lostDiagnosis() *failure.Diagnosis {
	return &failure.Diagnosis{Reason: failure.Environment, Key: CodeWorkerLost, Subject: "the workers that played it were lost",
		Why: []string{"The workers that played the test were lost or could not go on."}}
}

// eventGroup are failures that have one cause, as an event has them.
type eventGroup struct {
	Key    string         `json:"key"`
	Title  string         `json:"title"` // 7 cases: 503 of /api/cart
	Reason failure.Reason `json:"reason"`
	Count  int            `json:"count"` // of cases
	Jobs   int            `json:"jobCount"`
}

// maxEventGroups bounds those of an event.
const maxEventGroups = 10

func eventGroups(ctx context.Context, q storage.Querier, id uuid.UUID) ([]eventGroup, error) {
	groups, err := failure.Groups(ctx, q, id, maxEventGroups, 0)
	list := make([]eventGroup, 0, len(groups))
	for i := range groups {
		g := &groups[i]
		list = append(list, eventGroup{g.Key, g.Title(), g.Reason, g.Count, g.Jobs})
	}
	return list, err
}
