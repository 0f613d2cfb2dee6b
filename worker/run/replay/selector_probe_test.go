package replay_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// evaluate returns what selectors find in the current page, as numbers of elements.
func evaluate(ctx context.Context, t testing.TB, s *webdriver.Session, selectors []step.Selector) []answer {
	t.Helper()
	var all []answer
	require.NoError(t, replay.Probe(ctx, s, `return arguments[0].map((selector) => { try {
		return { found: evaluate(selector, document, newLook(document, false), false).map((el) => Number(el.getAttribute("data-n"))) };
	} catch (e) { return { error: e.message } } })`, &all, selectors))
	return all
}

// derived returns selectors that the elements of the current page suggest: by each
// role, each role and name, each text and each label, exact and not.
func derived(ctx context.Context, t testing.TB, s *webdriver.Session) []step.Selector {
	t.Helper()
	var page struct {
		Roles []string `json:"roles"`
		Named []struct {
			Role string `json:"role"`
			Name string `json:"name"`
		} `json:"named"`
		Texts  []string `json:"texts"`
		Labels []string `json:"labels"`
	}
	require.NoError(t, replay.Probe(ctx, s,
		`const look = newLook(document, false), out = { roles: [...roles], named: [], texts: [], labels: [] };
		for (const el of queryAll("*", document, look)) {
			const role = roleOf(el), name = nameOf(el, look), text = collapsed(textOf(el, look));
			if (role && name) out.named.push({ role, name });
			if (text && text.length < 80 && !unread(el)) out.texts.push(text);
			for (const label of labelsOf(el, look)) if (collapsed(label)) out.labels.push(collapsed(label));
		} return out`, &page))
	var list []step.Selector
	seen := map[string]bool{}
	add := func(s step.Selector) {
		key := s.Type + "\x00" + s.Value + "\x00" + s.Name
		if !seen[key] {
			seen[key] = true
			exact := s
			exact.Exact = true
			list = append(list, s, exact)
		}
	}
	for _, role := range page.Roles {
		list = append(list, step.Selector{Type: step.ByRole, Value: role})
	}
	for _, n := range page.Named {
		add(step.Selector{Type: step.ByRole, Value: n.Role, Name: n.Name})
	}
	for _, text := range page.Texts {
		add(step.Selector{Type: step.ByText, Value: text})
	}
	for _, label := range page.Labels {
		add(step.Selector{Type: step.ByLabel, Value: label})
	}
	require.NotEmpty(t, page.Named)
	require.NotEmpty(t, page.Labels)
	return list
}
