package crash

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/bulk"
	"github.com/slipway-qa/slipway/tasks"
)

// manyChange is the body of a change of many groups: what a PATCH of one takes, without
// what only one group can have.
type manyChange struct {
	State         *crash.GroupState `json:"state"`
	InVersion     string            `json:"in_version"`
	InNextVersion *body.Switch      `json:"in_next_version"`
	Until         string            `json:"until"`
	UntilCount    *int64            `json:"until_count"`
	UntilUsers    *int64            `json:"until_users"`
	UntilVersion  string            `json:"until_version"`
	Assignee      word              `json:"assignee"` // id, mail address, me or none
}

// matchingAnswer says how many groups a change is of; MatchingIsExact is false where
// counting stopped. Groups that were made after MadeUntil are left alone: who sends it with
// the change gets the groups that were counted, and no others.
type matchingAnswer struct {
	Matching        int        `json:"matching"`
	MatchingIsExact bool       `json:"matching_is_exact"`
	MadeUntil       time.Time  `json:"made_until"`
	TaskID          *uuid.UUID `json:"task_id,omitempty"`
}

// ChangeGroups serves POST /api/v3/crash-groups/change, with the filters of the list: it
// writes the task that changes all groups that match, and responds with 202 and the task to
// poll. With dry_run it counts them.
func (h *Handlers) ChangeGroups(c *gin.Context) error {
	ctx, w, q := c.Request.Context(), auth.Writer(c), c.Request.URL.Query()
	f, err := selectedGroups(q, w.Actor.UserID)
	if err != nil {
		return err
	}
	f.OrganizationID = w.OrganizationID
	if f.MadeUntil, err = madeUntil(q); err != nil {
		return err
	}
	dry, err := dryRun(q)
	if err != nil {
		return err
	}
	in, err := readManyChange(c)
	if err != nil {
		return err
	}
	change, err := in.change(ctx, h.store.DB(), w)
	if err != nil {
		return err
	}
	plan, err := bulk.Plan(ctx, h.store.DB(), f, change)
	if err != nil {
		return err
	}
	answer := matchingAnswer{Matching: plan.Matching.Rows, MatchingIsExact: plan.Matching.Exact, MadeUntil: plan.Filter.MadeUntil.UTC()}
	if dry {
		return respond.JSON(c, http.StatusOK, answer)
	}
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) error {
		id, err := plan.Request(ctx, tx, w, tasks.NewCrashChange(w, respond.RequestID(ctx), plan))
		answer.TaskID = &id
		return err
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusAccepted, answer)
}

func readManyChange(c *gin.Context) (groupChange, error) {
	var in manyChange
	if c.Request.Body != nil {
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxChange)
	}
	if err := body.Read(c, &in); err != nil {
		return groupChange{}, err
	}
	return groupChange{State: in.State, InVersion: in.InVersion, InNextVersion: in.InNextVersion, Until: in.Until,
		UntilCount: in.UntilCount, UntilUsers: in.UntilUsers, UntilVersion: in.UntilVersion, Assignee: in.Assignee}, nil
}

// madeUntil reads the parameter made_until; the zero time: it is not given.
func madeUntil(q url.Values) (time.Time, error) {
	values := q["made_until"]
	if len(values) == 0 {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, values[0])
	if err != nil || len(values) > 1 || at.IsZero() {
		return time.Time{}, storage.Invalid("made_until", "must be a time as dry_run returns it: 2026-12-01T00:00:00Z")
	}
	return at, nil
}

// dryRun reads the parameter dry_run.
func dryRun(q url.Values) (bool, error) {
	values := q["dry_run"]
	if len(values) == 0 {
		return false, nil
	}
	if len(values) == 1 {
		switch strings.ToLower(values[0]) {
		case "1", "true":
			return true, nil
		case "0", "false":
			return false, nil
		}
	}
	return false, storage.Invalid("dry_run", "must be 1 or 0")
}
