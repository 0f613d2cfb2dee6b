package tester

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/tester"
)

// people are the handlers of testers in version 3.
type people struct{ *room }

// list serves GET /api/v3/testers, newest first. Parameters: page, per_page, search,
// blocked, group (name or id), build_id (adds the member invite).
func (h people) list(c *gin.Context) error {
	found, at, err := h.page(c, pagination.Small(), "build_id")
	if err != nil {
		return err
	}
	views := make([]testerView, 0, len(found.testers))
	for i := range found.testers {
		views = append(views, h.view(found, &found.testers[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"testers": views, "pagination": at})
}

// get serves GET /api/v3/testers/{id}. Parameter: build_id.
func (h people) get(c *gin.Context) error {
	found, err := h.named(c, "build_id")
	if err != nil {
		return err
	}
	return h.answer(c, http.StatusOK, found, gin.H{})
}

// answer writes a tester beside other members.
func (h people) answer(c *gin.Context, status int, found *listed, members gin.H) error {
	members["tester"] = h.view(found, &found.testers[0])
	return respond.JSON(c, status, members)
}

// addBody is the body of an invitation to the organization.
type addBody struct {
	Email  body.LongList `json:"email"`
	Emails body.LongList `json:"emails"`
	Name   string        `json:"name"`
	Role   *string       `json:"role"`
	Groups body.List     `json:"groups"`
	Group  body.List     `json:"group"`
	Notify *body.Switch  `json:"notify"`
}

// read returns the request of a body.
func (in *addBody) read(c *gin.Context) (a adding, err error) {
	if err = body.Read(c, in); err != nil {
		return a, err
	}
	if in.Role != nil && !strings.EqualFold(strings.TrimSpace(*in.Role), string(account.Tester)) {
		return a, storage.Invalid("role", "must be tester: people of other roles are not added here")
	}
	a.emails = append(append(a.emails, in.Email...), in.Emails...)
	a.name = strings.TrimSpace(in.Name)
	if a.name != "" && len(a.emails) > 1 {
		return a, storage.Invalid("name", "is that of one person: send one mail address with it")
	}
	a.groups = append(append(a.groups, in.Groups...), in.Group...)
	if len(a.groups) > maxGroups {
		return a, storage.Invalid("groups", "has at most %d names", maxGroups)
	}
	a.notify = in.Notify != nil && bool(*in.Notify)
	return a, nil
}

// maxGroups bounds the groups of one request: each is locked and looked up by itself.
const maxGroups = 100

// add serves POST /api/v3/testers: email (one address or several), emails (a list), name,
// groups (names or ids), notify. The answer is 201, or 200 when everybody was a member
// before; it has the tester when there is one address.
func (h people) add(c *gin.Context) error {
	var in addBody
	request, err := in.read(c)
	if err != nil {
		return err
	}
	var added *tester.Added
	var task string
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		added, task, err = h.room.add(ctx, tx, w, request)
		return err
	})
	if err != nil {
		return err
	}
	status, answer := http.StatusCreated, gin.H{"invited": len(added.UserIDs), "created": added.Joined}
	if added.Joined == 0 {
		status = http.StatusOK
	}
	if task != "" {
		answer["task_id"] = task
	}
	if len(added.UserIDs) > 1 {
		return respond.JSON(c, status, answer)
	}
	t, err := tester.ByUser(c.Request.Context(), h.db, auth.Organization(c), added.UserIDs[0])
	if err != nil {
		return err
	}
	found, err := h.withAll(c, []tester.Tester{*t}, nil)
	if err != nil {
		return err
	}
	return h.answer(c, status, found, answer)
}

// act runs one of the store's changes of a tester.
func (r *room) act(c *gin.Context, do func(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID,
	id int64) error) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	return r.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return do(ctx, tx, w.Actor, w.OrganizationID, id)
	})
}

// remove serves DELETE /api/v3/testers/{id}.
func (h people) remove(c *gin.Context) error {
	if err := h.act(c, tester.Remove); err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

// block serves POST /api/v3/testers/{id}/block.
func (h people) block(c *gin.Context) error {
	if err := h.act(c, tester.Block); err != nil {
		return err
	}
	return h.get(c)
}

// unblock serves DELETE /api/v3/testers/{id}/block.
func (h people) unblock(c *gin.Context) error {
	if err := h.act(c, tester.Unblock); err != nil {
		return err
	}
	return h.get(c)
}
