package testrun

import (
	"fmt"

	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// shardBody is the part of a suite that a run has.
type shardBody struct {
	Index *int   `json:"index"` // from 1
	Of    *int   `json:"of"`
	Key   string `json:"key"` // which the shards of one pipeline have in common
}

// shard is nil for all of the suite. Without a key, the shards of one build belong together.
func (in *suiteRunBody) shard() (*suiteplan.Shard, error) {
	if !in.Shard.Given() {
		return nil, nil
	}
	var given shardBody
	if err := in.Shard.Decode("shard", &given); err != nil {
		return nil, err
	}
	if given.Index == nil || given.Of == nil {
		return nil, problem.Member("shard", "must have index and of: 2 of 4 is the second of four parts")
	}
	s := suiteplan.Shard{Number: *given.Index, Of: *given.Of, Key: given.Key}
	if s.Key == "" && in.BuildID != nil {
		s.Key = fmt.Sprintf("build %d", *in.BuildID)
	}
	if s.Key == "" {
		s.Key = request.Or(in.BuildName, "")
	}
	return &s, problem.Under("", s.Check())
}

// shardView is the part of a suite that a run has.
type shardView struct {
	Index int    `json:"index"`
	Of    int    `json:"of"`
	Key   string `json:"key"`
}

func viewShard(r *run.SuiteRun) *shardView {
	if r.Shard == nil {
		return nil
	}
	return &shardView{r.Shard.Number, r.Shard.Of, r.Shard.Key}
}
