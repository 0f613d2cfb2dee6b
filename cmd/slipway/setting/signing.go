package setting

import (
	"time"

	"github.com/slipway-qa/slipway/storage/seal"
)

// signingSettings are the keys of the installation beside the current one.
type signingSettings struct {
	SigningKeysOld Secret `env:"SLIPWAY_SIGNING_KEYS_OLD" help:"Signing keys of before, separated by spaces or line breaks: links that they signed stay valid, and what they encrypted can be read, until slipway admin rekey has encrypted it anew."`
}

// backupSettings are what lets a dump of the database and a copy of the objects agree.
type backupSettings struct {
	DeleteDelay time.Duration `env:"SLIPWAY_DELETE_DELAY" default:"24h" help:"Time for which the objects of what was deleted stay, unreachable for everybody, so that a dump of the database and a copy of the objects made within it agree. 0: they go within minutes."`
}

// maxDeleteDelay: what a person asked to delete is gone within a month.
const maxDeleteDelay = 30 * 24 * time.Hour

// Ring returns the current signing key and those of before.
func (s *Settings) Ring() (seal.Ring, error) {
	return seal.NewRing(string(s.SigningKey), string(s.SigningKeysOld))
}
