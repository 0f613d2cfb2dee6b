package symbol

import (
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/tasks"
)

// settleMost is how many tasks a request waits for. A task reads up to hundreds of crashes;
// who asks right after posting one has it among the newest.
const settleMost = 20

// settle serves the parameter wait of Missing: it holds the answer back until the crashes
// that were posted before have been read, and then looked up in symbol files. It ends when
// the time is over, whatever is left.
func (h *Handlers) settle(c *gin.Context) error {
	most, err := wait.For(c)
	if err != nil || most == 0 {
		return err
	}
	ctx, organization, began := c.Request.Context(), auth.Organization(c), time.Now()
	for _, kind := range []string{tasks.CrashProcess.Name, tasks.CrashSymbolicate.Name} {
		open, err := h.ledger.OpenOf(ctx, organization, kind, settleMost)
		if err != nil {
			return err
		}
		for len(open) > 0 {
			left := most - time.Since(began)
			if left <= 0 {
				return nil
			}
			if err := h.watcher.Wait(ctx, organization, open[0], left); err != nil {
				return err
			}
			// The wait for one that ended meanwhile would last until the watcher looks again.
			ended, err := h.ledger.Ended(ctx, open[1:])
			if err != nil {
				return err
			}
			open = slices.DeleteFunc(open[1:], func(id uuid.UUID) bool { return slices.Contains(ended, id) })
		}
	}
	return nil
}
