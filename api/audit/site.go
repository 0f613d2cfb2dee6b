package audit

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// site1 is an organization of the account in version 1.
type site1 struct {
	ID          string              `json:"id"`
	Name        string              `json:"name"`
	BuildsCount int64               `json:"buildsCount"`
	Users       []siteUser1         `json:"users"`
	Subdomain   string              `json:"subdomain"`
	LoginMethod account.LoginMethod `json:"loginMethod"`
}

type siteUser1 struct {
	Email string       `json:"email"`
	Role  account.Role `json:"role"`
}

type manager1 struct {
	Email string `json:"email"`
}

func viewSite(s *account.Site) site1 {
	v := site1{ID: strconv.FormatInt(s.ID, 10), Name: s.Name, BuildsCount: s.Builds, Users: []siteUser1{}, Subdomain: s.Slug,
		LoginMethod: s.LoginMethod}
	for _, u := range s.Users {
		v.Users = append(v.Users, siteUser1{Email: u.Email, Role: u.Role})
	}
	return v
}

// sites serves GET /api/1/site: the sites that the caller manages, and who manages the
// account.
func (h *Handlers) sites(c *gin.Context) error {
	list, managers, err := account.SitesOf(c.Request.Context(), h.cfg.DB, auth.Organization(c))
	if err != nil {
		return err
	}
	accounts, people := make([]site1, 0, len(list)), make([]manager1, 0, len(managers))
	for i := range list {
		accounts = append(accounts, viewSite(&list[i]))
	}
	for _, m := range managers {
		people = append(people, manager1{Email: m.Email})
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "site": gin.H{"accounts": accounts, "managers": people}})
}

// siteRequest is a site to create.
type siteRequest struct {
	Name        string `json:"name"`
	LoginMethod string `json:"loginMethod"`
}

// createSite serves POST /api/1/site. The answer has the site and, once, an API key of
// the caller in it: keys are of one organization, and there is no other way in yet.
func (h *Handlers) createSite(c *gin.Context) error {
	var req siteRequest
	if err := body.Read(c, &req, body.IgnoreUnknown); err != nil {
		return err
	}
	caller := auth.CallerOf(c.Request.Context())
	if caller.Service {
		return &respond.Problem{Status: http.StatusForbidden, Text: "a service account cannot own a site: create it with the key of a person"}
	}
	var made *account.Site
	var secret account.Secret
	err := h.cfg.DB.InTx(c.Request.Context(), func(tx *storage.Tx) error {
		var err error
		made, secret, err = h.newSite(c.Request.Context(), tx, caller, auth.Actor(c), req)
		return err
	})
	if err != nil {
		return siteProblem(err)
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "site": viewSite(made), "apiKey": secret.Text})
}

func (h *Handlers) newSite(ctx context.Context, tx *storage.Tx, caller *auth.Caller, actor account.Actor,
	req siteRequest) (*account.Site, account.Secret, error) {
	made, err := account.CreateSite(ctx, tx, actor, account.NewSite{Account: caller.OrganizationID, Owner: caller.UserID,
		Name: req.Name, LoginMethod: account.LoginMethod(req.LoginMethod)})
	if err != nil {
		return nil, account.Secret{}, err
	}
	_, secret, err := account.CreateKey(ctx, tx, actor, h.cfg.Keys, account.NewKey{OrganizationID: made.ID, UserID: caller.UserID,
		Kind: account.KindAPI, Name: "site"})
	if err != nil {
		return nil, account.Secret{}, err
	}
	made.Users = []account.SiteUser{{Email: caller.Email, Role: account.Owner}}
	return made, secret, nil
}

func siteProblem(err error) error {
	switch {
	case errors.Is(err, account.ErrNotManager):
		return &respond.Problem{Status: http.StatusForbidden, Text: account.ErrNotManager.Error()}
	case errors.Is(err, storage.ErrConflict):
		return &respond.Problem{Status: http.StatusConflict,
			Text: "name: a site of this name exists already, or the account has as many as it may have", Err: err}
	}
	return err
}
