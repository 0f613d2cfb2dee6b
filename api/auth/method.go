package auth

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/slipway-qa/slipway/api/auth/issuer"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Method tries one way of authentication: a caller, or an error when the
// credential is refused, or neither when the request does not use this way.
type Method func(ctx context.Context, r *http.Request) (*Caller, error)

// KeyHeader carries an API key.
const KeyHeader = "X-API-Key"

// maxCredential bounds what is looked at: keys have at most 83 characters, mail
// addresses 254.
const maxCredential = 512

func (a *Authenticator) keyHeader(ctx context.Context, r *http.Request) (*Caller, error) {
	// A header that is there but empty is a wrong credential: the variable of a
	// CI job that was not set.
	values, ok := r.Header[http.CanonicalHeaderKey(KeyHeader)]
	if !ok {
		return nil, nil
	}
	return a.byKey(ctx, account.KindAPI, values[0])
}

// bearer is a token that a key was exchanged for.
func (a *Authenticator) bearer(ctx context.Context, r *http.Request) (*Caller, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil, nil
	}
	token = strings.TrimSpace(token)
	if issuer.LooksLike(token) {
		return nil, problemInvalid(OIDCHeader+" header required", nil)
	}
	key, err := account.ParseKey(token)
	if err != nil {
		return nil, problemInvalid("invalid token", err)
	}
	if err := key.In(a.region); err != nil {
		return nil, problemInvalid(err.Error(), err)
	}
	if key.Kind != account.KindBearer {
		return nil, problemInvalid("invalid token: exchange the API key for one at /api/v3/auth/token", nil)
	}
	id, err := account.IdentityByBearer(ctx, a.db, key.Digest, a.now())
	if errors.Is(err, storage.ErrNotFound) {
		return nil, problemInvalid("invalid token, or it has ended", err)
	}
	if err != nil {
		return nil, err
	}
	return callerOf(id), nil
}

// formField carries an API key in a form.
const formField = "api_key"

// formMemory holds the text of a form; routes with ordinary bodies bound it
// further.
const formMemory = 1 << 20

// formKey reads the key out of a form's body, which stays parsed for the handler.
// A key in the address would end in logs, so the query is not looked at.
func (a *Authenticator) formKey(ctx context.Context, r *http.Request) (*Caller, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var err error
	switch kind {
	case body.TypeForm:
		if body.IsJSON(r) {
			return nil, nil
		}
		err = parseForm(r)
	case body.TypeMultipart:
		err = r.ParseMultipartForm(formMemory)
	default:
		return nil, nil
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, err
	}
	if err != nil {
		return nil, &respond.Problem{Status: http.StatusBadRequest, Text: "the form cannot be read", Err: err}
	}
	values, ok := r.PostForm[formField]
	if !ok && r.MultipartForm != nil {
		values, ok = r.MultipartForm.Value[formField]
	}
	if !ok {
		return nil, nil
	}
	return a.byKey(ctx, account.KindAPI, values[0])
}

// parseForm reads a form whatever the method: net/http does for POST, PUT and
// PATCH only, and clients send the key along with DELETE as well.
func parseForm(r *http.Request) error {
	if err := r.ParseForm(); err != nil || r.Body == nil {
		return err
	}
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		return nil
	}
	text, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, formMemory))
	if err != nil {
		return err
	}
	values, err := url.ParseQuery(string(text))
	if err != nil {
		return err
	}
	r.PostForm = values
	return nil
}

// login tries a user name and password: nil, nil when they are not of its kind.
type login func(ctx context.Context, user, password string) (*Caller, error)

// basic reads the Authorization header of the scheme Basic and asks the logins
// in order.
func (a *Authenticator) basic(logins ...login) Method {
	return func(ctx context.Context, r *http.Request) (*Caller, error) {
		scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Basic") {
			return nil, nil
		}
		user, password, ok := r.BasicAuth()
		if !ok || len(user) > maxCredential {
			return nil, problemInvalid("the Basic credentials cannot be read", nil)
		}
		if err := a.origin.Check(r); err != nil {
			return nil, &respond.Problem{Status: http.StatusForbidden,
				Text: "a page of another origin must not use a browser's stored credentials", Err: err}
		}
		for _, try := range logins {
			if caller, err := try(ctx, user, password); caller != nil || err != nil {
				return caller, err
			}
		}
		return nil, problemInvalid("invalid credentials", nil)
	}
}

// distribution is mail address and API key.
func (a *Authenticator) distribution(ctx context.Context, user, password string) (*Caller, error) {
	caller, err := a.byKey(ctx, account.KindAPI, password)
	if err != nil {
		return nil, err
	}
	if caller.Service && user == caller.Username {
		return caller, nil
	}
	if caller.Service || !strings.EqualFold(user, caller.Email) {
		return nil, problemInvalid("the API key is not of this mail address", nil)
	}
	return caller, nil
}

// authoring is user name and access key.
func (a *Authenticator) authoring(ctx context.Context, user, password string) (*Caller, error) {
	caller, err := a.byKey(ctx, account.KindAccess, password)
	if err != nil {
		return nil, err
	}
	caller.oidcOnly = false // see allowKey
	if user != caller.Username {
		return nil, problemInvalid("the access key is not of this user name", nil)
	}
	return caller, nil
}

// operator is an operator's name and password, which is known by its kind.
func (a *Authenticator) operator(ctx context.Context, user, password string) (*Caller, error) {
	key, err := account.ParseKey(password)
	if err != nil || key.Kind != account.KindOperator {
		return nil, nil
	}
	if err := key.In(a.region); err != nil {
		return nil, problemInvalid(err.Error(), err)
	}
	op, err := account.OperatorByPassword(ctx, a.db, cleanText(user), key.Digest)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, problemInvalid("invalid operator credentials", err)
	}
	if err != nil {
		return nil, err
	}
	return &Caller{Operator: true, Username: op.Username}, nil
}

// cleanText keeps what no database text may hold out of a query.
func cleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// byKey finds the caller that a key of the kind stands for. What the text alone
// gives away costs no query.
func (a *Authenticator) byKey(ctx context.Context, kind account.KeyKind, text string) (*Caller, error) {
	what := map[account.KeyKind]string{account.KindAPI: "API key", account.KindAccess: "access key"}[kind]
	key, err := account.ParseKey(text)
	if err != nil {
		return nil, problemInvalid("invalid "+what, err)
	}
	if err := key.In(a.region); err != nil {
		return nil, problemInvalid(err.Error(), err)
	}
	if key.Kind != kind {
		return nil, problemInvalid("invalid "+what+": this key is for another interface", nil)
	}
	id, err := account.IdentityByKey(ctx, a.db, kind, key.Digest)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, problemInvalid("invalid "+what, err)
	}
	if err != nil {
		return nil, err
	}
	return callerOf(id), nil
}
