package overview

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage/account"
)

// A part that the caller may not read is null, with the reason, and is not read.
func TestWithheldParts(t *testing.T) {
	t.Parallel()
	h := &Handlers{now: time.Now} // without a database: whatever was read would break
	rec := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(rec)
	ctx := auth.WithCaller(t.Context(), &auth.Caller{OrganizationID: 1, Role: account.Tester}, auth.ReadProjects)
	c.Request = httptest.NewRequestWithContext(ctx, "GET", "/api/v3/overview", nil)
	require.NoError(t, h.Get(c))
	var answer struct {
		Overview map[string]any
	}
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
	var named []string
	for _, w := range answer.Overview["withheld"].([]any) {
		part := w.(map[string]any)
		require.NotEmpty(t, part["reason"])
		named = append(named, part["part"].(string))
		require.Contains(t, answer.Overview, part["part"])
		require.Nil(t, answer.Overview[part["part"].(string)])
	}
	require.Len(t, named, len(parts()))
	require.Len(t, answer.Overview, len(parts())+3, "each part has a name of the answer")
}

// Members may read each part: each is what a list of the api shows them.
func TestPartsHaveActions(t *testing.T) {
	t.Parallel()
	table := auth.Table()
	for _, p := range parts() {
		rule, known := table[p.action]
		require.True(t, known, p.name)
		require.NoError(t, rule.Allow(&auth.Caller{OrganizationID: 1, Role: account.Member}), p.name)
		require.Error(t, rule.Allow(&auth.Caller{OrganizationID: 1, Role: account.Tester}), p.name)
	}
}
