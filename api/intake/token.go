package intake

import (
	"context"
	"crypto/sha256"
	"net/http"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/api/token"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
)

// token returns the token of a text that came from an address, or the refusal.
func (r *Receiver) token(ctx context.Context, address, text string) (*crash.Token, error) {
	if text == "" {
		return nil, forbidden("token: is missing; pass the token of the crash project in the query")
	}
	if len(text) > token.MaxText {
		return nil, forbidden("token: is not known")
	}
	var room [token.MaxText]byte
	digest := sha256.Sum256(append(room[:0], text...))
	if wait := r.guesses.Wait(address, text, digest); wait > 0 {
		f := refuse(http.StatusTooManyRequests, codeQuota, ReasonToken, "token: too many tokens that are not known came from this address")
		f.RetryAfter = wait
		return nil, f
	}
	t, err := r.tokens.Find(ctx, digest)
	if err != nil {
		return nil, err
	}
	if t != nil {
		r.guesses.Valid(digest)
		return t, nil
	}
	r.guesses.Wrong(address, text)
	if key, err := account.ParseKey(text); err == nil {
		if err := key.In(r.cfg.Region); err != nil && r.cfg.Region != "" {
			return nil, forbidden("token: " + err.Error())
		}
		if key.Kind == account.KindAPI || key.Kind == account.KindAccess {
			r.cfg.Leaks.Found(ctx, key.Digest, crashLeak())
			return nil,
				forbidden("token: this is a personal key and not the token of a crash project; a key that an app holds is revoked, and its owner told")
		}
		if key.Kind != account.KindCrash {
			return nil, forbidden("token: this key is not the token of a crash project")
		}
	}
	return nil, forbidden("token: is not known, or was revoked")
}

func allowed(t *crash.Token, scope string) error {
	if slices.Contains(t.Scopes, scope) {
		return nil
	}
	return refuse(http.StatusForbidden, codeScope, ReasonScope, "token: has no scope "+scope)
}

// take uses up one report of the token's quota, or refuses.
func (r *Receiver) take(t *crash.Token) error {
	if t.QuotaPerMinute == nil {
		return nil
	}
	wait := r.quotas.Take(t.ID, *t.QuotaPerMinute)
	if wait == 0 {
		return nil
	}
	f := refuse(http.StatusTooManyRequests, codeQuota, ReasonQuota, "token: its quota of reports a minute is used up")
	f.RetryAfter = (wait + time.Second - 1).Truncate(time.Second)
	return f
}
