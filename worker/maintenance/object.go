package maintenance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/worker"
)

// Names returns which of some object keys no row names; storage/crash's Store
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

// unfinishedAge protects uploads in parts, which have a day from their beginning and then
// a few rounds of their expiry.
const unfinishedAge = 26 * time.Hour

// sweepAge protects what a request has written and not yet named: no upload takes longer, also
// none in parts.
const sweepAge = unfinishedAge

// NewObjectSweep returns the handler for the prefixes of what is stored.
func NewObjectSweep(objects object.Store, unnamed map[string]Names) *ObjectSweep {
	return &ObjectSweep{Objects: objects, Now: time.Now, Unnamed: unnamed}
}

// Handle sweeps every prefix, in order, and the unfinished uploads. What fails
// does not keep the others from being swept.
func (h *ObjectSweep) Handle(ctx context.Context, claim *worker.Claim) error {
	var sum SweepResult
	var failed []error
	for _, prefix := range slices.Sorted(maps.Keys(h.Unnamed)) {
		n, err := h.sweep(ctx, prefix, h.Unnamed[prefix])
		if err != nil {
			failed = append(failed, fmt.Errorf("sweep %s: %w", prefix, err))
		}
		sum.Objects += n
	}
	n, err := h.Objects.Sweep(ctx, unfinishedAge)
	if err != nil {
		failed = append(failed, fmt.Errorf("sweep unfinished uploads: %w", err))
	}
	sum.Unfinished = n
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return claim.Finish(ctx, sum, nil)
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
