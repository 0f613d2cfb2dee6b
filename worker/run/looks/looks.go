// Package looks compares pictures of pages with baselines, for the assertion looks_like.
//
// A baseline is the picture that a person accepted for a step on one kind of target: the
// browser and its platform, the size of what the window shows, and how many pixels it has
// for each of CSS. The first picture is a baseline that nobody has accepted yet; the step
// passes with it, and says so. Judge decides by the baseline and the picture alone.
//
// Pictures are compared pixel by pixel (Compare). Nothing is scaled: another size is a
// difference. A picture of a page is input from outside, so its size is checked before it
// is unpacked (Read).
//
// The package knows no browser and no database: package replay takes the pictures, and
// package run reads and stores baselines.
package looks

import (
	"fmt"
	"image"
	"math"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// Rendering is what a picture depends on, beside the page.
type Rendering struct {
	Browser  string // its name: chrome
	Version  string
	Platform string
	// Width and Height are of what the window shows, in CSS pixels, and Scale how many
	// pixels a picture has for each.
	Width, Height int
	Scale         float64
	// Fonts is a digest of how this machine draws a text that is always the same.
	Fonts string
}

// Key is what the baselines of a step are for: pictures of another key are not compared.
// The browser's version and the fonts are no part of it: they are compared, and told.
func (r Rendering) Key() string {
	return fmt.Sprintf("%s/%s/%dx%d@%s", strings.ToLower(r.Browser), strings.ToLower(r.Platform), r.Width, r.Height,
		strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", r.Scale), "0"), "."))
}

// The states of baselines that a picture is compared with.
const (
	Unreviewed = "UNREVIEWED"
	Accepted   = "ACCEPTED"
	Rejected   = "REJECTED"
)

// Baseline is what a picture is compared with.
type Baseline struct {
	ID      string
	State   string // Unreviewed, Accepted or Rejected
	Version string // of the browser that it was made in
	Fonts   string
	Picture *image.NRGBA
}

// Candidate is a picture that becomes a baseline, or that people may accept as one.
type Candidate struct {
	StepID, Name string
	Rendering    Rendering
	Digest       string
	Width        int
	Height       int
	Data         []byte // PNG
}

// Verdict is what came of a picture.
type Verdict struct {
	Look step.Look
	// Text says what is worth knowing, for people.
	Text string
	// Fails: the step fails.
	Fails bool
	// Stored: the picture is kept as a candidate.
	Stored bool
	// Difference is its picture; nil where nothing differs, or sizes do.
	Difference *image.NRGBA
}

// Judge compares a picture with the baseline of its step; nil: there is none.
func Judge(m step.MatcherArgs, b *Baseline, actual *image.NRGBA, now Rendering) Verdict {
	look := step.Look{State: step.LookUnreviewed, Width: actual.Rect.Dx(), Height: actual.Rect.Dy()}
	if b == nil {
		return Verdict{Look: look, Stored: true, Text: "there is no accepted baseline: this picture is the first, and waits to be accepted"}
	}
	look.BaselineID, look.OtherFonts = b.ID, b.Fonts != now.Fonts
	if b.Picture.Rect.Size() != actual.Rect.Size() {
		return otherSize(look, b, now)
	}
	threshold, sensitivity := valueOr(m.Threshold, step.DefaultThreshold), valueOr(m.Sensitivity, step.DefaultSensitivity)
	d := Compare(b.Picture, actual, sensitivity)
	look.Share = math.Ceil(d.Share*1e6) / 1e6
	if d.Share > threshold {
		if b.State == Rejected {
			return Verdict{Look: first(look), Stored: true,
				Text: "there is no accepted baseline: this picture is another one than the rejected, and waits to be accepted"}
		}
		look.State = step.LookDifferent
		return Verdict{Look: look, Fails: true, Stored: true, Difference: d.Picture,
			Text: fmt.Sprintf("%s of the pixels differ from the baseline, %s may%s", percent(d.Share), percent(threshold), circumstances(b, now))}
	}
	switch b.State {
	case Rejected:
		look.State = step.LookRejected
		return Verdict{Look: look, Fails: true, Text: "it looks like a picture that was rejected"}
	case Accepted:
		look.State = step.LookMatched
		return Verdict{Look: look, Text: strings.TrimPrefix(fontsNote(b, now), "; ")}
	}
	return Verdict{Look: look, Text: "there is no accepted baseline: it looks like the first picture, which waits to be accepted" +
		fontsNote(b, now)}
}

// first is a look that has nothing to be compared with.
func first(look step.Look) step.Look {
	return step.Look{State: step.LookUnreviewed, Width: look.Width, Height: look.Height}
}

func otherSize(look step.Look, b *Baseline, now Rendering) Verdict {
	if b.State == Rejected {
		return Verdict{Look: first(look), Stored: true,
			Text: "there is no accepted baseline: this picture is another one than the rejected, and waits to be accepted"}
	}
	look.State, look.Share = step.LookDifferent, 1
	look.BaselineWidth, look.BaselineHeight = b.Picture.Rect.Dx(), b.Picture.Rect.Dy()
	return Verdict{Look: look, Fails: true, Stored: true,
		Text: fmt.Sprintf("the picture has %d by %d pixels, and the baseline %d by %d: other sizes are not compared%s",
			look.Width, look.Height, look.BaselineWidth, look.BaselineHeight, circumstances(b, now))}
}

// circumstances says what may be the reason that a picture differs, beside the page.
func circumstances(b *Baseline, now Rendering) string {
	text := ""
	if b.State == Unreviewed {
		text += "; nobody has accepted this baseline yet"
	}
	if b.Version != now.Version && b.Version != "" && now.Version != "" {
		text += fmt.Sprintf("; the baseline was made by version %s of the browser, the picture by %s", b.Version, now.Version)
	}
	return text + fontsNote(b, now)
}

func fontsNote(b *Baseline, now Rendering) string {
	if b.Fonts == now.Fonts {
		return ""
	}
	return "; the baseline was made on a machine that draws texts in another way (other fonts, or other settings of them)"
}

func valueOr(value *float64, otherwise float64) float64 {
	if value == nil {
		return otherwise
	}
	return *value
}

func percent(share float64) string {
	text := fmt.Sprintf("%.2f", share*100)
	if share > 0 && text == "0.00" {
		return "less than 0.01 %"
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + " %"
}
