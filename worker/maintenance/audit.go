package maintenance

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/audit"
	"github.com/slipway-qa/slipway/worker"
)

// AuditRetention is the handler of audit:retention: it deletes audit events that are
// older than their organization keeps them. Each step writes an event itself, in its
// transaction, with the number of those that it deleted.
type AuditRetention struct {
	db       *storage.DB
	keepDays int
	step     int
}

// auditStep events are deleted by one transaction.
const auditStep = 10_000

// NewAuditRetention returns the handler. keepDays holds for organizations that say
// nothing and for the installation's own events; 0 keeps them for ever.
func NewAuditRetention(db *storage.DB, keepDays int) (*AuditRetention, error) {
	if keepDays < 0 {
		return nil, errors.New("audit retention: days must not be negative")
	}
	return &AuditRetention{db: db, keepDays: keepDays, step: auditStep}, nil
}

// Handle deletes what is old. An organization that fails keeps no other from it. The
// task's result are the numbers by organization, 0 for the installation.
func (h *AuditRetention) Handle(ctx context.Context, claim *worker.Claim) error {
	ids, err := audit.Expiring(ctx, h.db, h.keepDays)
	if err != nil {
		return err
	}
	sum := map[string]int64{}
	var failed []error
	for _, id := range ids {
		n, err := h.expire(ctx, id)
		if n > 0 {
			sum[strconv.FormatInt(id, 10)] = n
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("organization %d: %w", id, err))
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return claim.Finish(ctx, sum, nil)
}

// expire deletes the old events of an organization, step by step.
func (h *AuditRetention) expire(ctx context.Context, organizationID int64) (sum int64, err error) {
	for {
		var n int64
		err := h.db.InTx(ctx, func(tx *storage.Tx) (err error) {
			if n, err = audit.Expire(ctx, tx, organizationID, h.keepDays, h.step); err != nil || n == 0 {
				return err
			}
			return audit.RecordExpired(ctx, tx, organizationID, n)
		})
		if err != nil {
			return sum, err
		}
		if sum += n; n < int64(h.step) {
			return sum, nil
		}
	}
}
