package tier

import (
	"context"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage/quota"
)

// meterClose is how long a stop waits for the database to take back what is left of the
// quotas of the day. Without it a little of them is lost.
const meterClose = 2 * time.Second

func closeMeter(m *quota.Meter, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), meterClose)
	defer cancel()
	if err := m.Close(ctx); err != nil {
		log.Warn("quotas of crashes not given back", "error", err)
	}
}
