package crash

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
)

// List answers GET /api/v3/crash-groups. Parameters: project (number), state,
// search (part of title, culprit or classifier, or the beginning of the
// fingerprint), attribute.KEY=VALUE (groups with a report that carries all of
// them), from and to (groups seen in between), sort (last_seen, first_seen,
// count), order (desc, asc), page, per_page.
func (h *Handlers) List(c *gin.Context) {
	q := c.Request.URL.Query()
	at, err := pagination.Parse(q, pagination.Small())
	f := crash.GroupFilter{OrganizationID: organization(c), State: crash.GroupState(q.Get("state")),
		Search: q.Get("search"), Sort: crash.GroupSort(q.Get("sort")), Ascending: q.Get("order") == "asc",
		Limit: at.Limit(), Offset: at.Offset()}
	if err == nil {
		err = checkGroupFilter(&f, q.Get("order"))
	}
	if err == nil {
		f.ProjectID, err = project(q)
	}
	if err == nil {
		f.Attributes, err = attributes(q)
	}
	if err == nil {
		f.From, f.To, err = pagination.Range(q, "from", "to")
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	groups, total, err := h.store.Groups(c.Request.Context(), f)
	if err != nil {
		respond.V3(c, err)
		return
	}
	views := make([]groupView, 0, len(groups))
	for i := range groups {
		views = append(views, viewOf(&groups[i]))
	}
	respond.JSON(c, http.StatusOK, gin.H{"crash_groups": views, "pagination": at.Envelope(total)})
}

func checkGroupFilter(f *crash.GroupFilter, order string) error {
	if f.State != "" {
		if err := f.State.Validate(); err != nil {
			return err
		}
	}
	if f.Sort != "" {
		if err := f.Sort.Validate(); err != nil {
			return err
		}
	}
	if order != "" && order != "asc" && order != "desc" {
		return &storage.InvalidError{Field: "order", Msg: "must be asc or desc"}
	}
	if len(f.Search) > maxSearch || !crash.PlainText(f.Search) {
		return &storage.InvalidError{Field: "search", Msg: "must be UTF-8 text of at most 500 bytes"}
	}
	return nil
}

// Get answers GET /api/v3/crash-groups/{id}.
func (h *Handlers) Get(c *gin.Context) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		respond.V3(c, err)
		return
	}
	h.answer(c, id)
}

func (h *Handlers) answer(c *gin.Context, id int64) {
	g, err := h.store.GroupByID(c.Request.Context(), organization(c), id)
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, gin.H{"crash_group": detailOf(g)})
}

// change is the body of a PATCH: one of its members.
type change struct {
	State     *crash.GroupState `json:"state"`
	MergeInto *int64            `json:"merge_into"`
}

// maxChange bounds the body of a PATCH.
const maxChange = 64 << 10

func readChange(c *gin.Context) (change, error) {
	var in change
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxChange))
	if err != nil {
		return in, bodyError(err)
	}
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(body, &in); {
	case errors.As(err, &wrong) && wrong.Field != "":
		return in, &storage.InvalidError{Field: wrong.Field, Msg: "has the wrong type"}
	case err != nil:
		return in, &storage.InvalidError{Field: "body", Msg: "must be a JSON object"}
	case (in.State == nil) == (in.MergeInto == nil):
		return in, &storage.InvalidError{Field: "body", Msg: "must have either state or merge_into"}
	case in.State != nil:
		return in, in.State.Validate()
	}
	return in, nil
}

// bodyError keeps 413 and calls everything else the caller's broken body.
func bodyError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return &storage.InvalidError{Field: "body", Msg: "cannot be read"}
}

// Change answers PATCH /api/v3/crash-groups/{id}: {"state":...} or
// {"merge_into":id}. It answers the group, after a merge the target.
func (h *Handlers) Change(c *gin.Context) {
	id, err := pagination.ID(c.Param("id"))
	var in change
	if err == nil {
		in, err = readChange(c)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	ctx, actor := c.Request.Context(), auth.Actor(c)
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) error {
		var err error
		if in.MergeInto != nil {
			id, err = merge(ctx, tx, actor, organization(c), id, *in.MergeInto)
		} else {
			id, err = setState(ctx, tx, actor, organization(c), id, *in.State)
		}
		return err
	})
	if err != nil {
		respond.V3(c, conflict(err))
		return
	}
	h.answer(c, id)
}

func setState(ctx context.Context, tx *storage.Tx, actor account.Actor, org, id int64, state crash.GroupState) (int64, error) {
	id, former, err := crash.SetGroupState(ctx, tx, org, id, state)
	if err != nil {
		return 0, err
	}
	return id, account.Audit(ctx, tx, account.Event{OrganizationID: org, Type: account.CrashGroupUpdated, Actor: actor,
		Subject: "crash group " + strconv.FormatInt(id, 10), Detail: map[string]any{"state": state, "former_state": former}})
}

func merge(ctx context.Context, tx *storage.Tx, actor account.Actor, org, source, target int64) (int64, error) {
	id, done, err := crash.Merge(ctx, tx, org, source, target)
	if err != nil || !done {
		return id, err
	}
	return id, account.Audit(ctx, tx, account.Event{OrganizationID: org, Type: account.CrashGroupMerged, Actor: actor,
		Subject: "crash group " + strconv.FormatInt(source, 10), Detail: map[string]any{"merged_into": id}})
}

// Crashes answers GET /api/v3/crash-groups/{id}/crashes, newest first.
// Parameters: attribute.KEY=VALUE, from and to (of the occurrence), page,
// per_page.
func (h *Handlers) Crashes(c *gin.Context) {
	q := c.Request.URL.Query()
	id, err := pagination.ID(c.Param("id"))
	f := crash.CrashFilter{OrganizationID: organization(c)}
	var at pagination.Request
	if err == nil {
		at, err = pagination.Parse(q, pagination.Small())
	}
	if err == nil {
		f.Attributes, err = attributes(q)
	}
	if err == nil {
		f.From, f.To, err = pagination.Range(q, "from", "to")
	}
	if err == nil {
		f.GroupID, err = h.store.ResolveGroup(c.Request.Context(), f.OrganizationID, id)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	f.Limit, f.Offset = at.Limit(), at.Offset()
	rows, total, err := h.store.Crashes(c.Request.Context(), f)
	if err != nil {
		respond.V3(c, err)
		return
	}
	views := make([]crashView, 0, len(rows))
	for i := range rows {
		views = append(views, rowView(&rows[i]))
	}
	respond.JSON(c, http.StatusOK, gin.H{"crashes": views, "pagination": at.Envelope(total)})
}
