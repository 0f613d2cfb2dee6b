package process

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// StartToFill starts the product for lists of many rows: db writes them, with time for
// statements that take minutes. stop ends both.
func StartToFill(ctx context.Context) (p *Product, db *storage.DB, stop func(), err error) {
	if p, err = Start(ctx, ""); err != nil {
		return nil, nil, nil, err
	}
	if db, err = storage.Open(storage.Config{URL: p.Database, StatementTimeout: 10 * time.Minute}); err != nil {
		p.Stop()
		return nil, nil, nil, err
	}
	return p, db, func() {
		_ = db.Close()
		p.Stop()
	}, nil
}
