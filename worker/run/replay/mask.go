package replay

import "context"

// pageView is what is looked at of the page after a step.
type pageView struct{ *stepExecution }

// maskSecrets blurs what shows a secret on the page. ok is false when that could not
// be done: then there is no screenshot.
func (v pageView) maskSecrets(ctx context.Context) (masked, ok bool) {
	if len(v.secrets.typed) == 0 {
		return false, true
	}
	var href string
	if v.execute(ctx, "return location.href", &href) != nil || href == "" {
		return false, false
	}
	secrets := v.secrets.typed[origin(href)]
	if len(secrets) == 0 && !v.secrets.typedInFrame {
		return false, true
	}
	count := 0
	args := map[string]any{"secrets": append([]string{}, secrets...), "frames": v.secrets.typedInFrame, "origin": origin(href)}
	if v.execute(ctx, maskScript, &count, args) != nil || count < 0 {
		return false, false
	}
	return count > 0, true
}

func (v pageView) unmaskSecrets(ctx context.Context) {
	// A page that is gone, or an open dialog, leaves nothing to be seen.
	_ = v.execute(ctx, maskScript, nil, map[string]any{"off": true})
}
