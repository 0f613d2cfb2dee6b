// Package statuscall makes the requests to GitHub, GitLab and Gitea that give a commit its
// status, and that read the repository of a setting.
//
// The formats are those of the providers' documents; dialect.go names them. A request goes
// out through package outbound, so that no address, and no name that resolves differently
// the second time, reaches a private one. No redirect is followed: the token would go to
// where it was not meant for, and a request that became a GET would count as sent.
//
// A status counts as sent when the provider answered with it, and not because an answer
// was a success: a sign-in page or a proxy answers 200 as well. To send the same status
// twice is harmless: GitHub and Gitea list it once more and show the newest; GitLab leaves
// what stands. GitLab refuses a pending status where one is pending; then the statuses of the
// commit are read, and it counts as sent when they have it.
//
// A request takes at most Timeout, and of an answer a bounded part is read. Errors are texts
// for people. They have neither the token, also where the server repeats it, nor an address
// that a name resolved to.
package statuscall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/commitstatus"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

const (
	// Timeout bounds a request and the reading of its answer.
	Timeout = 10 * time.Second
	// answerSize bounds what is read of an answer: that of a repository is some 10 KiB, a page
	// of statuses some 100.
	answerSize = 1 << 20
	// messageSize bounds what is shown of a provider's own words, in characters.
	messageSize = 200
	// UserAgent is the header of that name, which GitHub asks for.
	UserAgent = "Slipway-Commit-Status/1.0"
)

// Repository is where a status goes.
type Repository struct {
	Provider commitstatus.Provider
	URL      string // without a slash at its end
	Path     string // owner/name; GitLab: with all groups
	Token    string
}

// Status is what is sent.
type Status struct {
	Commit      string // the full hash
	State       commitstatus.State
	Context     string // its name among the statuses of the commit
	Description string
	Link        string // the page that shows more
}

// Result is what came of a request. Error is "" only when the provider showed the status.
type Result struct {
	HTTPStatus int // 0: no answer
	Error      string
	// Permanent: no further attempt can succeed before somebody changes something.
	Permanent bool
	// RetryAfter is what the provider asked for; 0: nothing.
	RetryAfter time.Duration
	// Stood: the status stood there before.
	Stood bool
}

// Sender makes requests. It is safe for concurrent use.
type Sender struct{ client *http.Client }

// NewSender returns a sender whose requests the guard checks.
func NewSender(guard *outbound.Guard) *Sender {
	client := guard.Client(Timeout)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Sender{client: client}
}

// Send gives a commit its status.
func (s *Sender) Send(ctx context.Context, to Repository, status Status) Result {
	d := dialectOf(to.Provider)
	a := s.ask(ctx, to, http.MethodPost, d.statusPath(to.Path, status.Commit), d.body(status))
	result := a.result(d)
	if result.Error == "" && !a.shows(d, status.State) {
		result.Error = fmt.Sprintf("the address answered %d, but not as %s does", a.status, d.name)
	}
	if d.standing != nil && a.status == http.StatusBadRequest && strings.Contains(a.message(), "Cannot transition status") {
		if s.stands(ctx, to, status, d) {
			return Result{HTTPStatus: a.status, Stood: true}
		}
	}
	return result
}

// stands reports whether the statuses of a commit have a status already.
func (s *Sender) stands(ctx context.Context, to Repository, status Status, d dialect) bool {
	a := s.ask(ctx, to, http.MethodGet, d.standing(to.Path, status), nil)
	var list []struct{ Name, Status string }
	if a.status != http.StatusOK || json.Unmarshal(a.body, &list) != nil {
		return false
	}
	for _, one := range list {
		if one.Name == status.Context && one.Status == d.words[status.State] {
			return true
		}
	}
	return false
}

// Seen is what the provider shows of a repository.
type Seen struct {
	Path string // as the provider writes it
	// Push says whether the token's owner may push, in the provider's words: what statuses ask
	// for. nil: it does not say. The scopes of the token itself show only when one is sent.
	Push *bool
}

// Look reads the repository with its token; nil with a result that has an error.
func (s *Sender) Look(ctx context.Context, to Repository) (*Seen, Result) {
	d := dialectOf(to.Provider)
	a := s.ask(ctx, to, http.MethodGet, d.repositoryPath(to.Path), nil)
	result := a.result(d)
	if result.Error != "" {
		return nil, result
	}
	seen := d.seen(a.body)
	if seen == nil || !strings.EqualFold(seen.Path, to.Path) {
		result.Error = fmt.Sprintf("the address answered %d, but not as %s does for this repository", a.status, d.name)
		return nil, result
	}
	return seen, result
}

// answer is what came back for one request.
type answer struct {
	status  int // 0: none
	body    []byte
	problem string // why there is none
	refused bool   // by the guard
	header  http.Header
	at      time.Time
	token   string
}

// ask makes one request. body is sent as JSON, nil for none.
func (s *Sender) ask(ctx context.Context, to Repository, method, path string, body any) answer {
	a := answer{token: to.Token, at: time.Now()}
	var content io.Reader = http.NoBody
	if body != nil {
		doc, err := json.Marshal(body)
		if err != nil {
			return answer{problem: "the status cannot be written"}
		}
		content = strings.NewReader(string(doc))
	}
	request, err := http.NewRequestWithContext(ctx, method, to.URL+path, content)
	if err != nil {
		return answer{problem: "the address is not a valid URL", refused: true}
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("User-Agent", UserAgent)
	dialectOf(to.Provider).authorize(request.Header, to.Token)
	response, err := s.client.Do(request)
	if err != nil {
		a.problem, a.refused = outbound.Explain(err, Timeout), errors.Is(err, outbound.ErrForbiddenAddress)
		return a
	}
	a.status, a.header = response.StatusCode, response.Header
	// An answer that is too long, or breaks off, is not one that the provider gives.
	a.body, err = outbound.ReadBody(response.Body, answerSize)
	if err != nil {
		a.body = nil
	}
	return a
}

// result says what an answer means for a next attempt.
func (a answer) result(d dialect) Result {
	switch {
	case a.status == 0:
		return Result{Error: a.problem, Permanent: a.refused}
	case a.status >= 200 && a.status <= 299:
		return Result{HTTPStatus: a.status}
	}
	r := Result{HTTPStatus: a.status, Error: fmt.Sprintf("%s answered %d", d.name, a.status), RetryAfter: a.retryAfter()}
	switch {
	case a.status >= 300 && a.status <= 399:
		r.Error, r.Permanent = r.Error+": it leads elsewhere, where the token is not sent; set the repository's address of now", true
		return r
	case a.limited():
		r.RetryAfter = max(r.RetryAfter, limitPause)
	case a.status >= 400 && a.status <= 499:
		r.Permanent = a.status != http.StatusRequestTimeout && a.status != http.StatusConflict && a.status != http.StatusTooEarly
	}
	if hint := hints[a.status]; hint != "" && r.Permanent {
		r.Error += " (" + hint + ")"
	}
	if text := a.message(); text != "" {
		r.Error += ": " + text
	}
	return r
}

// hints are what the refusals of all three providers mean.
var hints = map[int]string{
	http.StatusUnauthorized: "the token is not valid",
	http.StatusForbidden:    "the token may not set statuses",
	http.StatusNotFound:     "there is no such repository or commit, or the token may not see it",
}

// limitPause is how long to wait for a limit when the provider does not say: a minute at least,
// says GitHub.
const limitPause = time.Minute

// limited reports whether the provider refuses for the number of requests. GitHub answers 403
// as well as 429, and says so in its headers or its message:
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
func (a answer) limited() bool {
	if a.status == http.StatusTooManyRequests {
		return true
	}
	return a.status == http.StatusForbidden && (a.header.Get("Retry-After") != "" || a.header.Get("X-RateLimit-Remaining") == "0" ||
		strings.Contains(strings.ToLower(a.message()), "rate limit"))
}

// retryAfter is the wait that an answer asks for: Retry-After, else the seconds since 1970 at
// which GitHub's limit starts anew.
func (a answer) retryAfter() time.Duration {
	if wait := outbound.RetryAfter(a.header, a.at); wait > 0 {
		return wait
	}
	if a.header.Get("X-RateLimit-Remaining") != "0" {
		return 0
	}
	seconds, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil {
		return 0
	}
	return max(0, time.Unix(seconds, 0).Sub(a.at))
}

// message is the provider's own text, without the token: an object with message (all three;
// GitLab's may be an object itself) or error.
func (a answer) message() string {
	var said struct {
		Message json.RawMessage `json:"message"`
		Error   string          `json:"error"`
	}
	if json.Unmarshal(a.body, &said) != nil {
		return ""
	}
	text := said.Error
	if len(said.Message) > 0 {
		var plain string
		if text = string(said.Message); json.Unmarshal(said.Message, &plain) == nil {
			text = plain
		}
	}
	if a.token != "" {
		text = strings.ReplaceAll(text, a.token, "***")
	}
	return storage.Cut(strings.Join(strings.Fields(outbound.CleanText(text)), " "), messageSize)
}

// shows reports whether an answer has the state that was sent.
func (a answer) shows(d dialect, state commitstatus.State) bool {
	var said map[string]json.RawMessage
	var word string
	if json.Unmarshal(a.body, &said) != nil || json.Unmarshal(said[d.stateMember], &word) != nil {
		return false
	}
	return word == d.words[state]
}

// escapePath escapes the parts of a path, and leaves its slashes.
func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
