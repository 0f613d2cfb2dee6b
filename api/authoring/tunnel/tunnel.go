// Package tunnel serves tunnels: named proxies through which workers reach what is tested.
//
// An address that workers may not reach is refused when it comes; a name that does not resolve
// may be one that only workers know. User and password of an address are sealed and never shown.
// Runs that have begun keep a tunnel that is deleted.
package tunnel

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// maxTunnelName is what a name may have, in characters.
const maxTunnelName = 100

// tunnelView is a tunnel, without the user and password of its address.
type tunnelView struct {
	Name          string    `json:"name"`
	Kind          string    `json:"kind"`
	Host          string    `json:"host"`
	CreationDate  string    `json:"creationDate"`
	CreatorUserID uuid.UUID `json:"creatorUserId"`
}

func viewTunnel(t *authoring.Tunnel) tunnelView {
	return tunnelView{Name: t.Name, Kind: t.Kind, Host: t.Host, CreationDate: answer.Stamp(t.CreatedAt), CreatorUserID: t.CreatorUUID}
}

// Tunnels are the handlers of named proxies.
type Tunnels struct{ *handler.Base }

// List serves GET /tunnels, by name. Parameters: search (part of the name), skip,
// limit.
func (h Tunnels) List(c *gin.Context) error {
	q := request.QueryOf(c)
	search, page := q.Search(), q.Page()
	if q.Err != nil {
		return q.Err
	}
	rows, total, err := authoring.Tunnels(c.Request.Context(), h.DB, auth.Organization(c), search, page)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, answer.ListOf(rows, total, viewTunnel))
}

// Create serves POST /tunnels. Members: name, url (http://, https:// or
// socks5://[user:password@]host:port).
func (h Tunnels) Create(c *gin.Context) error {
	var in struct {
		Name *string `json:"name"`
		URL  *string `json:"url"`
	}
	if err := h.Read(c, &in); err != nil {
		return err
	}
	if err := request.Required(in.Name); err != nil {
		return err
	}
	if in.URL == nil {
		return problem.Member("url", "is required")
	}
	if err := h.checkProxy(c.Request.Context(), *in.URL); err != nil {
		return err
	}
	row, err := handler.Changed(h.Base, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Tunnel, error) {
		row, err := authoring.CreateTunnel(ctx, tx, w, h.SealKeys, *in.Name, *in.URL)
		return row, ofURL(err)
	})
	if err != nil {
		return problem.Conflict(err, "there is a tunnel of that name already")
	}
	return answer.Data(c, http.StatusCreated, viewTunnel(row))
}

// ofURL names the member that the store calls the address.
func ofURL(err error) error {
	var wrong *storage.InvalidError
	if errors.As(err, &wrong) && wrong.Field == "address" {
		return problem.Member("url", wrong.Msg)
	}
	return err
}

// checkProxy refuses addresses that workers may not reach. The guard knows http
// addresses without a user, and so checks one with the same host and port.
// A name that does not resolve may be one that only workers know. What is no
// address at all is left to the store.
func (h Tunnels) checkProxy(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	_, err = h.Guard.CheckURL(ctx, (&url.URL{Scheme: "http", Host: u.Host}).String())
	if err != nil && !errors.Is(err, outbound.ErrUnresolved) {
		return problem.Member("url", err.Error())
	}
	return nil
}

// Get serves GET /tunnels/{name}.
func (h Tunnels) Get(c *gin.Context) error {
	name, err := tunnelParam(c)
	if err != nil {
		return err
	}
	row, err := authoring.TunnelByName(c.Request.Context(), h.DB, auth.Organization(c), name)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, viewTunnel(row))
}

// Delete serves DELETE /tunnels/{name}. Runs that have begun keep it.
func (h Tunnels) Delete(c *gin.Context) error {
	name, err := tunnelParam(c)
	if err != nil {
		return err
	}
	err = h.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return authoring.DeleteTunnel(ctx, tx, w, name)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

func tunnelParam(c *gin.Context) (string, error) {
	name := c.Param("name")
	if n := utf8.RuneCountInString(name); n == 0 || n > maxTunnelName || !utf8.ValidString(name) {
		return "", problem.InvalidParams(&storage.InvalidError{Field: "name", Msg: fmt.Sprintf("must have 1 to %d characters", maxTunnelName)})
	}
	return name, nil
}

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types { return route.Types{Schemas: map[string]any{"tunnel": tunnelView{}}} }

// Vocabulary are the bodies and answers whose members have a meaning elsewhere.
func Vocabulary() request.Vocabulary {
	return request.Vocabulary{Answers: map[string][]any{"/tunnels": {tunnelView{}}}}
}
