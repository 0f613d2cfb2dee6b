package device_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/device"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

const (
	phone = "00008030-001A2B3C4D5E6F70"
	old   = "0123456789abcdef0123456789abcdef01234567"
)

type world struct {
	t          *testing.T
	db         *storage.DB
	org, other int64
	tess       int64 // in both organizations
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, db: servicetest.DB(t)}
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		for _, o := range []struct {
			slug string
			id   *int64
		}{{"ships", &w.org}, {"other", &w.other}} {
			made, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: o.slug})
			if err != nil {
				return err
			}
			*o.id = made.ID
		}
		return nil
	})
	w.tess = w.tester(w.org, "tess@example.com")
	w.tester(w.other, "tess@example.com")
	return w
}

func (w *world) tester(org int64, email string) (id int64) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: org, Email: email, Role: account.Tester})
		if err == nil {
			id = u.ID
		}
		return err
	})
	return id
}

func (w *world) tx(fn func(context.Context, *storage.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error { return fn(w.t.Context(), tx) }))
}

func (w *world) insert(n device.New) (d *device.Device, created bool, err error) {
	w.t.Helper()
	if n.Source == "" {
		n.Source, n.Verified = device.FromAdmin, device.Nothing
	}
	err = w.db.InTx(w.t.Context(), func(tx *storage.Tx) (err error) {
		d, created, err = device.Insert(w.t.Context(), tx, account.CLI(), n)
		return err
	})
	return d, created, err
}

func (w *world) audited(t account.AuditType) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, `select count(*) from audit_events where type = $1`, t))
	return n
}

func TestCleanUDID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		phone: phone, strings.ToLower(phone): phone, " " + phone + "\n": phone,
		old: old, strings.ToUpper(old): old,
	} {
		got, err := device.CleanUDID(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "x", old + "0", old[1:], strings.ReplaceAll(phone, "-", ""), "0000803-0001A2B3C4D5E6F70",
		"00008030-001A2B3C4D5E6F7G", phone + "\t" + phone, strings.Repeat("a", 1<<20)} {
		_, err := device.CleanUDID(text)
		var invalid *storage.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "udid", invalid.Field)
	}
}

func TestInProfile(t *testing.T) {
	t.Parallel()
	adHoc := &artifact.Provisioning{Type: "ad-hoc", Devices: []string{strings.ToLower(phone)}}
	require.True(t, device.InProfile(adHoc, phone))
	require.False(t, device.InProfile(adHoc, old))
	require.True(t, device.InProfile(&artifact.Provisioning{Type: "enterprise"}, old))
	require.True(t, device.InProfile(nil, old))
	require.Equal(t, device.Mac, device.PlatformOf("MacBookPro18,1"))
	require.Equal(t, device.IOS, device.PlatformOf("iPhone16,2"))
	require.Equal(t, device.IOS, device.PlatformOf(""))
}

func TestInsert(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d, created, err := w.insert(device.New{OrganizationID: w.org, UserID: w.tess, UDID: strings.ToLower(phone), Name: "Tess's phone"})
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, phone, d.UDID)
	require.Equal(t, "tess@example.com", d.Email)
	require.Equal(t, device.Nothing, d.Verified)

	// The device itself confirms what an admin typed, and keeps the name.
	challenge := account.DigestOf("challenge")
	answer := device.New{OrganizationID: w.org, UserID: w.tess, UDID: phone, Product: "iPhone16,2", OSVersion: "22G86",
		Source: device.FromProfile, Verified: device.Signature, Challenge: &challenge}
	again, created, err := w.insert(answer)
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, d.ID, again.ID)
	require.Equal(t, "Tess's phone", again.Name)
	require.Equal(t, device.Signature, again.Verified)
	require.Equal(t, device.FromProfile, again.Source)
	// What is typed later takes nothing of that away.
	again, _, err = w.insert(device.New{OrganizationID: w.org, UserID: w.tess, UDID: phone})
	require.NoError(t, err)
	require.Equal(t, device.Signature, again.Verified)
	require.Equal(t, "iPhone16,2", again.Product)

	// A challenge serves one device, as often as it answers.
	_, _, err = w.insert(answer)
	require.NoError(t, err)
	answer.UDID = old
	_, _, err = w.insert(answer)
	require.ErrorIs(t, err, storage.ErrConflict)
	require.Equal(t, 4, w.audited(account.DeviceRegistered))

	var invalid *storage.InvalidError
	for field, n := range map[string]device.New{
		"udid":       {UDID: "x"},
		"name":       {UDID: phone, Name: strings.Repeat("n", 51)},
		"product":    {UDID: phone, Product: "a\tb"},
		"os_version": {UDID: phone, OSVersion: strings.Repeat("n", 61)},
		"platform":   {UDID: phone, Platform: "android"},
	} {
		n.OrganizationID, n.UserID = w.org, w.tess
		_, _, err := w.insert(n)
		require.ErrorAs(t, err, &invalid, field)
		require.Equal(t, field, invalid.Field)
	}
}

func TestInsertForWhom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, err := w.insert(device.New{OrganizationID: w.org, UserID: w.tess + 1000, UDID: phone})
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = w.db.ExecContext(t.Context(), `update memberships set blocked_at = now() where organization_id = $1`, w.org)
	require.NoError(t, err)
	_, _, err = w.insert(device.New{OrganizationID: w.org, UserID: w.tess, UDID: phone})
	require.ErrorIs(t, err, storage.ErrNotFound, "blocked")
	_, _, err = w.insert(device.New{OrganizationID: w.other, UserID: w.tess, UDID: phone})
	require.NoError(t, err)
	ofOurs, err := device.ForUser(t.Context(), w.db, w.org, w.tess)
	require.NoError(t, err)
	require.Empty(t, ofOurs)
	for i := range 49 {
		_, _, err = w.insert(device.New{OrganizationID: w.other, UserID: w.tess, UDID: fmt.Sprintf("00008030-%016X", i)})
		require.NoError(t, err)
	}
	_, _, err = w.insert(device.New{OrganizationID: w.other, UserID: w.tess, UDID: old})
	require.ErrorContains(t, err, "at most 50")
	_, _, err = w.insert(device.New{OrganizationID: w.other, UserID: w.tess, UDID: phone})
	require.NoError(t, err, "one that is there")
}

func TestListAndDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.tester(w.org, "ann@example.com")
	first, _, err := w.insert(device.New{OrganizationID: w.org, UserID: w.tess, UDID: phone, Name: "100%_phone"})
	require.NoError(t, err)
	_, _, err = w.insert(device.New{OrganizationID: w.org, UserID: ann, UDID: phone})
	require.NoError(t, err)
	_, _, err = w.insert(device.New{OrganizationID: w.org, UserID: ann, UDID: old, Product: "MacBookPro18,1"})
	require.NoError(t, err)
	for search, want := range map[string]int{"": 3, "TESS@": 1, "001a2b": 2, "100%_": 1, "%%": 0, "macbook": 1, "nobody": 0} {
		list, total, err := device.List(t.Context(), w.db, w.org, search, storage.Page{Limit: 10})
		require.NoError(t, err)
		require.Len(t, list, want, search)
		require.Equal(t, want, total, search)
	}
	list, total, err := device.List(t.Context(), w.db, w.org, "", storage.Page{Limit: 1, Offset: 2})
	require.NoError(t, err)
	require.Equal(t, 3, total)
	require.Equal(t, first.ID, list[0].ID, "newest first")
	list, total, err = device.List(t.Context(), w.db, w.other, "", storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, list)
	require.Zero(t, total)

	list, err = device.Export(t.Context(), w.db, w.org, "", 10)
	require.NoError(t, err)
	require.Len(t, list, 2, "each device once")
	require.Equal(t, first.ID, list[0].ID)
	list, err = device.Export(t.Context(), w.db, w.org, list[0].UDID, 10)
	require.NoError(t, err)
	require.Len(t, list, 1)

	found, err := device.ForUsers(t.Context(), w.db, w.org, []int64{w.tess, ann, 9999})
	require.NoError(t, err)
	require.Len(t, found[w.tess], 1)
	require.Len(t, found[ann], 2)

	remove := func(org, user int64) error {
		return w.db.InTx(t.Context(), func(tx *storage.Tx) error {
			return device.Delete(t.Context(), tx, account.CLI(), org, user, first.ID)
		})
	}
	require.ErrorIs(t, remove(w.other, 0), storage.ErrNotFound)
	require.ErrorIs(t, remove(w.org, ann), storage.ErrNotFound)
	require.NoError(t, remove(w.org, w.tess))
	require.ErrorIs(t, remove(w.org, w.tess), storage.ErrNotFound)
	require.Equal(t, 1, w.audited(account.DeviceRemoved))
	// Devices go with the membership.
	_, err = w.db.ExecContext(t.Context(), `delete from memberships where user_id = $1`, ann)
	require.NoError(t, err)
	_, total, err = device.List(t.Context(), w.db, w.org, "", storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Zero(t, total)
}
