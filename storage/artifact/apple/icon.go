package apple

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

const (
	maxIcon = 16 << 20 // bytes of one icon
	// maxCandidates bounds of how many icons the size is read; apps have 6 to 15
	// sizes of one icon.
	maxCandidates = 16
	// maxFound bounds the files of these names, of which there may be many.
	maxFound = 4096
	// maxIconTries bounds how many of them are decoded when they are broken.
	maxIconTries = 3
)

// mobileIcons reads the largest of the icons that Info.plist names, or of those
// that older apps have without naming them; iTunesArtwork is the last resort.
// It returns nil for an app that has none.
func (b bundle) mobileIcons(info dict) ([]byte, error) {
	names := map[string]bool{}
	for _, key := range []string{"CFBundleIcons", "CFBundleIcons~ipad"} {
		for _, name := range info.dict(key).dict("CFBundlePrimaryIcon").texts("CFBundleIconFiles") {
			names[iconStem(name)] = true
		}
	}
	for _, key := range []string{"CFBundleIconFiles", "CFBundleIconFile"} {
		for _, name := range info.texts(key) {
			names[iconStem(name)] = true
		}
	}
	delete(names, "")
	var found []archive.Entry
	for i, e := range b.archive.Entries() {
		if i%1024 == 0 && b.ctx.Err() != nil || len(found) == maxFound {
			break
		}
		name := normalizeName(e.Name)
		if file, ok := strings.CutPrefix(name, b.root); ok && isPNG(file) {
			if stem := iconStem(file); names[stem] || len(names) == 0 && stem == "Icon" {
				found = append(found, e)
			}
		}
	}
	if len(found) == 0 {
		for _, e := range b.archive.Entries() {
			if name := normalizeName(e.Name); name == "iTunesArtwork" || name == "iTunesArtwork@2x" {
				found = append(found, e)
			}
		}
	}
	return b.largestIcon(found)
}

// macIcons reads the .icns file of a Mac app.
func (b bundle) macIcons(info dict) ([]byte, error) {
	name := info.text("CFBundleIconFile")
	if name == "" {
		return nil, nil
	}
	found := b.find("Resources/" + name)
	if len(found) == 0 {
		found = b.find("Resources/" + name + ".icns")
	}
	return b.largestIcon(found)
}

// largestIcon decodes the icon with the most pixels, or the next one when that
// one is broken. The number of bytes decides which are candidates, and between
// equals.
func (b bundle) largestIcon(found []archive.Entry) ([]byte, error) {
	slices.SortStableFunc(found, func(x, y archive.Entry) int { return int(min(max(y.Size-x.Size, -1), 1)) })
	found = found[:min(len(found), maxCandidates)]
	type candidate struct {
		entry  archive.Entry
		pixels uint64
	}
	var list []candidate
	for _, e := range found {
		c := candidate{entry: e}
		if len(found) > 1 {
			c.pixels = b.pixelCount(e)
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(x, y candidate) int {
		switch {
		case x.pixels > y.pixels:
			return -1
		case x.pixels < y.pixels:
			return 1
		}
		return 0
	})
	var failed error
	for _, c := range list[:min(len(list), maxIconTries)] {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		png, err := b.readIcon(c.entry)
		if err == nil {
			return png, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

func (b bundle) readIcon(e archive.Entry) ([]byte, error) {
	raw, err := b.archive.Read(e, maxIcon)
	if err != nil {
		return nil, err
	}
	return b.decoder.Normalize(b.ctx, raw)
}

// pixelCount returns the area in the header of a PNG; 0 for anything else.
// Apple's own form has a chunk (CgBI) of 16 bytes before the header.
func (b bundle) pixelCount(e archive.Entry) uint64 {
	r, err := b.archive.Open(e, maxIcon)
	if err != nil {
		return 0
	}
	head := make([]byte, 48)
	if n, _ := io.ReadFull(r, head); n < len(head) {
		return 0
	}
	if string(head[:8]) != "\x89PNG\r\n\x1a\n" {
		return 0
	}
	head = head[8:]
	if string(head[4:8]) == "CgBI" {
		head = head[16:]
	}
	if string(head[4:8]) != "IHDR" {
		return 0
	}
	return uint64(binary.BigEndian.Uint32(head[8:])) * uint64(binary.BigEndian.Uint32(head[12:]))
}

func isPNG(file string) bool {
	return len(file) > 4 && strings.EqualFold(file[len(file)-4:], ".png") && !strings.Contains(file, "/")
}

// iconStem returns an icon's file name without what is specific to a screen:
// "AppIcon60x60@2x~ipad.png" and "AppIcon60x60" mean the same icon.
func iconStem(file string) string {
	if isPNG(file) {
		file = file[:len(file)-4]
	}
	for _, suffix := range []string{"~ipad", "~iphone", "@2x", "@3x"} {
		file = strings.TrimSuffix(file, suffix)
	}
	return file
}
