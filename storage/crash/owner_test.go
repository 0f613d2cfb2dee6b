package crash_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

func TestOwnerPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, place string
		want           bool
	}{
		{"src/checkout/", "src/checkout/pay.ts", true},
		{"src/checkout/", "/build/web/src/checkout/deep/pay.ts", true},
		{"/src/checkout/*", "src/checkout/pay.ts", true},
		{"checkout/*.ts", `C:\work\checkout\pay.ts`, true},
		{"checkout/*.ts", "src/checkout/pay.tsx", false},
		{"src/checkout", "src/checkout/pay.ts", false},
		{"heckout/*", "src/checkout/pay.ts", false},
		{"com.shop.cart.*", "com.shop.cart.Cart.price", true},
		{"shop.cart.*", "com.shop.cart.Cart.price", true},
		{"libpay.so", "/system/lib/libpay.so", true},
		{"libpay.so", "/system/lib/libpay.so.1", false},
		{"*pay*", "src/checkout/repay.ts", true},
		{"a*b*c", "axbxc", true},
		{"a*b*c", "axcxb", false},
		{"a*b", "a/a/b", true},
		{"a/b", "a/c/a/b", true},
		{"*a*b", "c/d.a/b", true},
	} {
		o := crash.Owner{Pattern: c.pattern}
		require.Equal(t, c.want, o.Matches(c.place), "%s %s", c.pattern, c.place)
	}
	for _, wrong := range []string{"", "*", "/", " * ", strings.Repeat("*a", 9), strings.Repeat("a", 201), "a\nb"} {
		require.Error(t, (&crash.Owner{Pattern: wrong}).Validate(0), wrong)
	}
}

func FuzzOwnerPattern(f *testing.F) {
	f.Add("src/*", "src/a")
	f.Add("a**b*", "ab")
	f.Fuzz(func(t *testing.T, pattern, place string) {
		o := crash.Owner{Pattern: pattern}
		if o.Validate(0) == nil && !strings.ContainsAny(o.Pattern, `*\`) && !strings.HasPrefix(o.Pattern, "/") &&
			!strings.HasSuffix(o.Pattern, "/") && len(o.Pattern) < 1024 {
			require.True(t, o.Matches(o.Pattern), "a plain pattern matches itself")
		}
		o.Matches(place)
	})
}

func TestNewGroupsAreAssignedToOwners(t *testing.T) {
	t.Parallel()
	r := open(t)
	eve, ann := r.Org.Member.ID, r.Org.Owner.ID
	set := func(owners ...crash.Owner) error {
		return r.Do(func(ctx context.Context, tx *storage.Tx) error {
			return crash.SetOwners(ctx, tx, crashtest.Writer(r.Org.ID), r.Project, owners)
		})
	}
	at := func(key string, places ...string) {
		r.Record(r.Made(func(c *crash.Crash) {
			c.Group = crashtest.Grouping(key)
			c.Group.Places = places
		}))
	}
	at("before", "src/cart/a.ts")
	require.NoError(t, set(crash.Owner{Pattern: "src/cart/", UserID: eve}, crash.Owner{Pattern: "src/", UserID: ann}))
	at("before", "src/cart/a.ts")
	at("cart", "node_modules/x.js", "src/cart/a.ts", "src/main.ts")
	at("main", "src/main.ts", "src/cart/a.ts")
	at("nobody", "lib/x.ts")
	require.Nil(t, r.Group("before").AssigneeID, "a group that is there is left alone")
	require.Equal(t, eve, *r.Group("cart").AssigneeID)
	require.Equal(t, ann, *r.Group("main").AssigneeID)
	require.Nil(t, r.Group("nobody").AssigneeID)
	history, _, err := reading.History(t.Context(), r.DB, r.Org.ID, r.Group("cart").ID, storage.Page{Limit: 5})
	require.NoError(t, err)
	require.Len(t, history, 1)
	require.Equal(t, "owners", history[0].Actor)
	require.Contains(t, string(history[0].Detail), "src/cart/")

	list, err := crash.Owners(t.Context(), r.DB, r.Org.ID, r.Project)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "src/cart/", list[0].Pattern)
	r.Exec(`update memberships set blocked_at = now() where user_id = $1`, eve)
	at("blocked", "src/cart/b.ts")
	require.Equal(t, ann, *r.Group("blocked").AssigneeID, "who is blocked owns nothing")

	var invalid *storage.InvalidError
	require.ErrorAs(t, set(crash.Owner{Pattern: "src/", UserID: r.Rival.Member.ID}), &invalid)
	require.Equal(t, "owners[0].assignee", invalid.Field)
	require.ErrorAs(t, set(crash.Owner{Pattern: "*", UserID: ann}), &invalid)
	require.ErrorAs(t, set(make([]crash.Owner, crash.MaxOwners+1)...), &invalid)
	require.NoError(t, set())
	require.Error(t, r.Do(func(ctx context.Context, tx *storage.Tx) error {
		return crash.SetOwners(ctx, tx, crashtest.Writer(r.Rival.ID), r.Project, nil)
	}))
}
