package symbols

import "github.com/slipway-qa/slipway/worker/symbols/parse"

// room returns how many bytes the task may write to temporary files: half of what is
// free, for others write too, and no more than an archive may unpack to.
func (r *run) room() (int64, error) {
	free, err := freeBytes(r.folder)
	if err != nil {
		return 0, err
	}
	return min(free/2, parse.MaxUnpacked), nil
}
