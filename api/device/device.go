// Package device serves the devices that testers registered, to administrators over
// version 3 of the distribution interface: a list with search, the text file that
// Apple's portal imports, and registering and removing a device by hand.
//
// Testers register their devices themselves, on the pages of package install. What an
// administrator types in is marked as verified by nothing, until the device itself
// confirms it.
//
// The file is that of Apple's page "Register multiple devices": tab-separated, with a
// line of headings, and ios or mac as the platform. Each device stands in it once,
// whoever shares it; those of blocked testers are left out. Names are cleaned, so that
// none adds a column, a line or the formula of a spreadsheet.
//
// Failures are 400 for a member that breaks a rule, 403, and 404 also for what belongs
// to another organization.
package device

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/device"
)

// Handlers are the handlers of the room's routes.
type Handlers struct{ db *storage.DB }

// New returns the handlers.
func New(db *storage.DB) *Handlers { return &Handlers{db: db} }

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3 = respond.InterfaceV3
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/devices", Interface: v3, Query: []string{"page", "per_page", "search"},
			Action: auth.ReadDevices, Handler: h.List},
		{Method: http.MethodPost, Path: "/api/v3/devices", Interface: v3, Action: auth.ManageDevices, Handler: h.Create},
		{Method: http.MethodGet, Path: "/api/v3/devices/export", Interface: v3, Query: route.NoQuery(), Action: auth.ReadDevices,
			Handler: h.Export},
		{Method: http.MethodGet, Path: "/api/v3/devices/:id", Interface: v3, Query: route.NoQuery(), Action: auth.ReadDevices, Handler: h.Get},
		{Method: http.MethodDelete, Path: "/api/v3/devices/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageDevices, Handler: h.Delete},
	}
}

// view is a device as answers show it.
type view struct {
	ID        int64           `json:"id"`
	UDID      string          `json:"udid"`
	Name      string          `json:"name"`
	Product   string          `json:"product"`
	OSVersion string          `json:"os_version"`
	Platform  device.Platform `json:"platform"`
	Tester    testerView      `json:"tester"`
	Source    device.Source   `json:"source"`
	Verified  device.Verified `json:"verified"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// testerView names the owner: by the id of the membership, as testers have it, and that
// of the person.
type testerView struct {
	ID     int64  `json:"id"`
	UserID int64  `json:"user_id"`
	Email  string `json:"email"`
}

func viewOf(d *device.Device) view {
	return view{ID: d.ID, UDID: d.UDID, Name: d.Name, Product: d.Product, OSVersion: d.OSVersion, Platform: d.Platform,
		Tester: testerView{ID: d.MembershipID, UserID: d.UserID, Email: d.Email}, Source: d.Source, Verified: d.Verified,
		CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt}
}

func (h *Handlers) inTx(c *gin.Context, work func(context.Context, *storage.Tx) error) error {
	ctx := c.Request.Context()
	return h.db.InTx(ctx, func(tx *storage.Tx) error { return work(ctx, tx) })
}

func organization(c *gin.Context) int64 { return auth.CallerOf(c.Request.Context()).OrganizationID }

// List serves GET /api/v3/devices.
func (h *Handlers) List(c *gin.Context) error {
	q := c.Request.URL.Query()
	at, err := pagination.Parse(q, pagination.Small())
	if err != nil {
		return err
	}
	list, total, err := device.List(c.Request.Context(), h.db, organization(c), q.Get("search"), at.Rows())
	if err != nil {
		return err
	}
	views := make([]view, 0, len(list))
	for i := range list {
		views = append(views, viewOf(&list[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"devices": views, "pagination": at.Envelope(total)})
}

// Get serves GET /api/v3/devices/{id}.
func (h *Handlers) Get(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	d, err := device.ByID(c.Request.Context(), h.db, organization(c), id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"device": viewOf(d)})
}

// request is a device to register. The owner is named by tester_id or by email.
type request struct {
	UDID     string `json:"udid"`
	Name     string `json:"name"`
	Product  string `json:"product"`
	Platform string `json:"platform"` // ios or mac; "": that of the product
	TesterID int64  `json:"tester_id"`
	Email    string `json:"email"`
}

// Create serves POST /api/v3/devices: 201, or 200 when the tester had registered the
// device.
func (h *Handlers) Create(c *gin.Context) error {
	var req request
	if err := body.Read(c, &req); err != nil {
		return err
	}
	if (req.TesterID == 0) == (req.Email == "") {
		return storage.Invalid("tester_id", "or email is required, not both")
	}
	var d *device.Device
	created := false
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		user, err := device.OwnerOf(ctx, tx, organization(c), req.TesterID, req.Email)
		if err != nil {
			return noTester(err, req)
		}
		d, created, err = device.Insert(ctx, tx, auth.Actor(c), device.New{OrganizationID: organization(c), UserID: user, UDID: req.UDID,
			Name: req.Name, Product: req.Product, Platform: device.Platform(req.Platform), Source: device.FromAdmin, Verified: device.Nothing})
		return noTester(err, req)
	})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return respond.JSON(c, status, gin.H{"device": viewOf(d)})
}

// noTester names the member that names nobody.
func noTester(err error, req request) error {
	switch {
	case !errors.Is(err, storage.ErrNotFound):
		return err
	case req.TesterID != 0:
		return storage.Invalid("tester_id", "is no tester of the organization, or one who is blocked")
	}
	return storage.Invalid("email", "is that of no tester of the organization, or of one who is blocked")
}

// Delete serves DELETE /api/v3/devices/{id}.
func (h *Handlers) Delete(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		return device.Delete(ctx, tx, auth.Actor(c), organization(c), 0, id)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

// exportRows is how many devices one statement reads.
const exportRows = storage.MaxPage

// Export serves GET /api/v3/devices/export. It is read whole before the answer begins: a
// file that was cut off would import as if it were complete. Apple takes 100 devices of
// each kind a year; ten thousand are a file of a megabyte.
func (h *Handlers) Export(c *gin.Context) error {
	ctx := c.Request.Context()
	var file strings.Builder
	file.WriteString("Device ID\tDevice Name\tDevice Platform\n")
	count, after := 0, ""
	for {
		list, err := device.Export(ctx, h.db, organization(c), after, exportRows)
		if err != nil {
			return err
		}
		for i := range list {
			fmt.Fprintf(&file, "%s\t%s\t%s\n", list[i].UDID, nameOf(&list[i]), list[i].Platform)
			after = list[i].UDID
		}
		if count += len(list); len(list) < exportRows {
			break
		}
	}
	err := account.Audit(ctx, h.db, account.Event{OrganizationID: organization(c), Type: account.DevicesExported, Actor: auth.Actor(c),
		Subject: "devices", Detail: map[string]any{"devices": count}})
	if err != nil {
		return err
	}
	c.Header("Content-Disposition", `attachment; filename="devices.txt"`)
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, "text/tab-separated-values; charset=utf-8", []byte(file.String()))
	return nil
}

// maxName is as much as Apple's list shows.
const maxName = 50

// nameOf is a device's name for the file: its own, else its product and owner.
func nameOf(d *device.Device) string {
	name := d.Name
	if name == "" {
		name = strings.TrimSpace(d.Product + " " + d.Email)
	}
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, name)
	name = strings.TrimLeft(strings.Join(strings.Fields(name), " "), "=+-@ ")
	if name == "" {
		name = "Device"
	}
	return storage.Cut(name, maxName)
}
