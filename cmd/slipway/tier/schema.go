package tier

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// schemaPause is between two tries to read the schema of a database that is away.
const schemaPause = 5 * time.Second

// warnNewer logs once when the database has migrations that the program does not know. The
// tiers start all the same: during a rolling upgrade those of the version before run beside
// the newer schema, and may have to start again.
func warnNewer(ctx context.Context, db *storage.DB, log *slog.Logger) {
	for {
		query, cancel := context.WithTimeout(ctx, schemaPause)
		err := storage.CheckNewer(query, db)
		cancel()
		var newer *storage.NewerSchemaError
		if errors.As(err, &newer) {
			log.Warn("the program is older than the schema", "schema", newer.Newest, "program", newer.Known, "unknown_migrations", newer.Unknown)
		}
		if err == nil || newer != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(schemaPause):
		}
	}
}
