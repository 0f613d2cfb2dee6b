package replay

import (
	"context"
	"errors"
	"image"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/looks"
)

// pictureTimeout bounds one lossless picture, which may be of a long page.
const pictureTimeout = 15 * time.Second

// takesPictures reports whether a step is one of the assertions that look at pictures or the
// whole document, which take longer than others.
func takesPictures(t step.Tool) bool {
	inner := innermost(t)
	m := inner.Args.Matcher
	return inner.Type == step.Assert && m != nil && (m.Name == step.LooksLike || m.Name == step.Accessible)
}

// picture takes a lossless picture of what the window shows, or of its whole document. What
// shows secrets is blurred in it, as in screenshots.
func (x *stepExecution) picture(ctx context.Context, document bool) (*image.NRGBA, error) {
	if err := x.leaveFrames(ctx); err != nil {
		return nil, err
	}
	view := pageView{x}
	masked, ok := view.maskSecrets(ctx)
	if !ok {
		return nil, stepf("what shows secrets could not be covered, so there is no picture of the page")
	}
	inner, cancel := context.WithTimeout(ctx, pictureTimeout)
	data, err := x.shoot(inner, document)
	cancel()
	if masked {
		view.unmaskSecrets(ctx)
	}
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, stepf("the browser returned no picture within %s", pictureTimeout)
	}
	if err != nil {
		return nil, err
	}
	picture, err := looks.Read(data)
	if err != nil {
		return nil, stepf("%v", err)
	}
	return picture, nil
}

func (x *stepExecution) shoot(ctx context.Context, document bool) ([]byte, error) {
	if x.driver.Capabilities["webSocketUrl"] == nil {
		if document {
			return nil, stepf("this browser shows no more than its window: pictures of more need WebDriver BiDi")
		}
		return x.driver.Screenshot(ctx)
	}
	conn, err := x.driver.BiDi(ctx)
	if err != nil {
		return nil, err
	}
	window, err := x.driver.Window(ctx)
	if err != nil {
		return nil, err
	}
	return conn.Picture(ctx, window, document)
}

// keepPicture stores a picture of the step and returns the file's id; "" when it is not kept.
func (x *stepExecution) keepPicture(ctx context.Context, kind string, picture *image.NRGBA) string {
	if picture == nil || x.Capture == nil {
		return ""
	}
	data, err := looks.Write(picture)
	if err != nil {
		x.Log.WarnContext(ctx, "picture not kept", "kind", kind, "step", x.index, "error", err)
		return ""
	}
	return x.Capture(ctx, Artifact{Kind: kind, Step: x.index, ContentType: "image/png", Data: data})
}
