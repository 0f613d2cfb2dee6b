package upkeep

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/worker"
)

// Names answers which of some object keys no row names; storage/crash's Store
// is the one for attachments.
type Names func(ctx context.Context, keys []string) ([]string, error)

// ObjectSweep is the handler of object:sweep: it deletes objects that no row
// names, and unfinished uploads. Both are what a killed process leaves behind:
// bytes are written before the row that names them, and deleted after it.
type ObjectSweep struct {
	Objects object.Store
	Unnamed map[string]Names // by prefix of the keys
	Now     func() time.Time
}

// SweepResult is the task's result.
type SweepResult struct {
	Objects    int `json:"objects"`
	Unfinished int `json:"unfinished"`
}

// sweepAge protects what a request has written and not yet named: no upload
// takes a day.
const sweepAge = 24 * time.Hour

// NewObjectSweep makes the handler for the attachments of crashes.
func NewObjectSweep(objects object.Store, crashes *crash.Store) *ObjectSweep {
	return &ObjectSweep{Objects: objects, Now: time.Now,
		Unnamed: map[string]Names{crash.AttachmentPrefix: crashes.UnnamedObjects}}
}

// Handle sweeps every prefix.
func (h *ObjectSweep) Handle(ctx context.Context, job *worker.Job) error {
	var sum SweepResult
	for prefix, unnamed := range h.Unnamed {
		n, err := h.sweep(ctx, prefix, unnamed)
		if err != nil {
			return fmt.Errorf("sweep %s: %w", prefix, err)
		}
		sum.Objects += n
	}
	n, err := h.Objects.Sweep(ctx, sweepAge)
	if err != nil {
		return fmt.Errorf("sweep unfinished uploads: %w", err)
	}
	sum.Unfinished = n
	return job.Finish(ctx, sum, nil)
}

func (h *ObjectSweep) sweep(ctx context.Context, prefix string, unnamed Names) (int, error) {
	before := h.Now().Add(-sweepAge)
	deleted, after := 0, ""
	for {
		page, err := h.Objects.List(ctx, prefix, after, object.MaxList)
		if err != nil {
			return deleted, err
		}
		var old []string
		for _, info := range page {
			if info.ModTime.Before(before) {
				old = append(old, info.Key)
			}
		}
		if len(old) > 0 {
			keys, err := unnamed(ctx, old)
			if err != nil {
				return deleted, err
			}
			if err := h.Objects.Delete(ctx, keys...); err != nil {
				return deleted, err
			}
			deleted += len(keys)
		}
		if len(page) < object.MaxList {
			return deleted, nil
		}
		after = page[len(page)-1].Key
	}
}
