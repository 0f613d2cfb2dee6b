// Package device stores the devices that testers registered, so that the builds of an
// organization can be signed for them.
//
// A device is known by its UDID, which Apple's systems show to nobody but the maker of
// a configuration profile. It belongs to a tester of an organization: a phone that two
// people share has two rows, and one person's phone has a row in each organization that
// the person tests for. Rows go with the membership.
//
// Register is what a device's own answer does, Insert what an admin types in. Both end
// in one row for each person and UDID; the second time updates what the device said of
// itself. A challenge that a device answered serves no second device: then the error is
// storage.ErrConflict.
//
// UDIDs are stored in one spelling, so that they can be compared: 40 lower-case
// hexadecimal digits, or the form of 2018 and later in upper case.
package device

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// Platform is the system of a device as Apple's import of devices names it.
type Platform string

// The platforms that the import knows.
const (
	IOS Platform = "ios" // iPhone, iPad, iPod, Apple TV, Apple Watch, Vision Pro
	Mac Platform = "mac"
)

// Source is how a device came here.
type Source string

// The sources.
const (
	FromProfile Source = "profile" // the device answered a configuration profile
	FromAdmin   Source = "admin"   // somebody typed it in
)

// Verified is what vouches for a device.
type Verified string

// What vouches for a device.
const (
	Certificate Verified = "certificate" // one that Apple issued to the device
	Signature   Verified = "signature"   // made by whoever sent the answer
	Nothing     Verified = "none"
)

// Device is a registered device with the tester who registered it.
type Device struct {
	ID             int64     `db:"id"`
	OrganizationID int64     `db:"organization_id"`
	UserID         int64     `db:"user_id"`
	MembershipID   int64     `db:"membership_id"`
	Email          string    `db:"email"`
	UDID           string    `db:"udid"`
	Platform       Platform  `db:"platform"`
	Product        string    `db:"product"`    // such as iPhone16,2; "" when unknown
	OSVersion      string    `db:"os_version"` // a build of the system, such as 22G86; "" when unknown
	Name           string    `db:"name"`       // "" when unknown
	Source         Source    `db:"source"`
	Verified       Verified  `db:"verified"`
	CreatedAt      time.Time `db:"created_at"`
	UpdatedAt      time.Time `db:"updated_at"`
}

// Label is what people call a device: its name, else its product, else its UDID.
func (d *Device) Label() string {
	switch {
	case d.Name != "":
		return d.Name
	case d.Product != "":
		return d.Product
	}
	return d.UDID
}

// New is a device to register.
type New struct {
	OrganizationID int64
	UserID         int64
	UDID           string
	Platform       Platform // "": of the product
	Product        string
	OSVersion      string
	Name           string
	Source         Source
	Verified       Verified
	Challenge      *account.Digest // of what the device answered; nil: it answered nothing
	// ProjectID and BuildID are what it was registered for, for webhooks; 0: nothing.
	ProjectID, BuildID int64
}

// maxName is as much as Apple's list of devices shows, in characters.
const maxName = 50

// maxWord bounds what a device calls its product and its system.
const maxWord = 60

// maxPerPerson is far above the devices that a tester owns; it bounds what one
// challenge after the other can store.
const maxPerPerson = 50

// The forms of device identifiers: 40 hexadecimal digits, and since 2018 eight and
// sixteen with a hyphen between.
var (
	longForm  = regexp.MustCompile(`^[0-9A-Fa-f]{40}$`)
	shortForm = regexp.MustCompile(`^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{16}$`)
)

// CleanUDID returns a UDID in the spelling that is stored; the error is a
// *storage.InvalidError of the member udid.
func CleanUDID(text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case longForm.MatchString(text):
		return strings.ToLower(text), nil
	case shortForm.MatchString(text):
		return strings.ToUpper(text), nil
	}
	return "", storage.Invalid("udid", "must have 40 hexadecimal digits, or 8 and 16 with a hyphen between them")
}

// PlatformOf returns the platform of a product, such as iPhone16,2 or MacBookPro18,1.
func PlatformOf(product string) Platform {
	for _, prefix := range []string{"Mac", "iMac", "VirtualMac"} {
		if strings.HasPrefix(product, prefix) {
			return Mac
		}
	}
	return IOS
}

func (n *New) clean() (err error) {
	if n.UDID, err = CleanUDID(n.UDID); err != nil {
		return err
	}
	if n.Name, err = storage.Line("name", n.Name, maxName); err != nil {
		return err
	}
	if n.Product, err = storage.Line("product", n.Product, maxWord); err != nil {
		return err
	}
	if n.OSVersion, err = storage.Line("os_version", n.OSVersion, maxWord); err != nil {
		return err
	}
	switch n.Platform {
	case IOS, Mac:
	case "":
		n.Platform = PlatformOf(n.Product)
	default:
		return storage.Invalid("platform", "must be ios or mac")
	}
	return nil
}

// deviceColumns are those of Device, of d, m and u.
const deviceColumns = `d.id, d.organization_id, d.user_id, m.id as membership_id, coalesce(u.email, '') as email,
	d.udid, d.platform, d.product, d.os_version, d.name, d.source, d.verified, d.created_at, d.updated_at`

const deviceTables = ` join memberships m on m.organization_id = d.organization_id and m.user_id = d.user_id
	join users u on u.id = d.user_id`

// holdTester holds the membership, so that two registrations are counted one after the other,
// and so that a block or a removal comes before or after.
const holdTester = `
select m.blocked_at is not null as blocked,
	(select count(*) from tester_devices where organization_id = $1 and user_id = $2 and udid <> $3) as others
from memberships m where m.organization_id = $1 and m.user_id = $2 for no key update of m`

// registerDevice keeps a name that somebody typed when the device does not say one.
const registerDevice = `
insert into tester_devices (organization_id, user_id, udid, platform, product, os_version, name, source, verified, challenge)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
on conflict (organization_id, user_id, udid) do update set
	platform = excluded.platform, product = coalesce(nullif(excluded.product, ''), tester_devices.product),
	os_version = coalesce(nullif(excluded.os_version, ''), tester_devices.os_version),
	name = coalesce(nullif(excluded.name, ''), tester_devices.name),
	source = case when excluded.verified = 'none' then tester_devices.source else excluded.source end,
	verified = case when excluded.verified = 'none' then tester_devices.verified else excluded.verified end,
	challenge = coalesce(excluded.challenge, tester_devices.challenge), updated_at = now()
returning id, xmax = 0 as created`

// Insert registers a device, or updates the one that the tester registered before;
// created reports which. It writes the audit entry, and the event new-udid of a device
// that is new; an actor without a name is the tester. storage.ErrNotFound when the person
// is no member of the organization or is blocked; storage.ErrConflict when another
// device has answered the challenge.
func Insert(ctx context.Context, tx *storage.Tx, actor account.Actor, n New) (d *Device, created bool, err error) {
	if err := n.clean(); err != nil {
		return nil, false, err
	}
	var held struct {
		Blocked bool `db:"blocked"`
		Others  int  `db:"others"`
	}
	if err := tx.GetContext(ctx, &held, holdTester, n.OrganizationID, n.UserID, n.UDID); err != nil {
		return nil, false, storage.Wrap(err, fmt.Sprintf("tester %d", n.UserID))
	}
	if held.Blocked {
		return nil, false, fmt.Errorf("tester %d is blocked: %w", n.UserID, storage.ErrNotFound)
	}
	if held.Others >= maxPerPerson {
		return nil, false, storage.Invalid("udid", "a tester can register at most %d devices", maxPerPerson)
	}
	var challenge any
	if n.Challenge != nil {
		challenge = n.Challenge[:]
	}
	var row struct {
		ID      int64 `db:"id"`
		Created bool  `db:"created"`
	}
	err = tx.GetContext(ctx, &row, registerDevice, n.OrganizationID, n.UserID, n.UDID, n.Platform, n.Product, n.OSVersion,
		n.Name, n.Source, n.Verified, challenge)
	if err != nil {
		return nil, false, storage.Wrap(err, "register device")
	}
	if d, err = ByID(ctx, tx, n.OrganizationID, row.ID); err != nil {
		return nil, false, err
	}
	if actor.Name == "" {
		actor.UserID, actor.Name = d.UserID, d.Email
	}
	if row.Created {
		if err := webhook.Emit(ctx, tx, n.event(d)); err != nil {
			return nil, false, err
		}
	}
	return d, row.Created, account.Audit(ctx, tx, account.Event{OrganizationID: n.OrganizationID, Type: account.DeviceRegistered,
		Actor: actor, Subject: d.Email, Detail: map[string]any{"id": d.ID, "udid": d.UDID, "product": d.Product,
			"name": d.Name, "source": d.Source, "verified": d.Verified, "again": !row.Created}})
}

// newDevice are the members of the event new-udid.
type newDevice struct {
	UDID   string `json:"udid"`
	Device string `json:"device"`
	Email  string `json:"email"`
}

func (n *New) event(d *Device) webhook.Event {
	return webhook.Event{OrganizationID: d.OrganizationID, Action: webhook.NewUDID, ProjectID: n.ProjectID, BuildID: n.BuildID,
		Key: fmt.Sprintf("new-udid:%d", d.ID), Data: newDevice{UDID: d.UDID, Device: d.Label(), Email: d.Email}}
}

const ownerOf = `
select m.user_id from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and ($2::bigint <> 0 and m.id = $2 or $2 = 0 and lower(u.email) = lower($3))`

// OwnerOf finds the person that a device is to belong to: a member of the organization,
// by the id of the membership or, when that is 0, by mail address.
func OwnerOf(ctx context.Context, q storage.Querier, organizationID, membershipID int64, email string) (userID int64, err error) {
	err = q.GetContext(ctx, &userID, ownerOf, organizationID, membershipID, email)
	return userID, storage.Wrap(err, "owner of a device")
}

const deviceByID = `select ` + deviceColumns + ` from tester_devices d` + deviceTables + `
where d.organization_id = $1 and d.id = $2`

// ByID reads a device of the organization.
func ByID(ctx context.Context, q storage.Querier, organizationID, id int64) (*Device, error) {
	var d Device
	if err := q.GetContext(ctx, &d, deviceByID, organizationID, id); err != nil {
		return nil, storage.Wrap(err, "device "+strconv.FormatInt(id, 10))
	}
	return &d, nil
}

// Delete removes a device, and writes the audit entry. userID restricts it to the
// devices of one person; 0 stands for everybody. storage.ErrNotFound when there is no
// such device.
func Delete(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, userID, id int64) error {
	d, err := ByID(ctx, tx, organizationID, id)
	if err != nil {
		return err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, `delete from tester_devices
		where organization_id = $1 and id = $2 and ($3::bigint = 0 or user_id = $3)`, organizationID, id, userID))
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("device %d: %w", id, storage.ErrNotFound)
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.DeviceRemoved,
		Actor: actor, Subject: d.Email, Detail: map[string]any{"id": d.ID, "udid": d.UDID}})
}

const devicesForUsers = `select ` + deviceColumns + ` from tester_devices d` + deviceTables + `
where d.organization_id = $1 and d.user_id = any($2) order by d.user_id, d.id`

// ForUsers reads the devices of people, by their user ids, oldest first.
func ForUsers(ctx context.Context, q storage.Querier, organizationID int64, userIDs []int64) (map[int64][]Device, error) {
	found := make(map[int64][]Device, len(userIDs))
	if len(userIDs) == 0 {
		return found, nil
	}
	var list []Device
	if err := q.SelectContext(ctx, &list, devicesForUsers, organizationID, pq.Array(userIDs)); err != nil {
		return nil, storage.Wrap(err, "devices of testers")
	}
	for _, d := range list {
		found[d.UserID] = append(found[d.UserID], d)
	}
	return found, nil
}

// ForUser reads the devices of one person, oldest first.
func ForUser(ctx context.Context, q storage.Querier, organizationID, userID int64) ([]Device, error) {
	found, err := ForUsers(ctx, q, organizationID, []int64{userID})
	return found[userID], err
}
