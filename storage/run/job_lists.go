package run

import (
	"encoding/json"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
)

// workLists are the steps of a job besides those of its revision; null for none.
type workLists struct {
	SetUp         []byte `db:"set_up"`
	TearDown      []byte `db:"tear_down"`
	SuiteSetUp    []byte `db:"suite_set_up"`
	SuiteTearDown []byte `db:"suite_tear_down"`
	Groups        []byte `db:"groups"`
}

// read puts the lists into the work.
func (l *workLists) read(w *Work) error {
	var groups []*group.Group
	for _, part := range []struct {
		doc  []byte
		into any
	}{{l.SetUp, &w.SetUp}, {l.TearDown, &w.TearDown}, {l.SuiteSetUp, &w.Suite.SetUp}, {l.SuiteTearDown, &w.Suite.TearDown},
		{l.Groups, &groups}} {
		if part.doc == nil {
			continue
		}
		if err := json.Unmarshal(part.doc, part.into); err != nil {
			return err
		}
	}
	w.Groups = make(group.Groups, len(groups))
	for _, g := range groups {
		w.Groups[g.ID] = g
	}
	return nil
}

// inGroups returns the fingerprints of steps in step groups: by the revisions of these, and
// by the ids that the steps have there.
func inGroups(end JobEnd) map[string]map[string]step.Fingerprint {
	var of map[string]map[string]step.Fingerprint
	for i := range end.Records {
		in := end.Records[i].Group
		f, ok := end.Fingerprints[end.Records[i].StepID]
		if in == nil || !ok {
			continue
		}
		if of == nil {
			of = map[string]map[string]step.Fingerprint{}
		}
		if of[in.RevisionID] == nil {
			of[in.RevisionID] = map[string]step.Fingerprint{}
		}
		of[in.RevisionID][in.StepID] = f
	}
	return of
}
