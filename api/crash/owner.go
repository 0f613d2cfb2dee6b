package crash

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

// ownerView is a pattern with whom new groups are assigned to.
type ownerView struct {
	Pattern  string     `json:"pattern"`
	Assignee personView `json:"assignee"`
}

// ownersRequest replaces the owners of a crash project.
type ownersRequest struct {
	Owners []ownerRequest `json:"owners"`
}

type ownerRequest struct {
	Pattern  string `json:"pattern"`
	Assignee word   `json:"assignee"` // id, mail address or me
}

// Owners serves GET /api/v3/crash-projects/{id}/owners.
func (h *Handlers) Owners(c *gin.Context) error {
	p, err := h.project(c, auth.Organization(c))
	if err != nil {
		return err
	}
	return h.showOwners(c, p)
}

func (h *Handlers) showOwners(c *gin.Context, p *crashproject.Project) error {
	list, err := crash.Owners(c.Request.Context(), h.store.DB(), p.OrganizationID, p.ID)
	if err != nil {
		return err
	}
	views := make([]ownerView, 0, len(list))
	for _, o := range list {
		v := ownerView{Pattern: o.Pattern, Assignee: personView{ID: o.UserID}}
		if o.Email != nil && o.Name != nil {
			v.Assignee.Email, v.Assignee.Name = *o.Email, *o.Name
		}
		views = append(views, v)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"owners": views})
}

// SetOwners serves PUT /api/v3/crash-projects/{id}/owners: the list replaces the former one.
func (h *Handlers) SetOwners(c *gin.Context) error {
	ctx, w := c.Request.Context(), auth.Writer(c)
	p, err := h.project(c, w.OrganizationID)
	if err != nil {
		return err
	}
	var in ownersRequest
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxChange)
	if err := body.Read(c, &in); err != nil {
		return err
	}
	if in.Owners == nil {
		return storage.Invalid("owners", "must be an array")
	}
	if len(in.Owners) > crash.MaxOwners {
		return storage.Invalid("owners", "must be at most %d", crash.MaxOwners)
	}
	owners := make([]crash.Owner, 0, len(in.Owners))
	users := map[word]int64{}
	for i, o := range in.Owners {
		if _, known := users[o.Assignee]; !known {
			change := groupChange{Assignee: o.Assignee}
			user, err := change.assignee(ctx, h.store.DB(), w)
			var invalid *storage.InvalidError
			if err != nil && !errors.As(err, &invalid) {
				return err
			}
			if err != nil || user == nil {
				return storage.Invalid(fmt.Sprintf("owners[%d].assignee", i),
					"must be the id or the mail address of a person of the organization who may read crashes, or me")
			}
			users[o.Assignee] = *user
		}
		owners = append(owners, crash.Owner{Pattern: o.Pattern, UserID: users[o.Assignee]})
	}
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) error { return crash.SetOwners(ctx, tx, w, p.ID, owners) })
	if err != nil {
		return err
	}
	return h.showOwners(c, p)
}
