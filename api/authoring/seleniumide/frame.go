package seleniumide

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// frames are selected frames, the outermost first.
type frames []*step.Selector

func (f *frames) enter(path string, s *step.Selector) error {
	if len(*f) >= step.MaxNesting {
		return invalid(path, "lies in more than %d frames", step.MaxNesting)
	}
	// A list that a former step refers to must not change.
	*f = append((*f)[:len(*f):len(*f)], s)
	return nil
}

func (f *frames) leave() {
	if n := len(*f); n > 0 {
		*f = (*f)[:n-1]
	}
}

// place tells fields apart, with the frames that they lie in.
func (f frames) place(s *step.Selector) string {
	var text strings.Builder
	for _, frame := range append(f[:len(f):len(f)], s) {
		text.WriteString(frame.Type + "=" + frame.Value + "\n")
	}
	return text.String()
}

// selectFrame notes the frames around what follows. index=0\1 is a way through
// several, where .. leads out.
func (r *reader) selectFrame(c *command) error {
	target, path := strings.TrimSpace(c.Target), c.path+".target"
	switch {
	case target == "relative=top":
		r.frames = nil
		return nil
	case target == "relative=parent":
		r.frames.leave()
		return nil
	case strings.HasPrefix(target, "index="):
		for part := range strings.SplitSeq(strings.TrimPrefix(target, "index="), `\`) {
			if part == ".." {
				r.frames.leave()
				continue
			}
			n, err := strconv.Atoi(part)
			if err != nil || n < 0 || n > step.MaxSteps {
				return invalid(path, "must be index= with the number of a frame")
			}
			if err := r.frames.enter(path, &step.Selector{Type: step.CSS, Value: "iframe, frame", Index: &n}); err != nil {
				return err
			}
		}
		return nil
	}
	s, err := r.locator(path, target)
	if err != nil {
		return err
	}
	return r.frames.enter(path, s)
}
