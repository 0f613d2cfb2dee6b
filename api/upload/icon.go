package upload

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/object"
)

// storeIcon stores the package's icon, or one drawn from the app's name. A build
// is worth more than its icon: nil when there is none or the store failed. An
// error means that the request has ended.
func (u *upload) storeIcon(pkg *artifact.Package, name string) (*storedfile.NewFile, error) {
	image := pkg.Icon
	if len(image) == 0 {
		if name == "" {
			name = pkg.Name
		}
		var err error
		if image, err = u.cfg.Letter(name); err != nil {
			u.cfg.Log.WarnContext(u.ctx(), "icon of an app without one not made", "error", err)
			return nil, nil
		}
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	const kind = "image/png"
	_, err = object.Put(u.ctx(), u.cfg.Objects, key, bytes.NewReader(image), int64(len(image)), object.WriteOptions{ContentType: kind})
	if err != nil {
		u.unused = append(u.unused, key) // whether the store has it is not sure
		if err := u.ctx().Err(); err != nil {
			return nil, err
		}
		u.cfg.Log.WarnContext(u.ctx(), "icon of a build could not be stored", "error", err)
		pkg.Warnings = append(pkg.Warnings, "the icon could not be stored: the build has none")
		return nil, nil
	}
	u.objects = append(u.objects, key)
	sum := sha256.Sum256(image)
	return &storedfile.NewFile{Key: key, Size: int64(len(image)), SHA256: hex.EncodeToString(sum[:]), ContentType: kind}, nil
}
