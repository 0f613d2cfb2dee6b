package crash

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// The words that stand for a caller and for nobody, or nothing.
const (
	wordMe   = "me"
	wordNone = "none"
)

// word is a member that comes as a text, a number, true, false or null, which is the
// word none. "": the member is absent.
type word string

// UnmarshalJSON takes any scalar.
func (w *word) UnmarshalJSON(text []byte) error {
	wrong := &json.UnmarshalTypeError{Value: "value", Type: reflect.TypeFor[string]()}
	switch text[0] {
	case '{', '[':
		return wrong
	case 'n':
		*w = wordNone
		return nil
	case '"':
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		if s = strings.TrimSpace(s); s == "" {
			s = wordNone
		}
		*w = word(s)
		return nil
	}
	*w = word(text)
	return nil
}

// groupChange is the body of a PATCH: merge_into or unmerge alone, or any of state,
// assignee and issue_url. in_version and in_next_version go with the state resolved, the
// others with the state ignored.
type groupChange struct {
	State         *crash.GroupState `json:"state"`
	InVersion     string            `json:"in_version"`
	InNextVersion *body.Switch      `json:"in_next_version"`
	Until         string            `json:"until"`
	UntilCount    *int64            `json:"until_count"`
	UntilUsers    *int64            `json:"until_users"`
	UntilVersion  string            `json:"until_version"`
	Assignee      word              `json:"assignee"` // id, mail address, me or none
	IssueURL      word              `json:"issue_url"`
	MergeInto     *int64            `json:"merge_into"`
	Unmerge       word              `json:"unmerge"` // true, or the id of a part
}

// maxChange bounds the body of a PATCH.
const maxChange = 64 << 10

func readChange(c *gin.Context) (groupChange, error) {
	var in groupChange
	if c.Request.Body != nil {
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxChange)
	}
	if err := body.Read(c, &in); err != nil {
		return in, err
	}
	change, merge, unmerge := in.changes(), in.MergeInto != nil, in.Unmerge != ""
	switch {
	case !change && !merge && !unmerge:
		return in, storage.Invalid("body", "must have state, assignee, issue_url, merge_into or unmerge")
	case merge && (change || unmerge):
		return in, storage.Invalid("merge_into", "cannot be combined with other members")
	case unmerge && change:
		return in, storage.Invalid("unmerge", "cannot be combined with other members")
	}
	return in, nil
}

// changes reports whether a member is given of a change that is no merge.
func (in *groupChange) changes() bool {
	return in.State != nil || in.InVersion != "" || in.InNextVersion != nil || in.Until != "" || in.UntilCount != nil ||
		in.UntilUsers != nil || in.UntilVersion != "" || in.Assignee != "" || in.IssueURL != ""
}

// ChangeGroup serves PATCH /api/v3/crash-groups/{id}. The answer is the group of the
// path: after a merge that is the target, after {"unmerge":true} the part.
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
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) error { return in.apply(ctx, tx, w, id) })
	if in.MergeInto != nil && errors.Is(err, storage.ErrConflict) {
		return &respond.Problem{Status: http.StatusConflict, Text: "groups of different projects cannot be merged", Err: err}
	}
	if err != nil {
		return err
	}
	return h.showGroup(c, w.OrganizationID, id, reading.Window{})
}

func (in *groupChange) apply(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
	switch {
	case in.MergeInto != nil:
		_, _, err := crash.Merge(ctx, tx, w, id, *in.MergeInto)
		return err
	case in.Unmerge != "":
		return in.unmerge(ctx, tx, w, id)
	}
	change, err := in.change(ctx, tx, w)
	if err != nil {
		return err
	}
	_, err = crash.ChangeGroup(ctx, tx, w, id, change)
	return err
}

// change is what the body says about a group, or many.
func (in *groupChange) change(ctx context.Context, q storage.Querier, w account.Writer) (crash.GroupChange, error) {
	change := crash.GroupChange{State: in.State, InVersion: in.InVersion, UntilCount: in.UntilCount, UntilUsers: in.UntilUsers,
		UntilVersion: in.UntilVersion}
	change.InNext = in.InNextVersion != nil && bool(*in.InNextVersion)
	if in.Until != "" {
		at, _, err := pagination.Instant("until", in.Until)
		if err != nil {
			return change, err
		}
		change.Until = &at
	}
	if in.IssueURL != "" {
		link := string(in.IssueURL)
		if link == wordNone {
			link = ""
		}
		change.IssueURL = &link
	}
	var err error
	change.Assignee, err = in.assignee(ctx, q, w)
	return change, err
}

func (in *groupChange) unmerge(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
	if in.Unmerge == "true" {
		_, err := crash.Unmerge(ctx, tx, w, id)
		return err
	}
	part, err := strconv.ParseInt(string(in.Unmerge), 10, 64)
	if err != nil || part < 1 {
		return storage.Invalid("unmerge", "must be true, or the id of a part")
	}
	_, err = crash.UnmergePart(ctx, tx, w, id, part)
	return err
}

// assignee finds the user; nil when the member is absent, 0 for nobody.
func (in *groupChange) assignee(ctx context.Context, q storage.Querier, w account.Writer) (*int64, error) {
	text := string(in.Assignee)
	var user int64
	switch {
	case text == "":
		return nil, nil
	case text == wordNone:
	case text == wordMe:
		user = w.Actor.UserID
	case strings.Contains(text, "@"):
		m, err := account.MemberByLogin(ctx, q, w.OrganizationID, text)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, notAssignable()
		}
		if err != nil {
			return nil, err
		}
		user = m.ID
	default:
		var err error
		if user, err = strconv.ParseInt(text, 10, 64); err != nil || user < 1 {
			return nil, notAssignable()
		}
	}
	return &user, nil
}

func notAssignable() error {
	return storage.Invalid("assignee", "must be the id or the mail address of a person of the organization who may read crashes, me, or null")
}

// assigneeFilter reads the parameter assignee of the list: user ids, me, none (0), any
// of them.
func assigneeFilter(q url.Values, me int64) ([]int64, error) {
	words, err := pagination.List(q, "assignee")
	if err != nil {
		return nil, err
	}
	var users []int64
	for _, w := range words {
		var user int64
		switch w {
		case wordNone:
		case wordMe:
			user = me
		default:
			if user, err = strconv.ParseInt(w, 10, 64); err != nil || user < 1 {
				return nil, storage.Invalid("assignee", "must be the id of a user, me or none")
			}
		}
		if !slices.Contains(users, user) {
			users = append(users, user)
		}
	}
	return users, nil
}
