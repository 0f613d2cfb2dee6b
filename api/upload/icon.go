package upload

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
)

// icon stores the package's icon, or one made of the app's name. A build is worth
// more than its icon: nil when there is none or the store failed. The error is
// the request's end alone.
func (in *reception) icon(pkg *artifact.Package, name string) (*distribution.NewFile, error) {
	image := pkg.Icon
	if len(image) == 0 {
		if name == "" {
			name = pkg.Name
		}
		var err error
		if image, err = in.h.cfg.Letter(name); err != nil {
			in.h.cfg.Log.WarnContext(in.ctx(), "icon of an app without one not made", "error", err)
			return nil, nil
		}
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	const kind = "image/png"
	_, err = object.Put(in.ctx(), in.h.cfg.Objects, key, bytes.NewReader(image), int64(len(image)), object.WriteOptions{ContentType: kind})
	if err != nil {
		in.dropped = append(in.dropped, key) // whether the store has it is not sure
		if err := in.ctx().Err(); err != nil {
			return nil, err
		}
		in.h.cfg.Log.WarnContext(in.ctx(), "icon of a build could not be stored", "error", err)
		pkg.Warnings = append(pkg.Warnings, "the icon could not be stored: the build has none")
		return nil, nil
	}
	in.made = append(in.made, key)
	sum := sha256.Sum256(image)
	return &distribution.NewFile{Key: key, Size: int64(len(image)), SHA256: hex.EncodeToString(sum[:]), ContentType: kind}, nil
}
