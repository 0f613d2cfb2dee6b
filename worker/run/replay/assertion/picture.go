package assertion

import (
	"context"
	"errors"
	"image"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/looks"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// pictureTimeout bounds one lossless picture, which may be of a long page.
const pictureTimeout = 15 * time.Second

// TakesPictures reports whether a step is one of the assertions that look at pictures or the
// whole document, which take longer than others.
func TakesPictures(t step.Tool) bool {
	inner := session.Innermost(t)
	m := inner.Args.Matcher
	return inner.Type == step.Assert && m != nil && (m.Name == step.LooksLike || m.Name == step.Accessible)
}

// pictureStep takes the pictures that a step compares or that its record shows.
type pictureStep struct{ *session.Execution }

// picture takes a lossless picture of what the window shows, or of its whole document. What
// shows secrets is blurred in it, as in screenshots.
func (x pictureStep) picture(ctx context.Context, document bool) (*image.NRGBA, error) {
	if err := x.LeaveFrames(ctx); err != nil {
		return nil, err
	}
	view := session.View{Execution: x.Execution}
	masked, ok := view.MaskSecrets(ctx)
	if !ok {
		return nil, failure.Stepf("what shows secrets could not be covered, so there is no picture of the page")
	}
	inner, cancel := context.WithTimeout(ctx, pictureTimeout)
	data, err := x.shoot(inner, document)
	cancel()
	if masked {
		view.UnmaskSecrets(ctx)
	}
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, failure.Stepf("the browser returned no picture within %s", pictureTimeout)
	}
	if err != nil {
		return nil, err
	}
	picture, err := looks.Read(data)
	if err != nil {
		return nil, failure.Stepf("%v", err)
	}
	return picture, nil
}

func (x pictureStep) shoot(ctx context.Context, document bool) ([]byte, error) {
	if x.Driver.Capabilities["webSocketUrl"] == nil {
		if document {
			return nil, failure.Stepf("this browser shows no more than its window: pictures of more need WebDriver BiDi")
		}
		return x.Driver.Screenshot(ctx)
	}
	conn, err := x.Driver.BiDi(ctx)
	if err != nil {
		return nil, err
	}
	window, err := x.Driver.Window(ctx)
	if err != nil {
		return nil, err
	}
	return conn.Picture(ctx, window, document)
}

// keepPicture stores a picture of the step and returns the file's id; "" when it is not kept.
func (x pictureStep) keepPicture(ctx context.Context, kind string, picture *image.NRGBA) string {
	if picture == nil || x.Capture == nil {
		return ""
	}
	data, err := looks.Write(picture)
	if err != nil {
		x.Log.WarnContext(ctx, "picture not kept", "kind", kind, "step", x.Index, "error", err)
		return ""
	}
	return x.Capture(ctx, session.Artifact{Kind: kind, Step: x.Index, ContentType: "image/png", Data: data})
}
