package account

import "github.com/slipway-qa/slipway/storage"

// Role is what a member may do in an organization. The admin of a team is no
// role but a mark on the team membership.
type Role string

// The roles, highest first.
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Member Role = "member"
	Tester Role = "tester"
)

func (r Role) rank() int {
	switch r {
	case Owner:
		return 4
	case Admin:
		return 3
	case Member:
		return 2
	case Tester:
		return 1
	}
	return 0
}

// AtLeast reports whether the role has all rights of the other. An unknown role
// has none, and nothing is at least an unknown role.
func (r Role) AtLeast(other Role) bool { return other.rank() > 0 && r.rank() >= other.rank() }

func (r Role) check() error {
	if r.rank() == 0 {
		return &storage.InvalidError{Field: "role", Msg: "must be owner, admin, member or tester"}
	}
	return nil
}
