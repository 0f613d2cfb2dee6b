package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// The walk sends some thousands of requests, the same ones each time. More, and others:
//
//	CONTRACT_REQUESTS=25000 CONTRACT_SEED=7 go test ./cmd/slipway -run TestContract -timeout 30m
const (
	requestsVariable = "CONTRACT_REQUESTS"
	seedVariable     = "CONTRACT_SEED"
	// onlyVariable names operations, to send requests to them alone: "PUT /api/v3/builds/{id}".
	onlyVariable = "CONTRACT_ONLY"
)

func number(t *testing.T, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, variable)
	return n
}

// surfaceRoles are the credentials that each operation is called with.
func surfaceRoles() []string {
	return []string{"owner", "member", "tester", "rival", "operator", "browser", "expired", "wrong", "none"}
}

// contract is the walk over the description.
type contract struct {
	*surface
	description *openapi3.T
	client      *http.Client
	keys        map[string]string // API keys by role
	rival       [2]string         // of the authoring interface
	faults      map[string][]string
	sent        int
	addresses   int
	statuses    map[int]int
}

// Every operation of the description takes valid and invalid requests as it is described:
// no internal error, no status that is not described, no answer that is not as its schema,
// no error of another shape than its interface's.
func TestContract(t *testing.T) {
	t.Parallel()
	w := newContract(t)
	operations := w.operations()
	require.Greater(t, len(operations), 300)
	each := max(1, number(t, requestsVariable, 6000)/len(operations)-len(surfaceRoles())-5)
	random := rand.New(rand.NewPCG(uint64(number(t, seedVariable, 1)), 15))
	only := os.Getenv(onlyVariable)
	for _, o := range operations {
		requests := o.requests(random, each)
		w.address()
		if only != "" && !strings.Contains(only, o.method+" "+o.path) {
			continue
		}
		if o.as == "browser" {
			w.signIn()
		}
		for _, s := range requests {
			got, err := w.make(s)
			if err == nil {
				err = o.check(got)
			}
			w.note(o, s, got, err)
		}
		for _, s := range otherMethods(o.target(o.values), w.description.Paths.Value(o.path)) {
			got, err := w.make(s)
			if err == nil && o.path != "/{universe}/{token}/{format}" && (got.status < 400 || got.status > 499) {
				err = errors.New("neither 405 nor the refusal of another path") // generate may be an id
			}
			if err == nil {
				err = common(o.path, got)
			}
			w.note(o, s, got, err)
		}
		w.repair(o)
	}
	t.Logf("%d requests to %d operations: %v", w.sent, len(operations), w.statuses)
	for _, name := range slices.Sorted(maps.Keys(w.faults)) {
		t.Errorf("%s", strings.Join(w.faults[name][:min(3, len(w.faults[name]))], "\n"))
	}
}

// The description keeps the rules of OpenAPI, and so do the examples in it.
func TestDescriptionIsValid(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../api/openapi.json")
	require.NoError(t, err)
	loader := openapi3.NewLoader()
	description, err := loader.LoadFromData(text)
	require.NoError(t, err)
	require.NoError(t, description.Validate(loader.Context, openapi3.EnableExamplesValidation(), openapi3.EnableSchemaDefaultsValidation(),
		openapi3.EnableSchemaFormatValidation(), openapi3.EnableSchemaPatternValidation()))
	var document any
	require.NoError(t, json.Unmarshal(text, &document))
	require.Empty(t, unruly(document, ""))
}

func newContract(t *testing.T) *contract {
	w := &contract{surface: newSurface(t), keys: map[string]string{}, faults: map[string][]string{}, statuses: map[int]int{}}
	w.address()
	text, err := os.ReadFile("../../api/openapi.json") // what the program serves
	require.NoError(t, err)
	w.description, err = openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)

	rival := w.organization("rival")
	w.keys["owner"], w.keys["rival"] = w.key, rival.Owner.APIKey
	w.rival = [2]string{rival.Owner.Username, rival.Owner.AccessKey}
	w.keys["wrong"] = strings.Replace(w.key, "slp_", "slp_x", 1)
	for _, role := range []string{"member", "tester", "expired"} {
		w.keys[role] = w.account(role)
	}
	_, err = w.db.ExecContext(t.Context(),
		`update memberships set role = 'tester' where user_id = (select id from users where username = 'contract-tester')`)
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(),
		`delete from team_memberships where user_id = (select id from users where username = 'contract-tester')`)
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(),
		`update users set kind = 'person', email = 'contract@example.com' where username = 'contract-tester'`)
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(),
		`update api_keys set revoked_at = now() where user_id = (select id from users where username = 'contract-expired')`)
	require.NoError(t, err)
	return w
}

// address makes further requests come from another address: those with wrong credentials
// are counted by it.
func (w *contract) address() {
	if w.client != nil {
		w.client.CloseIdleConnections()
	}
	w.addresses++
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(w.addresses>>8), byte(w.addresses))}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	w.t.Cleanup(transport.CloseIdleConnections)
	w.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// account makes a service account and returns its key.
func (w *contract) account(name string) string {
	w.t.Helper()
	code, answer := w.send(request{method: post, path: v3 + "/service-accounts",
		body: fmt.Sprintf(`{"username":"contract-%s","role":"member"}`, name)})
	require.Equal(w.t, http.StatusCreated, code, "%s", answer)
	id := member(answer, "service_account.id")
	w.ids["contract"] = fmt.Sprint(id)
	code, answer = w.send(request{method: post, path: v3 + "/service-accounts/{id:contract}/keys", body: `{}`})
	require.Equal(w.t, http.StatusCreated, code, "%s", answer)
	for _, path := range []string{"secret", "key.secret", "key.key", "api_key"} {
		if key, ok := member(answer, path).(string); ok {
			return key
		}
	}
	w.t.Fatalf("no key in %s", answer)
	return ""
}

// signIn opens a tester's session of a browser.
func (w *contract) signIn() {
	w.t.Helper()
	signInLink(w.surface)
	link := w.ids["link"]
	res, err := w.client.Post(w.base+"/session/"+link, "", http.NoBody)
	require.NoError(w.t, err)
	defer res.Body.Close()
	for _, cookie := range res.Cookies() {
		w.cookie = cookie.Name + "=" + cookie.Value
	}
	require.NotEmpty(w.t, w.cookie, "status %d", res.StatusCode)
}

// operations are those of the description, what removes something last, with a valid request
// for each: that of surfaceChanges where there is one.
func (w *contract) operations() []*operation {
	places, changes := map[string]string{}, map[string]request{}
	var order []string
	for _, r := range surfaceChanges() {
		if r.before != nil && r.method != remove {
			r.before(w.surface)
		}
		for name, value := range placesOf(r.path) {
			if places[name] == "" {
				places[name] = value
			}
		}
		if name := r.method + " " + r.pattern(); changes[name].method == "" {
			changes[name], order = r, append(order, name)
		}
		if r.method == remove {
			continue
		}
		code, answer := w.send(r)
		require.Equal(w.t, r.want/100, code/100, "%s %s: %.600s", r.method, r.path, answer)
		w.keep(r.save, answer)
	}
	maps.Copy(places, surfacePlaces())
	for name, find := range surfaceValues() {
		w.wait(name, find)
	}
	w.signIn()
	var list []*operation
	for _, path := range slices.Sorted(maps.Keys(w.description.Paths.Map())) {
		item := w.description.Paths.Value(path)
		for method, op := range item.Operations() {
			o := &operation{method: method, path: path, op: op, params: slices.Concat(item.Parameters, op.Parameters),
				values: map[string]string{}, as: "owner"}
			if op.Security == nil || len(*op.Security) == 0 {
				o.as = "browser"
			}
			if strings.HasPrefix(path, "/ops/") || path == "/metrics" || strings.HasPrefix(path, v3+"/operate") {
				o.as = "operator"
			}
			r := changes[method+" "+path]
			mine := placesOf(r.path)
			for _, at := range named.FindAllStringSubmatchIndex(path, -1) {
				name := mine[path[:at[1]]]
				if name == "" {
					name = places[path[:at[1]]]
				}
				value, ok := w.ids[name]
				if !ok {
					value = w.example(o, path[at[2]:at[3]])
				}
				o.values[path[at[2]:at[3]]] = value
			}
			query := r.query
			if r.method == "" {
				query = surfaceQueries()[path]
			}
			o.query, _ = url.ParseQuery(strings.TrimPrefix(w.text(query), "?"))
			o.readBody(w.surface, r)
			if r.as != "" {
				o.as = r.as
			}
			list = append(list, o)
		}
	}
	rank := func(o *operation) int {
		at := slices.Index(order, o.method+" "+o.path)
		switch {
		case o.method == http.MethodDelete:
			return 10_000 + at
		case strings.Contains(o.path, "/settings/oidc"), strings.Contains(o.path, "/settings/organization"):
			return 5_000 + at
		}
		return at
	}
	slices.SortStableFunc(list, func(a, b *operation) int {
		if n := rank(a) - rank(b); n != 0 {
			return n
		}
		return strings.Compare(a.path+a.method, b.path+b.method)
	})
	return list
}

// example is a value for a parameter of a path that no request of ours has.
func (w *contract) example(o *operation, name string) string {
	for _, p := range o.params {
		if p.Value.Name == name && p.Value.Example != nil {
			return fmt.Sprint(p.Value.Example)
		}
	}
	if value, ok := w.ids[name]; ok {
		return value
	}
	return "1"
}

// placesOf are the names of the values in a path of a request, by the path up to them.
func placesOf(path string) map[string]string {
	places := map[string]string{}
	for _, at := range named.FindAllStringSubmatchIndex(path, -1) {
		parts := named.FindStringSubmatch(path[at[0]:at[1]])
		name := parts[2]
		if name == "" {
			name = parts[1]
		}
		places[named.ReplaceAllString(path[:at[1]], "{$1}")] = name
	}
	return places
}

// make sends a request.
func (w *contract) make(s sent) (receivedAnswer, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	target, err := url.Parse(w.base)
	if err != nil {
		return receivedAnswer{}, err
	}
	target.Opaque = "//" + target.Host + s.path
	target.RawQuery = s.query
	req := &http.Request{Method: s.method, URL: target, Host: target.Host, Header: http.Header{}, ContentLength: int64(len(s.body))}
	if len(s.body) > 0 {
		req.Body = io.NopCloser(bytes.NewReader(s.body))
	}
	if s.kind != "" {
		req.Header.Set("Content-Type", s.kind)
	}
	authoring := strings.HasPrefix(s.path, "/v1/ai-authoring")
	switch key := w.keys[s.as]; {
	case s.as == "operator":
		req.SetBasicAuth(w.boot.Operator.Username, w.boot.Operator.Password)
	case s.as == "owner" && authoring:
		req.SetBasicAuth(w.user[0], w.user[1])
	case s.as == "rival" && authoring:
		req.SetBasicAuth(w.rival[0], w.rival[1])
	case s.as == "browser":
		req.Header.Set("Cookie", w.cookie)
	case key != "":
		req.Header.Set("X-API-Key", key)
	}
	for name, values := range s.header {
		req.Header[name] = values
	}
	res, err := w.client.Do(req.WithContext(ctx))
	if err != nil {
		if strings.Contains(err.Error(), "net/http: invalid") {
			return receivedAnswer{}, errUnsendable
		}
		return receivedAnswer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return receivedAnswer{res.StatusCode, res.Header, body}, err
}
