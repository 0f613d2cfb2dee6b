package looks

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

var white = color.NRGBA{255, 255, 255, 255}

func filled(width, height int, c color.NRGBA) *image.NRGBA {
	p := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			p.SetNRGBA(x, y, c)
		}
	}
	return p
}

// diagonal is black below a diagonal, whose pixels are of a grey as anti-aliasing draws it.
func diagonal(size int, edge uint8) *image.NRGBA {
	p := filled(size, size, white)
	for y := range size {
		for x := range size {
			switch {
			case x < y:
				p.SetNRGBA(x, y, color.NRGBA{0, 0, 0, 255})
			case x == y:
				p.SetNRGBA(x, y, color.NRGBA{edge, edge, edge, 255})
			}
		}
	}
	return p
}

func with(p *image.NRGBA, c color.NRGBA, points ...image.Point) *image.NRGBA {
	for _, at := range points {
		p.SetNRGBA(at.X, at.Y, c)
	}
	return p
}

func TestCompare(t *testing.T) {
	block := func() (list []image.Point) {
		for y := 4; y < 8; y++ {
			for x := 4; x < 8; x++ {
				list = append(list, image.Pt(x, y))
			}
		}
		return list
	}()
	for _, c := range []struct {
		name        string
		a, b        *image.NRGBA
		sensitivity float64
		pixels      int
	}{
		{"the same", filled(20, 20, white), filled(20, 20, white), 1, 0},
		{"a block", filled(20, 20, white), with(filled(20, 20, white), color.NRGBA{255, 0, 0, 255}, block...), 0.9, 16},
		{"the other way round", with(filled(20, 20, white), color.NRGBA{255, 0, 0, 255}, block...), filled(20, 20, white), 0.9, 16},
		{"everything", filled(20, 20, white), filled(20, 20, color.NRGBA{0, 0, 0, 255}), 0.9, 400},
		{"nothing is seen", filled(20, 20, white), filled(20, 20, color.NRGBA{0, 0, 0, 255}), 0, 0},
		{"a shade", filled(20, 20, white), filled(20, 20, color.NRGBA{254, 254, 254, 255}), 0.9, 0},
		{"a shade for who looks closely", filled(20, 20, white), filled(20, 20, color.NRGBA{254, 254, 254, 255}), 1, 400},
		{"another edge of the same shape", diagonal(20, 60), diagonal(20, 190), 0.9, 0},
		{"a shape that moved", diagonal(20, 60), shifted(diagonal(20, 60), 5), 0.9, 95},
		{"what is transparent lies on white", filled(20, 20, color.NRGBA{0, 0, 0, 0}), filled(20, 20, white), 1, 0},
		{"one pixel", filled(1, 1, white), filled(1, 1, red), 0.9, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Compare(c.a, c.b, c.sensitivity)
			if c.name == "a shape that moved" {
				require.Greater(t, d.Pixels, 60)
			} else {
				require.Equal(t, c.pixels, d.Pixels)
			}
			require.InDelta(t, float64(d.Pixels)/float64(c.a.Rect.Dx()*c.a.Rect.Dy()), d.Share, 1e-9)
			require.Equal(t, d.Pixels > 0, d.Picture != nil)
			if d.Picture == nil {
				return
			}
			marked := 0
			for y := range c.a.Rect.Dy() {
				for x := range c.a.Rect.Dx() {
					if d.Picture.NRGBAAt(x, y) == red {
						marked++
					}
				}
			}
			require.Equal(t, d.Pixels, marked, "each that differs is red")
		})
	}
}

func shifted(p *image.NRGBA, by int) *image.NRGBA {
	out := filled(p.Rect.Dx(), p.Rect.Dy(), white)
	for y := range p.Rect.Dy() {
		for x := by; x < p.Rect.Dx(); x++ {
			out.SetNRGBA(x, y, p.NRGBAAt(x-by, y))
		}
	}
	return out
}

func TestJudge(t *testing.T) {
	now := Rendering{Browser: "chrome", Version: "156", Platform: "linux", Width: 20, Height: 20, Scale: 1, Fonts: "a"}
	baseline := func(state, fonts string) *Baseline {
		return &Baseline{ID: "b", State: state, Version: "155", Fonts: fonts, Picture: filled(20, 20, white)}
	}
	same, other, sized := filled(20, 20, white), filled(20, 20, red), filled(20, 21, white)
	loose := 1.0
	for _, c := range []struct {
		name           string
		m              step.MatcherArgs
		b              *Baseline
		picture        *image.NRGBA
		state          string
		fails, stored  bool
		text, absent   string
		baseline, font bool
	}{
		{name: "the first", picture: same, state: step.LookUnreviewed, stored: true, text: "no accepted baseline"},
		{name: "as accepted", b: baseline(Accepted, "a"), picture: same, state: step.LookMatched, baseline: true, absent: "baseline"},
		{name: "as accepted, with other fonts", b: baseline(Accepted, "z"), picture: same, state: step.LookMatched,
			baseline: true, font: true, text: "fonts"},
		{name: "as nobody accepted", b: baseline(Unreviewed, "a"), picture: same, state: step.LookUnreviewed, baseline: true,
			text: "no accepted baseline"},
		{name: "as rejected", b: baseline(Rejected, "a"), picture: same, state: step.LookRejected, baseline: true, fails: true, text: "rejected"},
		{name: "different", b: baseline(Accepted, "a"), picture: other, state: step.LookDifferent, baseline: true,
			fails: true, stored: true, text: "100 % of the pixels", absent: "fonts"},
		{name: "different, by another version", b: baseline(Accepted, "a"), picture: other, state: step.LookDifferent,
			baseline: true, fails: true, stored: true, text: "version 155"},
		{name: "different, with other fonts", b: baseline(Accepted, "z"), picture: other, state: step.LookDifferent,
			baseline: true, font: true, fails: true, stored: true, text: "other fonts"},
		{name: "different from what nobody accepted", b: baseline(Unreviewed, "a"), picture: other, state: step.LookDifferent,
			baseline: true, fails: true, stored: true, text: "nobody has accepted"},
		{name: "other than rejected", b: baseline(Rejected, "a"), picture: other, state: step.LookUnreviewed, stored: true,
			text: "waits to be accepted"},
		{name: "all may differ", m: step.MatcherArgs{Threshold: &loose}, b: baseline(Accepted, "a"), picture: other,
			state: step.LookMatched, baseline: true},
		{name: "another size", b: baseline(Accepted, "a"), picture: sized, state: step.LookDifferent, baseline: true,
			fails: true, stored: true, text: "20 by 21 pixels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Judge(c.m, c.b, c.picture, now)
			require.Equal(t, c.state, v.Look.State)
			require.Equal(t, c.fails, v.Fails)
			require.Equal(t, c.stored, v.Stored)
			require.Contains(t, v.Text, c.text)
			if c.absent != "" {
				require.NotContains(t, v.Text, c.absent)
			}
			require.Equal(t, c.baseline, v.Look.BaselineID != "")
			require.Equal(t, c.font, v.Look.OtherFonts)
			require.Contains(t, step.LookStates, v.Look.State)
		})
	}
	require.Equal(t, "chrome/linux/20x20@1", now.Key())
}

func TestParts(t *testing.T) {
	p := filled(40, 40, white)
	Mask(p, []Box{{X: 5, Y: 5, Width: 5, Height: 5}, {X: -100, Y: -1e300, Width: 5, Height: 1}, {X: 1e300, Y: 1, Width: 1e300, Height: 1}}, 2)
	require.Equal(t, maskColour, p.NRGBAAt(10, 10))
	require.Equal(t, maskColour, p.NRGBAAt(19, 19))
	require.Equal(t, white, p.NRGBAAt(20, 20))
	part := Cut(p, Box{X: 4.6, Y: 5, Width: 5, Height: 5}, 2)
	require.Equal(t, image.Rect(0, 0, 10, 10), part.Rect)
	for _, y := range []float64{5, 5.1, 5.44, 5.5, 5.99} {
		require.Equal(t, image.Rect(0, 0, 5, 10), Cut(p, Box{X: 7.3, Y: y, Width: 5, Height: 10}, 1).Rect, y)
	}
	require.Nil(t, Cut(p, Box{X: 50, Y: 50, Width: 5, Height: 5}, 1))
	Frame(p, Box{X: 30, Y: 30, Width: 5, Height: 5}, 1)
	require.Equal(t, red, p.NRGBAAt(28, 28))
	require.Equal(t, white, p.NRGBAAt(32, 32))
	require.Equal(t, Box{X: 0, Y: 2, Width: 9, Height: 11}, Box{X: 2, Y: 5, Width: 4, Height: 5}.Grown(3))
}

// bomb is a PNG picture that says to be of some size.
func bomb(width, height uint32) []byte {
	head := binary.BigEndian.AppendUint32(nil, width)
	head = append(binary.BigEndian.AppendUint32(head, height), 8, 6, 0, 0, 0)
	chunk := append([]byte("IHDR"), head...)
	out := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	return binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
}

func encoded(t testing.TB, p image.Image) []byte {
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, p))
	return out.Bytes()
}

func TestRead(t *testing.T) {
	_, err := Read(bomb(100_000, 100_000))
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = Read(make([]byte, MaxBytes+1))
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = Read([]byte("<html>"))
	require.Error(t, err)
	grey := image.NewGray(image.Rect(0, 0, 3, 2))
	got, err := Read(encoded(t, grey))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 3, 2), got.Rect)
	again, err := Write(got)
	require.NoError(t, err)
	back, err := Read(again)
	require.NoError(t, err)
	require.Equal(t, Digest(got), Digest(back))
	require.NotEqual(t, Digest(filled(2, 3, white)), Digest(filled(3, 2, white)))
}

func FuzzRead(f *testing.F) {
	f.Add(bomb(70_000, 70_000))
	f.Add(encoded(f, filled(3, 4, red)))
	f.Add(encoded(f, image.NewPaletted(image.Rect(0, 0, 4, 4), color.Palette{white, red})))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read(data)
		if err != nil {
			return
		}
		if p.Rect.Dx()*p.Rect.Dy() > MaxPixels || p.Rect.Empty() || p.Rect.Min != (image.Point{}) {
			t.Fatalf("a picture of %v", p.Rect)
		}
		if p.Rect.Dx()*p.Rect.Dy() > 1<<16 {
			return
		}
		if d := Compare(p, p, 1); d.Pixels != 0 {
			t.Fatalf("%d pixels differ from themselves", d.Pixels)
		}
	})
}
