package main

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// A suite gets its login in the console, with what a page shows to whoever is not signed in.
func TestConsoleLoginOfASuite(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	_, signIn := c.importedCase("sign in")
	suite := c.post("/console/tests/suites", c.filled(c.open("/console/tests/suites"), "name", url.Values{"name": {"smoke"}})).path
	c.does(c.open(suite), "/change", url.Values{"login": {"6924f0c2a7b1d0e5f3a1b2c4"}, "signedOut": {"#go"}}, "names no test case")
	p := c.does(c.open(suite), "/change", url.Values{"login": {signIn}, "signedOut": {"#go"}}, "The suite was changed.")
	p.says(t, "the test "+signIn)
	p.says(t, `value="#go"`)
	require.Equal(t, signIn, w.one(`select login ->> 'testCaseId' from test_suites`))
	require.Equal(t, "#go", w.one(`select login #>> '{when,selector,value}' from test_suites`))

	// A condition that the form has no words for stays as it is.
	_, err := w.db.ExecContext(t.Context(),
		`update test_suites set login = jsonb_set(login, '{when}', '{"matcher": {"name": "url", "args": {"value": "/login"}}}')`)
	require.NoError(t, err)
	c.does(c.open(suite), "/change", url.Values{"name": {"nightly"}}, "The suite was changed.").says(t, "or when the page")
	require.Equal(t, "/login", w.one(`select login #>> '{when,matcher,args,value}' from test_suites`))
	c.does(c.open(suite), "/change", url.Values{"login": {""}}, "The suite was changed.")
	require.Equal(t, "0", w.one(`select count(*)::text from test_suites where login is not null`))
}
