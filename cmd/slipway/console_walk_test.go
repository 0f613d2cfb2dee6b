package main

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/count"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// consoleRoutes are the pages and forms of the console.
func (w *surface) consoleRoutes() []route.Route {
	w.t.Helper()
	authenticator, err := auth.New(auth.Config{DB: w.db, Region: "local"})
	require.NoError(w.t, err)
	c, err := console.New(frame.Config{DB: w.db, Auth: authenticator, PublicURL: w.base})
	require.NoError(w.t, err)
	return c.Pages()
}

// member makes a member of our organization and returns user name and access key.
func (w *surface) member(name string, role account.Role) (username, key string) {
	w.t.Helper()
	keys, err := account.NewIssuer("local", nil)
	require.NoError(w.t, err)
	ctx := w.t.Context()
	require.NoError(w.t, w.db.InTx(ctx, func(tx *storage.Tx) error {
		u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: w.boot.Organization.ID, Email: name + "@example.com",
			Username: name, Name: name, Role: role, TeamID: w.boot.Team.ID})
		if err != nil {
			return err
		}
		_, secret, err := account.CreateKey(ctx, tx, account.CLI(), keys, account.NewKey{OrganizationID: w.boot.Organization.ID,
			UserID: u.ID, Kind: account.KindAccess})
		username, key = u.Username, secret.Text
		return err
	}))
	return username, key
}

// match returns the path of the route whose page an address is; "" for none.
func match(routes []route.Route, address string) string {
	path, _, _ := strings.Cut(address, "?")
	parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
	best := ""
	for _, r := range routes {
		pattern := strings.Split(r.Path, "/")
		if r.Method != http.MethodGet || len(pattern) != len(parts) {
			continue
		}
		fits := true
		for i, p := range pattern {
			fits = fits && (p == parts[i] || strings.HasPrefix(p, ":") && parts[i] != "")
		}
		// A name in the pattern wins over a parameter.
		if fits && (best == "" || strings.Count(r.Path, ":") < strings.Count(best, ":")) {
			best = r.Path
		}
	}
	return best
}

// crawl follows the links of the console from its start, at most so many addresses of each
// route, and returns them by the path of the route.
func (c *visitor) crawl(routes []route.Route, most int, look func(address string, p *page)) map[string][]string {
	c.w.t.Helper()
	found, seen, todo := map[string][]string{}, map[string]bool{}, []string{frame.Base}
	for len(todo) > 0 {
		address := todo[0]
		todo = todo[1:]
		pattern := match(routes, address)
		if seen[address] || pattern == "" || len(found[pattern]) >= most {
			continue
		}
		seen[address] = true
		found[pattern] = append(found[pattern], address)
		p := c.open(address)
		look(address, p)
		here, err := url.Parse(c.w.base + p.path)
		require.NoError(c.w.t, err)
		for _, link := range p.links() {
			to, err := here.Parse(link)
			if err != nil || to.Host != here.Host || !strings.HasPrefix(to.Path, frame.Base) {
				continue
			}
			todo = append(todo, to.RequestURI())
		}
		if address == frame.Base && p.form("/search") != nil {
			todo = append(todo, frame.Base+"/search?q=shop")
		}
	}
	return found
}

// Every page of the console is reached by links from its start, and is sound HTML: it has
// one heading of the first order, a name for each field and picture, no id twice, and a
// token in each form. Each page then has with each role the rights that its action has in
// the api.
func TestConsolePages(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.makeAll()
	routes := w.consoleRoutes()
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	found := owner.crawl(routes, 6, func(address string, p *page) {
		if p.status == http.StatusNotFound && strings.Contains(address, "/runs/"+w.ids["healing"]) {
			return // the healing of makeAll is of a run that never was
		}
		assert.Equal(t, http.StatusOK, p.status, "%s: %.400s", address, p.text)
		checkPage(t, address, p)
	})
	operator := w.console(w.boot.Operator.Username, w.boot.Operator.Password)
	theirs := operator.crawl(routes, 6, func(address string, p *page) {
		assert.Equal(t, http.StatusOK, p.status, "operator: %s: %.400s", address, p.text)
		checkPage(t, address, p)
	})
	for pattern, addresses := range theirs {
		if found[pattern] == nil {
			found[pattern] = addresses
		}
	}
	for _, r := range routes {
		if r.Method == http.MethodGet && r.Action != "" && consoleUnlinked()[r.Path] == "" {
			assert.NotEmpty(t, found[r.Path], "no link leads to %s", r.Path)
		}
	}
	roles := map[string]*auth.Caller{"owner": {Role: account.Owner}, "operator": {Operator: true}}
	visitors := map[string]*visitor{"owner": owner, "operator": operator}
	for _, role := range []account.Role{account.Admin, account.Member} {
		roles[string(role)] = &auth.Caller{Role: role}
		visitors[string(role)] = w.console(w.member("the-"+string(role), role))
	}
	table := auth.Table()
	for _, r := range routes {
		for name, v := range visitors {
			if r.Action == "" {
				continue
			}
			allowed := table[r.Action].Allow(roles[name]) == nil
			if r.Method == http.MethodPost {
				p := v.post(w.anyAddress(r.Path), url.Values{"csrf": {"of another session"}})
				assert.Equal(t, http.StatusForbidden, p.status, "%s: a form without its token: POST %s", name, r.Path)
				continue
			}
			if len(found[r.Path]) == 0 {
				continue
			}
			address := found[r.Path][0]
			p := v.open(address)
			if !allowed {
				assert.Equal(t, http.StatusForbidden, p.status, "%s: GET %s: %.300s", name, address, p.text)
			} else if !p.isFile() {
				assert.Contains(t, []int{http.StatusOK, http.StatusNotFound}, p.status, "%s: GET %s: %.300s", name, address, p.text)
			}
		}
		if r.Action == "" {
			continue
		}
		p := newConsole(w).open(w.anyAddress(r.Path))
		inFrame := p.status == http.StatusUnauthorized && strings.Contains(p.text, frame.Base+"/sign-in")
		assert.True(t, r.Method == http.MethodPost && p.status >= 400 || strings.HasPrefix(p.path, frame.Base+"/sign-in") ||
			inFrame, "without a session: %s %s", r.Method, r.Path)
	}
}

// anyAddress puts numbers into the places of a route's path.
func (w *surface) anyAddress(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, ":") {
			parts[i] = "1"
		}
	}
	return strings.Join(parts, "/")
}

// isFile reports whether the answer is no page of the console.
func (p *page) isFile() bool { return !strings.Contains(p.text, "<main id=\"main\"") }

// consoleUnlinked are the paths of pages that no page of the test's data leads to, with the
// reason.
func consoleUnlinked() map[string]string {
	return map[string]string{
		frame.Base + "/crashes/reports/:id/attachments/:attachment": "the reports have none",
		frame.Base + "/live":                     "the script asks it for news",
		frame.Base + "/crashes/all":              "a form of the list leads there",
		frame.Base + "/crashes/all/:task":        "the form that begins a change leads there",
		frame.Base + "/tests/files/:id":          "a browser writes it",
		frame.Base + "/tests/groups/:group":      "the tests of the data share no steps",
		frame.Base + "/tests/groups/:group/edit": "likewise",
		frame.Base + "/operate/mail/:id":         "no mail was written",
		frame.Base + "/operate/mail/:id/html":    "a frame of the mail's page shows it",
		frame.Base + "/operate/retry":            "no task has failed for good",
		frame.Base + "/operate/cancel":           "whether a task is open depends on the workers",
		frame.Base + "/operate/run":              "whether a task waits depends on the workers",
	}
}

// checkPage holds what makes a page readable for all.
func checkPage(t *testing.T, address string, p *page) {
	t.Helper()
	if p.isFile() {
		return
	}
	headings, ids := 0, map[string]bool{}
	assert.NotContains(t, p.text, "csrf=", "%s: an address with a token", address)
	assert.NotContains(t, p.path, "csrf", "%s: an address with a token", address)
	labelled := map[string]bool{}
	for node := range p.root.Descendants() {
		if node.Type == html.ElementNode && node.Data == "label" && attribute(node, "for") != "" {
			labelled[attribute(node, "for")] = true
		}
	}
	for node := range p.root.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		if id := attribute(node, "id"); id != "" {
			assert.False(t, ids[id], "%s: the id %s twice", address, id)
			ids[id] = true
		}
		switch node.Data {
		case "h1":
			headings++
		case "img":
			assert.True(t, has(node, "alt"), "%s: a picture without a text: %s", address, attribute(node, "src"))
		case "input", "select", "textarea":
			if slices.Contains([]string{"hidden", "submit"}, attribute(node, "type")) {
				continue
			}
			assert.True(t, attribute(node, "aria-label") != "" || labelled[attribute(node, "id")] || inside(node, "label"),
				"%s: no name for the field %s", address, attribute(node, "name"))
		case "form":
			if strings.EqualFold(attribute(node, "method"), "post") && !strings.HasSuffix(attribute(node, "action"), "/sign-out") {
				assert.NotEmpty(t, fields(node).Get("csrf"), "%s: no token in the form %s", address, attribute(node, "action"))
				assert.Equal(t, "csrf", firstField(node), "%s: the token is the first field of the form %s", address, attribute(node, "action"))
			}
		case "button", "a":
			assert.True(t, strings.TrimSpace(textOf(node)) != "" || attribute(node, "aria-label") != "" ||
				hasPicture(node), "%s: a %s without a name: %s", address, node.Data, attribute(node, "href"))
		}
	}
	assert.Equal(t, 1, headings, "%s: headings of the first order", address)
}

// firstField is the name of the first field of a form.
func firstField(form *html.Node) string {
	for node := range form.Descendants() {
		if node.Type == html.ElementNode && attribute(node, "name") != "" {
			return attribute(node, "name")
		}
	}
	return ""
}

func inside(node *html.Node, name string) bool {
	for up := node.Parent; up != nil; up = up.Parent {
		if up.Type == html.ElementNode && up.Data == name {
			return true
		}
	}
	return false
}

func textOf(node *html.Node) string {
	var b strings.Builder
	for n := range node.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

func hasPicture(node *html.Node) bool {
	for n := range node.Descendants() {
		if n.Type == html.ElementNode && n.Data == "img" && attribute(n, "alt") != "" {
			return true
		}
	}
	return false
}

// A page of the console asks a bounded number of statements, the same with few rows and
// with many.
func TestConsoleAsksAsOftenForManyRows(t *testing.T) {
	t.Parallel()
	var counter count.Counter
	w := newSurface(t, func(s *setting.Settings) { s.Watched.Database.WrapConnector = counter.Connector })
	places, _ := w.makeAll()
	w.stopWorker()
	w.fillPages(places)
	routes := w.consoleRoutes()
	visitors := []*visitor{w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey), w.console(w.boot.Operator.Username,
		w.boot.Operator.Password)}
	copier := newCopier(t, w.db)
	bounds := consoleBounds()
	read := func(numbers ...int) {
		copier.copy(numbers...)
		require.Empty(t, copier.refused, "rows that cannot be copied")
		w.spreadRows()
		for _, v := range visitors {
			v.crawl(routes, 2, func(address string, p *page) {
				if p.status != http.StatusOK {
					return // a link whose copy has no object
				}
				pattern := match(routes, address)
				asked := counter.During(func() { v.open(address) })
				bound, known := bounds[pattern]
				if !known {
					t.Errorf("a line is missing in consoleBounds:\n\t\t%q: %d,", pattern, len(asked.SQL))
					bounds[pattern] = len(asked.SQL)
				} else {
					assert.LessOrEqual(t, len(asked.SQL), bound, "GET %s\n%s", address, asked)
				}
			})
		}
	}
	read(1)
	var many []int
	for n := 2; n <= 48; n += 2 {
		many = append(many, n)
	}
	read(many...)
}

// consoleBounds are the most statements of each page; one of them finds the session.
func consoleBounds() map[string]int {
	return map[string]int{
		"/console":                                             25,
		"/console/builds":                                      9,
		"/console/builds/apps/:id":                             9,
		"/console/builds/apps/:id/commit-status":               6,
		"/console/builds/apps/:id/devices":                     9,
		"/console/builds/apps/:id/gate":                        8,
		"/console/builds/apps/:id/retention":                   10,
		"/console/builds/apps/:id/sessions":                    10,
		"/console/builds/apps/:id/settings":                    11,
		"/console/builds/apps/:id/testers":                     12,
		"/console/builds/apps/:id/tokens":                      10,
		"/console/settings/members":                            9,
		"/console/settings/members/:id":                        9,
		"/console/builds/builds/:id":                           17,
		"/console/builds/builds/:id/devices":                   8,
		"/console/builds/builds/:id/download":                  12,
		"/console/builds/builds/:id/gate":                      7,
		"/console/builds/builds/:id/installs":                  11,
		"/console/builds/builds/:id/invites":                   11,
		"/console/builds/builds/:id/notify":                    15,
		"/console/builds/builds/:id/sessions":                  9,
		"/console/builds/builds/:id/symbols":                   7,
		"/console/builds/feedback":                             9,
		"/console/builds/feedback/:id":                         8,
		"/console/builds/sessions/:id":                         10,
		"/console/builds/upload":                               11,
		"/console/crashes":                                     20,
		"/console/crashes/all":                                 7,
		"/console/crashes/groups/:id":                          35,
		"/console/crashes/groups/:id/attributes":               18,
		"/console/crashes/groups/:id/history":                  20,
		"/console/crashes/groups/:id/split":                    23,
		"/console/crashes/projects":                            7,
		"/console/crashes/projects/:id":                        10,
		"/console/crashes/projects/:id/versions":               8,
		"/console/crashes/removal":                             7,
		"/console/crashes/reports":                             9,
		"/console/crashes/reports/:id":                         19,
		"/console/crashes/reports/:id/annotations":             12,
		"/console/crashes/reports/:id/raw":                     6,
		"/console/crashes/symbols":                             12,
		"/console/crashes/symbols/:id":                         9,
		"/console/crashes/symbols/:id/download":                6,
		"/console/crashes/symbols/missing":                     9,
		"/console/operate":                                     22,
		"/console/operate/cancel":                              14, // one for each type of subject that waits: which do depends on the workers
		"/console/operate/mail":                                7,
		"/console/operate/mail/:id":                            7,
		"/console/operate/organizations":                       9,
		"/console/operate/queues":                              10,
		"/console/operate/run":                                 14, // as above
		"/console/operate/tasks/:id":                           7,
		"/console/operate/webhooks":                            6,
		"/console/people":                                      10,
		"/console/people/devices":                              7,
		"/console/people/devices/export":                       7,
		"/console/people/groups":                               9,
		"/console/people/groups/:id":                           22,
		"/console/people/groups/new":                           9,
		"/console/people/teams":                                7,
		"/console/people/teams/:id":                            9,
		"/console/people/testers/:id":                          15,
		"/console/people/testers/new":                          7,
		"/console/search":                                      19,
		"/console/settings":                                    8,
		"/console/settings/accounts":                           9,
		"/console/settings/accounts/:id":                       10,
		"/console/settings/audit":                              9,
		"/console/settings/audit/export":                       9,
		"/console/settings/mail":                               7,
		"/console/settings/mail/suppressions":                  7,
		"/console/settings/mail/templates/:kind":               6,
		"/console/settings/oidc":                               8,
		"/console/settings/organization":                       9,
		"/console/settings/webhooks":                           7,
		"/console/settings/webhooks/:id":                       11,
		"/console/settings/webhooks/:id/deliveries/:delivery":  8,
		"/console/settings/webhooks/new":                       7,
		"/console/tests":                                       13,
		"/console/tests/cases/:id":                             18,
		"/console/tests/cases/:id/baselines":                   10,
		"/console/tests/cases/:id/baselines/:baseline/picture": 9,
		"/console/tests/cases/:id/code":                        8,
		"/console/tests/cases/:id/code/file":                   7,
		"/console/tests/cases/:id/edit":                        9,
		"/console/tests/cases/:id/healings":                    10,
		"/console/tests/cases/:id/runs":                        10,
		"/console/tests/cases/:id/runs/:run":                   15,
		"/console/tests/cases/:id/runs/:run/junit":             9,
		"/console/tests/generate":                              8,
		"/console/tests/generate/:task":                        8,
		"/console/tests/generations":                           6,
		"/console/tests/runs":                                  7,
		"/console/tests/schedules":                             10,
		"/console/tests/schedules/:id":                         14,
		"/console/tests/suites":                                9,
		"/console/tests/suites/:id":                            18,
		"/console/tests/suites/:id/runs":                       8,
		"/console/tests/suites/:id/runs/:run":                  8,
		"/console/tests/suites/:id/runs/:run/junit":            7,
		"/console/tests/tunnels":                               7,
		"/console/tests/variables":                             10,
		"/console/tests/variables/:id":                         6,
		"/console/tests/groups":                                7,
		"/console/tests/groups/:group":                         3,
		"/console/tests/groups/new":                            6,
		"/console/tests/groups/:group/edit":                    3,
		"/console/tests/environments":                          10,
		"/console/tests/environments/:id":                      6,
	}
}
