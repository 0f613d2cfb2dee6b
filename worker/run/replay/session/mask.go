package session

import (
	"context"

	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// View is what is looked at of the page after a step.
type View struct{ *Execution }

// MaskSecrets blurs what shows a secret on the page. ok is false when that could not
// be done: then there is no screenshot.
func (v View) MaskSecrets(ctx context.Context) (masked, ok bool) {
	if len(v.Secrets.typed) == 0 {
		return false, true
	}
	var href string
	if v.Execute(ctx, "return location.href", &href) != nil || href == "" {
		return false, false
	}
	secrets := v.Secrets.typed[origin(href)]
	if len(secrets) == 0 && !v.Secrets.TypedInFrame {
		return false, true
	}
	count := 0
	args := map[string]any{"secrets": append([]string{}, secrets...), "frames": v.Secrets.TypedInFrame, "origin": origin(href)}
	if v.Execute(ctx, page.MaskScript, &count, args) != nil || count < 0 {
		return false, false
	}
	return count > 0, true
}

// UnmaskSecrets takes back what MaskSecrets did.
func (v View) UnmaskSecrets(ctx context.Context) {
	// A page that is gone, or an open dialog, leaves nothing to be seen.
	_ = v.Execute(ctx, page.MaskScript, nil, map[string]any{"off": true})
}
