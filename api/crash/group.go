package crash

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
)

// Groups serves GET /api/v3/crash-groups. Parameters: project (number), state,
// search (part of title, culprit or classifier, or the beginning of the
// fingerprint), attribute.KEY=VALUE (groups with a report that carries all of
// them), from and to (groups seen in between), sort (last_seen, first_seen,
// count), order (desc, asc), page, per_page.
func (h *Handlers) Groups(c *gin.Context) error {
	at, f, err := groupFilter(c.Request.URL.Query())
	if err != nil {
		return err
	}
	f.OrganizationID = auth.Organization(c)
	groups, total, err := crash.Groups(c.Request.Context(), h.store.DB(), f)
	if err != nil {
		return err
	}
	views := make([]groupView, 0, len(groups))
	for i := range groups {
		views = append(views, viewOf(&groups[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crash_groups": views, "pagination": at.Envelope(total)})
}

func groupFilter(q url.Values) (at pagination.Request, f crash.GroupFilter, err error) {
	if at, err = pagination.Parse(q, pagination.Small()); err != nil {
		return at, f, err
	}
	f = crash.GroupFilter{State: crash.GroupState(q.Get("state")), Search: q.Get("search"),
		Sort: crash.GroupSort(q.Get("sort")), Ascending: q.Get("order") == "asc", Limit: at.Limit(), Offset: at.Offset()}
	if err = checkGroupFilter(&f, q.Get("order")); err != nil {
		return at, f, err
	}
	if f.ProjectID, err = projectFilter(q); err != nil {
		return at, f, err
	}
	if f.Attributes, err = attributes(q); err != nil {
		return at, f, err
	}
	f.From, f.To, err = pagination.Range(q, "from", "to")
	return at, f, err
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

// Group serves GET /api/v3/crash-groups/{id}.
func (h *Handlers) Group(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	return h.showGroup(c, auth.Organization(c), id)
}

// showGroup reads a group and writes it as the answer.
func (h *Handlers) showGroup(c *gin.Context, organization, id int64) error {
	g, err := crash.GroupByID(c.Request.Context(), h.store.DB(), organization, id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crash_group": detailOf(g)})
}

// groupChange is the body of a PATCH: one of its members.
type groupChange struct {
	State     *crash.GroupState `json:"state"`
	MergeInto *int64            `json:"merge_into"`
}

// maxChange bounds the body of a PATCH.
const maxChange = 64 << 10

func readChange(c *gin.Context) (groupChange, error) {
	var in groupChange
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

// ChangeGroup serves PATCH /api/v3/crash-groups/{id}: {"state":...} or
// {"merge_into":id}. The answer is the group, after a merge the target.
func (h *Handlers) ChangeGroup(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	in, err := readChange(c)
	if err != nil {
		return err
	}
	ctx, w := c.Request.Context(), auth.Writer(c)
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		id, err = in.apply(ctx, tx, w, id)
		return err
	})
	if errors.Is(err, storage.ErrConflict) {
		return &respond.Problem{Status: http.StatusConflict, Text: "groups of different projects cannot be merged", Err: err}
	}
	if err != nil {
		return err
	}
	return h.showGroup(c, w.OrganizationID, id)
}

// apply returns the id of the group that has the reports afterwards.
func (in groupChange) apply(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) (int64, error) {
	if in.MergeInto == nil {
		return crash.SetGroupState(ctx, tx, w, id, *in.State)
	}
	id, _, err := crash.Merge(ctx, tx, w, id, *in.MergeInto)
	return id, err
}

// GroupCrashes serves GET /api/v3/crash-groups/{id}/crashes, newest first.
// Parameters: attribute.KEY=VALUE, from and to (of the occurrence), page,
// per_page.
func (h *Handlers) GroupCrashes(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, f, err := crashFilter(c.Request.URL.Query())
	if err != nil {
		return err
	}
	f.OrganizationID = auth.Organization(c)
	if f.GroupID, err = crash.ResolveGroup(c.Request.Context(), h.store.DB(), f.OrganizationID, id); err != nil {
		return err
	}
	rows, total, err := crash.Crashes(c.Request.Context(), h.store.DB(), f)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crashes": rowViews(rows), "pagination": at.Envelope(total)})
}

func crashFilter(q url.Values) (at pagination.Request, f crash.CrashFilter, err error) {
	if at, err = pagination.Parse(q, pagination.Small()); err != nil {
		return at, f, err
	}
	f.Limit, f.Offset = at.Limit(), at.Offset()
	if f.Attributes, err = attributes(q); err != nil {
		return at, f, err
	}
	f.From, f.To, err = pagination.Range(q, "from", "to")
	return at, f, err
}
