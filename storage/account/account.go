// Package account stores who may call: organizations with their teams, people and
// service accounts, the keys and crash tokens that stand for them, the operators
// of the installation, and the audit log of what all of them changed.
//
// Every operation that changes something takes a *storage.Tx and an Actor and
// writes its audit row in that transaction: either both are committed or neither.
// The command line and the HTTP interfaces call the same functions. Reads take a
// storage.Querier.
//
// Secrets are shown once. A key is a text `slp_<region>_<kind>_<random>` created by
// Issuer; only its SHA-256 digest and its last four characters are stored. The
// random part has 238 bits, so a plain digest is enough: there is nothing to
// guess, and a lookup is one index read. Operators have a password of the same
// form for the same reason. Rotating ends the former secrets in the statement
// that stores the new one.
//
// A user is a person or a service account; a membership joins a user with an
// organization and holds the role. A tester has no key: none is issued, and a
// member who becomes a tester keeps the old one until it is revoked, which the
// interfaces refuse with a reason. A blocked member's keys stay, refused.
//
// Failures are storage.ErrNotFound (also for rows of another organization),
// storage.ErrConflict (a name taken, the last owner), *storage.InvalidError for
// values that break a rule, and *RegionError for a key of another region.
package account

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

// Actor is who changes something, as the audit log keeps it.
type Actor struct {
	UserID    int64  // 0: not a user of an organization
	Name      string // mail address, user name, "operator:NAME" or one of the constants
	RequestID string
	IPAddress string
	// Claims are those of an OIDC token that say where it comes from, by their names;
	// an entry shows them as the member oidc of its detail.
	Claims map[string]string
}

// Actors that are no user.
const (
	ActorCLI       = "admin-cli" // `slipway admin`
	ActorBootstrap = "bootstrap" // the first start
	ActorUpgrade   = "upgrade"   // what a new version does once with what there is
	ActorOwners    = "owners"    // patterns of owners, that assign new crash groups
	ActorRules     = "rules"     // rules that fired for crash groups
	ActorSymbols   = "symbols"   // symbols that arrived after the crashes that lacked them
	ActorRetention = "retention" // audit events and builds whose time is over
)

// CLI is the actor of the command line.
func CLI() Actor { return Actor{Name: ActorCLI} }

// maxName is what the schema allows for names of organizations, teams and
// projects, in characters.
const maxName = 255

// CleanName trims a name and refuses what no list could show.
func CleanName(field, name string) (string, error) {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName {
		return "", &storage.InvalidError{Field: field, Msg: fmt.Sprintf("must have 1 to %d characters", maxName)}
	}
	return name, storage.Printable(field, name)
}
