package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// renewBefore is how long before its end a token is asked for anew: a request may take a
	// moment.
	renewBefore = time.Minute
	// tokenTimeout bounds asking a CI service for a token.
	tokenTimeout = 30 * time.Second
	// maxToken is what the server reads of one.
	maxToken = 16 << 10
)

// TokenSource returns a token that a CI service signs for the job that runs.
type TokenSource func(ctx context.Context) (string, error)

// OIDC is the token of a job in place of a stored key, for a configuration of the
// organization. It asks for a new one before the former ends, and once when the server refuses
// it. When a token ends is the server's to say: this machine's clock may be wrong, so that it only
// counts how long a token lives from when it came.
type OIDC struct {
	// ConfigKey names the configuration: oidc_...
	ConfigKey string
	Source    TokenSource

	mu    sync.Mutex
	token string
	until time.Time // of this machine's monotonic clock; zero: not known
}

// Sign sets the headers Authorization and X-OIDC-Config-Key.
func (o *OIDC) Sign(ctx context.Context, r *http.Request) error {
	token, err := o.current(ctx)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("X-OIDC-Config-Key", o.ConfigKey)
	return nil
}

// String hides the token from logs.
func (*OIDC) String() string { return "the OIDC token of the job" }

// GoString hides the token from logs.
func (o *OIDC) GoString() string { return o.String() }

func (o *OIDC) current(ctx context.Context) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.token != "" && (o.until.IsZero() || time.Until(o.until) > renewBefore) {
		return o.token, nil
	}
	err := o.ask(ctx)
	return o.token, err
}

// ask asks for a token. The caller holds mu.
func (o *OIDC) ask(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, tokenTimeout)
	defer stop()
	asked := time.Now()
	token, err := o.Source(ctx)
	if err != nil {
		return err
	}
	o.token, o.until = token, time.Time{}
	if d := lifetime(token); d > 0 {
		o.until = asked.Add(d)
	}
	return nil
}

// Renew asks for another token in place of one that the server refused, and reports whether there
// is one.
func (o *OIDC) Renew(ctx context.Context) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	refused := o.token
	return o.ask(ctx) == nil && o.token != refused
}

// renew reports whether a request that the server refused for its credential may be sent once
// more with another one.
func (c *Client) renew(ctx context.Context, err error) bool {
	var e *Error
	of, renews := c.cfg.Credential.(interface{ Renew(context.Context) bool })
	return renews && errors.As(err, &e) && e.Status == http.StatusUnauthorized && of.Renew(ctx)
}

// lifetime reads how long a token lives; 0 when it does not say so. Whether it is genuine is the
// server's business.
func lifetime(token string) time.Duration {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return 0
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return 0
	}
	var claims struct {
		Issued  float64 `json:"iat"`
		Expires float64 `json:"exp"`
	}
	if json.Unmarshal(text, &claims) != nil || claims.Issued <= 0 || claims.Expires <= claims.Issued || claims.Expires > 1<<40 {
		return 0
	}
	return time.Duration(min(claims.Expires-claims.Issued, 1<<30)) * time.Second
}

// StaticToken is a token that the CI service put into an environment variable, which from
// names: GitLab's id_tokens, CircleCI's CIRCLE_OIDC_TOKEN_V2.
func StaticToken(token, from string) TokenSource {
	return func(context.Context) (string, error) {
		token := strings.TrimSpace(token)
		if token == "" || len(token) > maxToken {
			return "", &Error{Kind: Refused, Text: from + " has no token"}
		}
		return token, nil
	}
}

// GitHubToken asks GitHub Actions; the job needs the permission id-token: write. address and
// secret are ACTIONS_ID_TOKEN_REQUEST_URL and ACTIONS_ID_TOKEN_REQUEST_TOKEN.
func GitHubToken(transport http.RoundTripper, address, secret, audience string) TokenSource {
	return func(ctx context.Context) (string, error) {
		u, err := url.Parse(address)
		if err != nil {
			return "", &Error{Kind: Misused, Text: "ACTIONS_ID_TOKEN_REQUEST_URL is no address"}
		}
		query := u.Query()
		query.Set("audience", audience)
		u.RawQuery = query.Encode()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return "", &Error{Kind: Misused, Text: "ACTIONS_ID_TOKEN_REQUEST_URL is no address"}
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		return askToken(transport, r, "GitHub", "value")
	}
}

// BitriseToken asks Bitrise, as its step get-identity-token does. build and secret are
// BITRISE_BUILD_URL and BITRISE_BUILD_API_TOKEN.
func BitriseToken(transport http.RoundTripper, build, secret, audience string) TokenSource {
	return func(ctx context.Context) (string, error) {
		body, err := json.Marshal(map[string]string{"aud": audience})
		if err != nil {
			return "", err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(build, "/")+"/id_token.json", bytes.NewReader(body))
		if err != nil {
			return "", &Error{Kind: Misused, Text: "BITRISE_BUILD_URL is no address"}
		}
		r.Header.Set("Content-Type", "application/json; charset=UTF-8")
		r.Header.Set("Authorization", secret)
		r.Header.Set("BUILD_API_TOKEN", secret)
		return askToken(transport, r, "Bitrise", "id_token")
	}
}

// askToken sends a request of a CI service, up to three times, and reads a member of its answer.
func askToken(transport http.RoundTripper, r *http.Request, service, member string) (string, error) {
	hc := &http.Client{Transport: transport, CheckRedirect: refuseRedirect}
	for try := 1; ; try++ {
		token, again, err := askTokenOnce(hc, r, service, member)
		if err == nil || !again || try == 3 {
			return token, err
		}
		if err := Pause(r.Context(), firstPause<<try); err != nil {
			return "", err
		}
		if r.GetBody != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return "", err
			}
		}
	}
}

func askTokenOnce(hc *http.Client, r *http.Request, service, member string) (token string, again bool, err error) {
	res, err := hc.Do(r)
	if err != nil {
		return "", true, &Error{Kind: Unreachable, Text: service + " has no token for the job: it did not answer", Err: withoutAddress(err)}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 4*maxToken))
	if err != nil {
		return "", true, &Error{Kind: Unreachable, Text: service + " has no token for the job: its answer broke off", Err: err}
	}
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
		kind := Refused
		if res.StatusCode >= http.StatusInternalServerError || res.StatusCode == http.StatusTooManyRequests {
			kind = Unreachable
		}
		return "", kind == Unreachable, &Error{Kind: kind, Text: fmt.Sprintf("%s has no token for the job: it answered %d",
			service, res.StatusCode)}
	}
	var answer map[string]json.RawMessage
	if json.Unmarshal(text, &answer) != nil || json.Unmarshal(answer[member], &token) != nil || token == "" || len(token) > maxToken {
		return "", false, &Error{Kind: Broken, Text: service + " answered without a token"}
	}
	return token, false, nil
}
