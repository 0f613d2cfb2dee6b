package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// visitor is a browser without script that is signed in to the console.
type visitor struct {
	w      *surface
	client *http.Client
}

// page is what a request of the console answered, after its redirects.
type page struct {
	status int
	path   string // with the query, of the page that was reached
	text   string
	root   *html.Node
	header http.Header
}

// newConsole returns a browser that nobody is signed in with.
func newConsole(w *surface) *visitor {
	jar, err := cookiejar.New(nil)
	require.NoError(w.t, err)
	return &visitor{w: w, client: &http.Client{Jar: jar}}
}

// console signs in to the console by a name and a key.
func (w *surface) console(name, key string) *visitor {
	w.t.Helper()
	c := newConsole(w)
	p := c.post("/console/sign-in", url.Values{"name": {name}, "key": {key}})
	require.Equal(w.t, http.StatusOK, p.status, "%.600s", p.text)
	require.NotContains(w.t, p.path, "sign-in", "%.600s", p.text)
	return c
}

func (c *visitor) open(path string) *page {
	c.w.t.Helper()
	r, err := http.NewRequestWithContext(c.w.t.Context(), http.MethodGet, c.w.base+path, http.NoBody)
	require.NoError(c.w.t, err)
	return c.send(r)
}

func (c *visitor) post(path string, form url.Values) *page {
	c.w.t.Helper()
	r, err := http.NewRequestWithContext(c.w.t.Context(), http.MethodPost, c.w.base+path, strings.NewReader(form.Encode()))
	require.NoError(c.w.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return c.send(r)
}

func (c *visitor) send(r *http.Request) *page {
	c.w.t.Helper()
	res, err := c.client.Do(r)
	require.NoError(c.w.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(c.w.t, err)
	root, err := html.Parse(strings.NewReader(string(text)))
	require.NoError(c.w.t, err)
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") && strings.HasSuffix(r.URL.Path, "/html") &&
		res.StatusCode == http.StatusOK {
		assert.Regexp(c.w.t, `^default-src 'none'; .*; sandbox$`, res.Header.Get("Content-Security-Policy"), "the frame of a mail")
	} else if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		policy := res.Header.Get("Content-Security-Policy")
		assert.Contains(c.w.t, policy, "default-src 'none'", r.URL)
		assert.NotContains(c.w.t, policy, "unsafe", r.URL)
		assert.NotContains(c.w.t, string(text), " style=\"", "%s: the policy lets no style attribute apply", r.URL)
		assert.NotContains(c.w.t, string(text), " onclick=", r.URL)
	}
	return &page{status: res.StatusCode, path: res.Request.URL.RequestURI(), text: string(text), root: root, header: res.Header}
}

// submit sends the form of a page whose action ends so, with what it holds and the values in
// place of that, as a browser does.
func (c *visitor) submit(from *page, action string, values url.Values) *page {
	c.w.t.Helper()
	form := from.form(action)
	require.NotNil(c.w.t, form, "no form leads to %s in %s: %.3000s", action, from.path, from.text)
	sent := fields(form)
	for name, list := range values {
		sent[name] = list
	}
	target, err := url.Parse(attribute(form, "action"))
	require.NoError(c.w.t, err)
	here, err := url.Parse(c.w.base + from.path)
	require.NoError(c.w.t, err)
	at := here.ResolveReference(target)
	if strings.EqualFold(attribute(form, "method"), "post") {
		return c.post(at.RequestURI(), sent)
	}
	return c.open(at.Path + "?" + sent.Encode())
}

// form is the first form of the page whose action ends so; nil when there is none.
func (p *page) form(action string) *html.Node {
	for node := range p.root.Descendants() {
		if node.Type == html.ElementNode && node.Data == "form" && strings.HasSuffix(attribute(node, "action"), action) {
			return node
		}
	}
	return nil
}

// uploadForm is the first form of the page that carries files; nil when there is none.
func (p *page) uploadForm() *html.Node {
	for node := range p.root.Descendants() {
		if node.Type == html.ElementNode && node.Data == "form" && attribute(node, "enctype") == "multipart/form-data" {
			return node
		}
	}
	return nil
}

// links are the addresses that the page's links lead to.
func (p *page) links() (list []string) {
	for node := range p.root.Descendants() {
		if node.Type == html.ElementNode && node.Data == "a" {
			if to := attribute(node, "href"); to != "" && !strings.HasPrefix(to, "#") {
				list = append(list, to)
			}
		}
	}
	return list
}

// fields are the values that a form sends when nothing is changed.
func fields(form *html.Node) url.Values {
	sent := url.Values{}
	for node := range form.Descendants() {
		if node.Type != html.ElementNode || attribute(node, "name") == "" {
			continue
		}
		name, kind := attribute(node, "name"), attribute(node, "type")
		switch node.Data {
		case "input":
			if (kind == "checkbox" || kind == "radio") && !has(node, "checked") {
				continue
			}
			sent.Add(name, attribute(node, "value"))
		case "textarea":
			if node.FirstChild != nil {
				sent.Add(name, node.FirstChild.Data)
			} else {
				sent.Add(name, "")
			}
		case "select":
			chosen, found := "", false
			for option := range node.Descendants() {
				if option.Type == html.ElementNode && option.Data == "option" && (has(option, "selected") || !found) {
					chosen, found = attribute(option, "value"), true
					if has(option, "selected") {
						break
					}
				}
			}
			sent.Add(name, chosen)
		}
	}
	return sent
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(node *html.Node, name string) bool {
	for _, a := range node.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func TestConsoleSignIn(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	stranger := newConsole(w)
	p := stranger.open("/console/crashes?state=open")
	require.Equal(t, "/console/sign-in?to=%2Fcrashes%3Fstate%3Dopen", p.path)
	p = stranger.submit(p, "/sign-in", url.Values{"name": {"main"}, "key": {"wrong"}})
	require.Equal(t, http.StatusUnauthorized, p.status)
	require.Contains(t, p.text, "This is no key.")
	p = stranger.submit(p, "/sign-in", url.Values{"key": {w.boot.Owner.AccessKey}})
	require.Equal(t, "/console/crashes?state=open", p.path, "back to where one was")
	require.Equal(t, http.StatusOK, p.status)

	for name, key := range map[string]string{w.boot.Owner.Email: w.boot.Owner.APIKey, w.boot.Operator.Username: w.boot.Operator.Password} {
		require.Equal(t, http.StatusOK, w.console(name, key).open("/console/operate").status, name)
	}
	require.Equal(t, "2", w.one(`select count(*)::text from audit_events where type = 1170 and organization_id is not null`),
		"members are in the log of their organization")

	// A form of another session, or none, changes nothing.
	signedIn := stranger.open("/console")
	p = stranger.post("/console/sign-out", nil)
	require.Contains(t, p.path, "/console/sign-in")
	require.Contains(t, stranger.open("/console").path, "/console/sign-in")
	require.NotNil(t, signedIn.form("/sign-out"))
}

// An address that no page has, and a form's that is opened, is a page of the console that says
// so; elsewhere the answer keeps the shape of its interface.
func TestConsoleUnknownAddress(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	for _, v := range []*visitor{owner, newConsole(w)} {
		for _, path := range []string{"/console/nothing", "/console/crashes/1/2/3/4", "/console/" + strings.Repeat("x/", 200),
			"/console/x/json", "/console/%3Cscript%3E"} {
			p := v.open(path)
			require.Equal(t, http.StatusNotFound, p.status, path)
			require.Contains(t, p.text, "There is no such page</h1>", path)
			require.NotContains(t, p.text, "<script>", path)
			require.Equal(t, v == owner, strings.Contains(p.text, `aria-label="Areas"`), "the navigation is there for who is signed in: %s", path)
			checkPage(t, path, p)
		}
		p := v.open("/console/builds/create")
		require.Equal(t, http.StatusMethodNotAllowed, p.status)
		require.Contains(t, p.text, "This address is no page</h1>")
		require.Equal(t, http.StatusMethodNotAllowed, v.post("/console/crashes", nil).status)
		require.Contains(t, v.post("/console/nothing", url.Values{"x": {"1"}}).text, "There is no such page</h1>")
	}
	for _, path := range []string{"/nothing", "/consoles", "/api/v3/console", "/api/v3/nothing"} {
		p := owner.open(path)
		require.Equal(t, http.StatusNotFound, p.status, path)
		require.NotContains(t, p.text, "<main", path)
		require.Contains(t, p.text, "there is nothing at this address", path)
	}
}
