package rule_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash/rule"
)

func TestRulePlaces(t *testing.T) {
	t.Parallel()
	of := func(values ...string) *rule.Rule {
		return &rule.Rule{Conditions: rule.Conditions{{Subject: rule.OfPlace, Values: values}}}
	}
	places := []string{"node_modules/x.js", "src/cart/a.ts", "com.shop.Cart.price"}
	require.True(t, of("src/cart/").HoldsAt(places))
	require.True(t, of("src/pay/", "shop.Cart.*").HoldsAt(places), "one of the values")
	require.False(t, of("src/pay/").HoldsAt(places))
	require.False(t, of("src/cart/").HoldsAt(nil))
	require.True(t, (&rule.Rule{}).HoldsAt(nil), "no condition")
	both := of("src/cart/")
	both.Conditions = append(both.Conditions, of("src/pay/").Conditions...)
	require.False(t, both.HoldsAt(places), "all conditions")
}

func FuzzRuleCondition(f *testing.F) {
	f.Add("version", "", "2.*")
	f.Add("place", "", "src/*")
	f.Add("attribute", "k", "a*b*c")
	f.Fuzz(func(t *testing.T, subject, key, value string) {
		r := &rule.Rule{Name: "a", Trigger: rule.WhenNew, Webhook: true,
			Conditions: rule.Conditions{{Subject: rule.Subject(subject), Key: key, Values: []string{value}}}}
		if r.Validate() != nil {
			return
		}
		require.False(t, strings.ContainsAny(r.Conditions[0].Values[0], "\n\x00"))
		stored, err := r.Conditions.Value()
		require.NoError(t, err)
		var read rule.Conditions
		require.NoError(t, read.Scan([]byte(stored.(string))))
		require.Equal(t, r.Conditions, read)
		r.HoldsAt([]string{value, "a/b", ""})
	})
}
