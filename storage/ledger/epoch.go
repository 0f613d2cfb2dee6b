package ledger

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// Epoch returns the installation's epoch, made at the first call.
func (s *Store) Epoch(ctx context.Context) (string, error) {
	_, err := s.db.ExecContext(ctx,
		`insert into dispatch_epoch (epoch) values ($1) on conflict do nothing`, uuid.NewString())
	if err != nil {
		return "", storage.Wrap(err, "make the epoch")
	}
	var epoch string
	err = s.db.GetContext(ctx, &epoch, `select epoch from dispatch_epoch`)
	return epoch, storage.Wrap(err, "read the epoch")
}
