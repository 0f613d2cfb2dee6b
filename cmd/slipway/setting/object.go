package setting

import (
	"strings"

	"github.com/slipway-qa/slipway/storage/object"
)

// Objects describes the object store.
func (s *Settings) Objects(create bool) object.Config {
	public := s.ObjectsPublicURL
	if public == "" && !strings.HasPrefix(string(s.ObjectsURL), "s3:") {
		public = s.PublicURL
	}
	return object.Config{URL: string(s.ObjectsURL), CreateBucket: create, PublicURL: public, Journal: s.UploadJournal,
		SigningKey: []byte(s.SigningKey), OldSigningKeys: strings.Fields(string(s.SigningKeysOld)),
		Transport: s.Watched.Objects.Transport}
}
