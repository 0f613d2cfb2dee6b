package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// maxTokenRequest bounds a JSON body that is read for its key: it has one member.
const maxTokenRequest = 64 << 10

// jsonKey reads the key out of a JSON body, {"api_key": "..."}: the exchange of a key for
// a token takes it like this too. The body stays whole: the handler refuses other members.
func (a *Authenticator) jsonKey(ctx context.Context, r *http.Request) (*Caller, error) {
	if r.Body == nil {
		return nil, nil
	}
	switch body.Type(r) {
	case body.TypeJSON:
	case body.TypeMultipart:
		return nil, nil
	default:
		if !body.IsJSON(r) {
			return nil, nil
		}
	}
	text, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxTokenRequest))
	if err != nil {
		return nil, err // too large, or the sender went away
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, &respond.Problem{Status: http.StatusBadRequest,
			Text: "the body must be a JSON object, such as {\"api_key\": \"...\"}", Err: err}
	}
	value, ok := members[formField]
	if !ok || string(value) == "null" {
		return nil, nil
	}
	var key string
	if json.Unmarshal(value, &key) != nil {
		return nil, storage.Invalid(formField, "must be a text")
	}
	return a.byKey(ctx, account.KindAPI, key)
}

// errNoKey is errNone for the exchange of a key: it says where the key may stand.
var errNoKey error = &respond.Problem{Status: http.StatusUnauthorized,
	Text: "api_key is required: in the header X-API-Key, as password of Basic authentication, or as api_key of a form or JSON object"}

// methodsOf returns the ways of authentication for an action.
func (a *Authenticator) methodsOf(of respond.Interface, action Action) []Method {
	methods := a.methods[of]
	if action != ExchangeToken || len(methods) == 0 {
		return methods
	}
	return append(methods[:len(methods):len(methods)], a.jsonKey, func(context.Context, *http.Request) (*Caller,
		error) {
		return nil, errNoKey
	})
}
