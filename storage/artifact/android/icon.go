package android

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact/icon"
)

// Bounds of the search for an icon, which takes some milliseconds on real packages.
// All attempts share what one icon may draw (see drawer).
const (
	maxIconFiles    = 64   // of one resource in all configurations
	maxIconSteps    = 4096 // through aliases, which may branch
	maxIconAttempts = 4    // to draw one
)

var errNoIcon = errors.New("no configuration of it can be drawn")

// iconFile is one configuration of an icon.
type iconFile struct {
	config config
	path   string
}

// readIcon returns a PNG of the first of the icons that can be drawn; nil
// without an error when there are none. Of one resource, the default locale
// comes first, then images before documents, then the largest: images are as
// they were drawn, while adaptive icons are composed here.
func readIcon(ctx context.Context, decoder *icon.Decoder, res resources, icons []value) ([]byte, error) {
	d := newDrawer(ctx, decoder, res)
	var failed error
	for _, v := range icons {
		files := iconFiles(res, v)
		slices.SortStableFunc(files, compareIcons)
		for _, f := range files[:min(len(files), maxIconAttempts)] {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			png, err := d.icon(f.path)
			if err == nil {
				return png, nil
			}
			failed = firstError(failed, err)
		}
		if len(files) == 0 {
			failed = firstError(failed, errNoIcon)
		}
	}
	return nil, failed
}

// iconFiles returns the files of an icon in all configurations, through aliases.
func iconFiles(res resources, v value) []iconFile {
	var files []iconFile
	steps := 0
	var follow func(v value, c config, depth int)
	follow = func(v value, c config, depth int) {
		if steps++; steps > maxIconSteps || depth > maxReferences || len(files) == maxIconFiles {
			return
		}
		if v.Type == typeString && v.Text != "" {
			files = append(files, iconFile{config: c, path: v.Text})
		} else if v.isReference() {
			for _, c := range res.candidates(v.Data) {
				follow(c.Value, c.Config, depth+1)
			}
		}
	}
	follow(v, config{}, 0)
	return files
}

func compareIcons(a, b iconFile) int {
	plain := func(f iconFile) int {
		c := f.config
		c.SDK = 0
		return c.distance()
	}
	document := func(f iconFile) int {
		if strings.HasSuffix(f.path, ".xml") {
			return 1
		}
		return 0
	}
	density := func(f iconFile) int {
		switch d := f.config.Density; d {
		case 0, densityAny, densityNone:
			return 160
		default:
			return int(d)
		}
	}
	if n := plain(a) - plain(b); n != 0 {
		return n
	}
	if n := document(a) - document(b); n != 0 {
		return n
	}
	if n := density(b) - density(a); n != 0 {
		return n
	}
	return int(b.config.SDK) - int(a.config.SDK)
}

// icon returns a PNG of one file. A decoder that panics fails for this file alone,
// so that the next configuration is tried.
func (d *drawer) icon(path string) (out []byte, err error) {
	err = catchPanic(func() error {
		doc, raster, err := d.res.drawable(path)
		if err != nil {
			return err
		}
		if doc != nil {
			out, err = d.document(doc)
			return err
		}
		if d.images++; d.images > maxImages {
			return errDrawable
		}
		out, err = d.decoder.Normalize(d.ctx, raster)
		return err
	})
	return out, err
}

// document draws an adaptive icon, or any other drawable as it is.
func (d *drawer) document(doc *element) ([]byte, error) {
	if doc.Name == "adaptive-icon" {
		background, err := d.layer(doc, "background")
		if err != nil {
			// Many backgrounds are one colour: white is a better guess than no
			// icon.
			background = icon.Layer{Color: &white}
		}
		foreground, err := d.layer(doc, "foreground")
		if err != nil {
			return nil, err
		}
		return icon.Adaptive(background, foreground, d.budget)
	}
	layer, err := d.element(doc, 0)
	switch {
	case err != nil:
		return nil, err
	case layer.Vector != nil:
		return icon.Render(layer.Vector, d.budget)
	case layer.Image != nil:
		var b bytes.Buffer
		if err := png.Encode(&b, layer.Image); err != nil {
			return nil, err
		}
		return d.decoder.Normalize(d.ctx, b.Bytes())
	}
	return nil, errors.New("it is only a colour")
}
