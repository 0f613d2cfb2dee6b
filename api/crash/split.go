package crash

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// splitting are the handlers that set reports of a group apart.
type splitting struct{ store *crash.Store }

// stackView is one whole stack of a group.
type stackView struct {
	Stack     *string      `json:"stack"` // null: reports without one
	Count     int64        `json:"count"`
	Reports   int64        `json:"reports"`
	FirstSeen time.Time    `json:"first_seen"`
	LastSeen  time.Time    `json:"last_seen"`
	CrashID   uuid.UUID    `json:"crash_id"`
	Frames    []stackFrame `json:"frames"`
}

// stackFrame is a frame that counts for the whole stack.
type stackFrame struct {
	Function string `json:"function"`
	Text     string `json:"text"`
	// Kept is set when it counts for the group's key as well.
	Kept bool `json:"kept"`
}

// splitView is a rule of a group.
type splitView struct {
	Stack     *string         `json:"stack"`
	Attribute *splitAttribute `json:"attribute"`
	GroupID   int64           `json:"group_id"` // to which matching reports go
}

type splitAttribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Stacks serves GET /api/v3/crash-groups/{id}/stacks: the whole stacks of the newest
// crashes of a group, by which it can be split, and the rules by which it was.
func (h *splitting) Stacks(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	s, err := h.store.GroupStacks(c.Request.Context(), auth.Organization(c), id)
	if err != nil {
		return err
	}
	stacks := make([]stackView, 0, len(s.Stacks))
	for i := range s.Stacks {
		one := &s.Stacks[i]
		stacks = append(stacks, stackView{Stack: hexText(one.Key), Count: one.Count, Reports: one.Reports,
			FirstSeen: one.FirstSeen.UTC(), LastSeen: one.LastSeen.UTC(), CrashID: one.CrashID, Frames: stackFrames(one.Explanation)})
	}
	return respond.JSON(c, http.StatusOK, gin.H{"stacks": stacks, "total": s.Distinct, "reports": s.Reports,
		"sampled": s.Sampled, "splits": splitViews(s.Splits)})
}

// splitViews shows rules, each once: a group with parts has it for each of them.
func splitViews(rules []crash.Split) []splitView {
	type target struct{ key, group int64 }
	views, shown := make([]splitView, 0, len(rules)), map[target][]crash.Split{}
	for _, rule := range rules {
		at := target{rule.KeyID, rule.ShownID}
		if slices.ContainsFunc(shown[at], rule.Same) {
			continue
		}
		shown[at] = append(shown[at], rule)
		view := splitView{Stack: hexText(rule.Stack), GroupID: rule.ShownID}
		if rule.Attribute != nil {
			view.Attribute = &splitAttribute{*rule.Attribute, *rule.Value}
		}
		views = append(views, view)
	}
	return views
}

func hexText(b []byte) *string {
	if len(b) == 0 {
		return nil
	}
	text := hex.EncodeToString(b)
	return &text
}

// stackFrames reads from an explanation the frames of the whole stack. One of the first
// algorithm does not mark them: there they are those of the key.
func stackFrames(explanation json.RawMessage) []stackFrame {
	var doc struct {
		Frames []struct {
			stackFrame
			Stack *bool `json:"stack"`
		} `json:"frames"`
	}
	frames := []stackFrame{}
	if len(explanation) == 0 || json.Unmarshal(explanation, &doc) != nil {
		return frames
	}
	for _, f := range doc.Frames {
		if f.Stack != nil && *f.Stack || f.Stack == nil && f.Kept {
			frames = append(frames, f.stackFrame)
		}
	}
	return frames
}

// splitRequest is the body of a split: one of its members.
type splitRequest struct {
	Stacks    []string        `json:"stacks"`
	Attribute *splitAttribute `json:"attribute"`
}

func (r splitRequest) by() (by crash.SplitBy, err error) {
	if r.Attribute != nil {
		by.Attribute = &condition.Attribute{Key: r.Attribute.Key, Value: r.Attribute.Value}
	}
	for i, text := range r.Stacks {
		key, err := hex.DecodeString(text)
		if err != nil {
			return by, &storage.InvalidError{Field: fmt.Sprintf("stacks[%d]", i), Msg: "must be 32 hexadecimal digits"}
		}
		by.Stacks = append(by.Stacks, key)
	}
	return by, by.Validate()
}

// Split serves POST /api/v3/crash-groups/{id}/split: {"stacks":[...]} or
// {"attribute":{"key":...,"value":...}}. The answer is 202 with the new group, which has
// the first of the matching reports, and the task that moves the rest.
func (h *splitting) Split(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	var req splitRequest
	if err := body.Read(c, &req); err != nil {
		return err
	}
	by, err := req.by()
	if err != nil {
		return err
	}
	ctx, w := c.Request.Context(), auth.Writer(c)
	plan, err := crash.PlanSplit(ctx, h.store.DB(), w.OrganizationID, id, by)
	if err != nil {
		return err
	}
	var task *ledger.NewTask
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		id, task, err = plan.Split(ctx, tx, w, func(target int64) *ledger.NewTask {
			return tasks.NewCrashSplit(w.OrganizationID, respond.RequestID(ctx), target)
		})
		return err
	})
	if err != nil {
		return conflict(err, "the group was changed meanwhile: look at it and split again")
	}
	g, err := reading.GroupByID(ctx, h.store.DB(), w.OrganizationID, id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusAccepted, gin.H{"crash_group": detailOf(g, reading.Window{}), "task_id": task.ID})
}
