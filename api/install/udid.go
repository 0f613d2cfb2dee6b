package install

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/install/enrolment"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	devices "github.com/slipway-qa/slipway/storage/device"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/visitor"
)

// answersPerMinute is how many answers a remote address may send: a laboratory with
// many phones sits behind one.
const answersPerMinute = 60

// deviceHandlers register the devices of whoever is signed in, and list them.
type deviceHandlers struct {
	*personHandlers
	tickets *tickets
	answers *remote.Brake
}

func (h *deviceHandlers) routes(signedIn func(personal) route.Handler, fail, plain fail) []route.Route {
	return []route.Route{
		{Method: http.MethodGet, Path: "/me/devices", Public: publicPage, Handler: signedIn(h.Devices), Fail: fail},
		{Method: http.MethodPost, Path: "/me/devices/:id/remove", Public: publicPage, Handler: signedIn(h.Remove), Fail: fail},
		{Method: http.MethodGet, Path: "/udid", Public: publicPage, Handler: signedIn(h.Profile), Fail: fail},
		{Method: http.MethodGet, Path: "/udid/register", Public: publicPage, Handler: signedIn(h.Register), Fail: fail},
		{Method: http.MethodPost, Path: "/udid/answer", Public: "devices have no key; the challenge in the answer names the tester",
			Handler: h.Answer, Fail: plain, Body: enrolment.MaxAnswer},
		{Method: http.MethodGet, Path: "/udid/done", Public: "the link is signed", Handler: h.Done, Fail: fail},
	}
}

type devicesView struct {
	personView
	Devices  []deviceRow
	Register string
}

type deviceRow struct{ Name, Product, UDID, Day, Time, Remove string }

// Devices serves GET /me/devices.
func (h *deviceHandlers) Devices(c *gin.Context, v *visitor.Visitor) error {
	list, err := devices.ForUser(c.Request.Context(), h.cfg.DB, v.OrganizationID, v.UserID)
	if err != nil {
		return err
	}
	view := devicesView{personView: h.view("Your devices", v), Register: h.base + "/udid/register"}
	for _, d := range list {
		view.Devices = append(view.Devices, deviceRow{Name: deviceName(&d), Product: d.Product, UDID: d.UDID, Day: shortDay(d.CreatedAt),
			Time: d.CreatedAt.UTC().Format("2006-01-02"), Remove: h.base + "/me/devices/" + number(d.ID) + "/remove"})
	}
	return h.render(c, http.StatusOK, "devices", view)
}

// deviceName is what a person calls a device.
func deviceName(d *devices.Device) string {
	if d.Name != "" {
		return d.Name
	}
	for _, family := range []string{"iPhone", "iPad", "iPod", "AppleTV", "Watch", "Mac"} {
		if strings.Contains(d.Product, family) {
			return family
		}
	}
	return "Device"
}

// Remove serves POST /me/devices/{id}/remove.
func (h *deviceHandlers) Remove(c *gin.Context, v *visitor.Visitor) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		return devices.Delete(ctx, tx, h.actor(c, v), v.OrganizationID, v.UserID, id)
	})
	if err != nil {
		return err
	}
	h.leadTo(c, "/me/devices")
	return nil
}

type registerView struct {
	personView
	Profile string
	QR      template.HTML // on a device that has no UDID to register
	Other   bool          // the page is open on such a device
	Steps   []string
	Known   []deviceRow
}

// Register serves GET /udid/register?build=: what is going to happen, and the button.
func (h *deviceHandlers) Register(c *gin.Context, v *visitor.Visitor) error {
	b, err := h.buildOf(c, v)
	if err != nil {
		return err
	}
	query := ""
	if b != nil {
		query = "?build=" + b.Token
	}
	view := registerView{personView: h.view("Register this device", v), Profile: h.base + "/udid" + query,
		Steps: []string{"Tap the button and allow the download of the profile.",
			"Open Settings: Profile Downloaded stands near the top. Tap Install and enter your passcode.",
			"You come back here, and the profile has removed itself."}}
	switch deviceOf(c.Request.UserAgent()) {
	case android, desktop:
		view.Other = true
		if view.QR, err = inlineQR(h.cfg.Links.Path("/udid/register" + query)); err != nil {
			return err
		}
	}
	return h.render(c, http.StatusOK, "register", view)
}

// buildOf is the build of the query; nil when there is none.
func (h *deviceHandlers) buildOf(c *gin.Context, v *visitor.Visitor) (*distribution.Build, error) {
	token := c.Query("build")
	if token == "" {
		return nil, nil
	}
	return h.ownBuild(c, v, token)
}

// Profile serves GET /udid?build=: the configuration profile that makes a device say its
// identifier.
func (h *deviceHandlers) Profile(c *gin.Context, v *visitor.Visitor) error {
	b, err := h.buildOf(c, v)
	if err != nil {
		return err
	}
	profile, err := h.profile(c.Request.Context(), v, b)
	if err != nil {
		return err
	}
	header := c.Writer.Header()
	header.Set("Cache-Control", "private, no-store")
	header.Set("Content-Disposition", `attachment; filename="register.mobileconfig"`)
	c.Data(http.StatusOK, enrolment.ContentType, profile)
	return nil
}

func (h *deviceHandlers) profile(ctx context.Context, v *visitor.Visitor, b *distribution.Build) ([]byte, error) {
	secret, err := h.tickets.installationSecret(ctx)
	if err != nil {
		return nil, err
	}
	var nonce [8]byte
	if _, err := io.ReadFull(h.cfg.Random, nonce[:]); err != nil {
		return nil, fmt.Errorf("random number: %w", err)
	}
	id, err := uuid.NewRandomFromReader(h.cfg.Random)
	if err != nil {
		return nil, err
	}
	q := challenge{organization: v.OrganizationID, user: v.UserID, expires: h.cfg.Now().Add(challengeAge),
		nonce: int64(binary.BigEndian.Uint64(nonce[:]) >> 1)}
	if b != nil {
		q.build = b.ID
	}
	host, _, _ := strings.Cut(h.host, ":")
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	organization := printable(v.OrganizationName, 80)
	encoded, err := enrolment.Profile{URL: h.cfg.Links.Path("/udid/answer"), Challenge: q.signed(secret), Organization: organization,
		Name: "Register this device",
		Text: "Sends the identifier (UDID) of this device to " + organization +
			", so that apps can be made for it. It changes nothing and removes itself.",
		Identifier: strings.Join(labels, ".") + ".udid", UUID: strings.ToUpper(id.String())}.Encode()
	if err != nil {
		return nil, err
	}
	return h.cfg.Signer.Signed(encoded)
}

// What a device's answer is refused with. The texts are for people who look into the
// traffic: a device shows none of it.
var (
	errAnswer = &respond.Problem{Status: http.StatusBadRequest, Text: "this is not the signed answer of a device"}
	errIssuer = &respond.Problem{Status: http.StatusForbidden,
		Text: "this answer was not signed with a certificate that Apple issued to a device"}
	errChallenge = &respond.Problem{Status: http.StatusForbidden,
		Text: "this profile is too old or was not made here: open the page on the device and ask for a new one"}
	errUsed = &respond.Problem{Status: http.StatusConflict,
		Text: "this profile registered another device: ask for a new one on this device"}
)

// Answer serves POST /udid/answer: it registers the device and leads it to a page.
func (h *deviceHandlers) Answer(c *gin.Context) error {
	if err := slowDown(c, h.answers); err != nil {
		return err
	}
	message, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, enrolment.MaxAnswer))
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	answer, issued, err := enrolment.Read(message, h.cfg.DeviceIssuers)
	if err != nil {
		h.cfg.Log.InfoContext(ctx, "a device's answer was refused", "error", err)
		return errAnswer
	}
	secret, err := h.tickets.installationSecret(ctx)
	if err != nil {
		return err
	}
	q, ok := readChallenge(secret, answer.Challenge, h.cfg.Now())
	switch {
	case !ok:
		return errChallenge
	case len(h.cfg.DeviceIssuers) > 0 && !issued:
		return errIssuer
	}
	d, err := h.register(c, q, answer, issued)
	var invalid *storage.InvalidError
	switch {
	case errors.Is(err, storage.ErrNotFound): // the tester was blocked or removed since
		return errChallenge
	case errors.Is(err, storage.ErrConflict):
		return errUsed
	case errors.As(err, &invalid):
		return &respond.Problem{Status: http.StatusBadRequest, Text: invalid.Error()}
	case err != nil:
		return err
	}
	done := result{organization: q.organization, device: d.ID, build: q.build, expires: h.cfg.Now().Add(challengeAge)}
	// The protocol wants 301, whatever would say it better.
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusMovedPermanently, h.cfg.Links.Path("/udid/done?result="+done.signed(secret)))
	return nil
}

// register stores the device.
func (h *deviceHandlers) register(c *gin.Context, q challenge, answer *enrolment.Answer, issued bool) (d *devices.Device, err error) {
	digest := account.DigestOf(answer.Challenge)
	n := devices.New{OrganizationID: q.organization, UserID: q.user, UDID: answer.UDID, Product: printable(answer.Product, 60),
		OSVersion: printable(answer.Version, 60), Name: printable(answer.DeviceName, 50), Source: devices.FromProfile,
		Verified: devices.Signature, Challenge: &digest}
	if issued {
		n.Verified = devices.Certificate
	}
	ctx := c.Request.Context()
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
		if q.build != 0 {
			b, err := distribution.BuildByID(ctx, tx, q.organization, 0, q.build)
			switch {
			case errors.Is(err, storage.ErrNotFound): // deleted since
			case err != nil:
				return err
			default:
				n.ProjectID, n.BuildID = b.ProjectID, b.ID
			}
		}
		d, _, err = devices.Insert(ctx, tx, auth.Actor(c), n)
		return err
	})
	return d, err
}

type doneView struct {
	head
	Name, UDID string
	App        string // the build's app, "" when there is none
	Page       string // the build's page, or the list of apps
	InProfile  bool
	Bound      bool // the build names its devices
}

// Done serves GET /udid/done?result=, where the device goes once it is registered.
func (h *deviceHandlers) Done(c *gin.Context) error {
	ctx := c.Request.Context()
	secret, err := h.tickets.installationSecret(ctx)
	if err != nil {
		return err
	}
	r, ok := readResult(secret, c.Query("result"), h.cfg.Now())
	if !ok {
		return storage.ErrNotFound
	}
	d, err := devices.ByID(ctx, h.cfg.DB, r.organization, r.device)
	if err != nil {
		return err
	}
	view := doneView{head: h.head("Device registered"), Name: deviceName(d), UDID: d.UDID, Page: h.base + "/me"}
	if r.build != 0 {
		b, err := distribution.BuildByID(ctx, h.cfg.DB, r.organization, 0, r.build)
		switch {
		case errors.Is(err, storage.ErrNotFound): // deleted since
		case err != nil:
			return err
		default:
			view.App, view.Page = b.AppName, h.path(b.Token)
			view.Bound, view.InProfile = devices.Bound(b.Provisioning), devices.InProfile(b.Provisioning, d.UDID)
		}
	}
	return h.render(c, http.StatusOK, "registered", view)
}
