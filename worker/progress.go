package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// ReadProgress reads into a pointer what an earlier attempt of the claim's task saved
// with SaveProgress; without that it changes nothing. Progress that cannot be read is a
// permanent failure.
func (c *Claim) ReadProgress(into any) error {
	doc := c.Tasks[0].Result
	if doc == nil {
		return nil
	}
	if err := json.Unmarshal(*doc, into); err != nil {
		return tasks.Permanent(fmt.Errorf("progress of %s: %w", c.Tasks[0].Kind, err))
	}
	return nil
}

// SaveProgress saves the result so far of the claim's task, in the transaction of the
// step that it reports on: people see it as the result of the running task, and the next
// attempt reads it. It is storage.ErrStale when the claim is lost.
func (c *Claim) SaveProgress(ctx context.Context, tx *storage.Tx, progress any) error {
	return ledger.Progress(ctx, tx, c.tokens[0], progress)
}

// SaveResult replaces the result of the claim's task in the effects of Finish, which
// alone know it. It is storage.ErrStale when the claim is lost.
func (c *Claim) SaveResult(ctx context.Context, tx *storage.Tx, result any) error {
	return ledger.Result(ctx, tx, c.tokens[0], result)
}
