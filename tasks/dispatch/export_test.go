package dispatch

import "context"

// Once is one round of the relay that looks at the epoch.
func (r *Relay) Once(ctx context.Context) (more bool, err error) {
	_, more, err = r.round(ctx, true)
	return more, err
}
