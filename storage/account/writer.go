package account

import (
	"slices"

	"github.com/google/uuid"
)

// Writer is who changes something of an organization: Teams are the teams whose
// things they may change, AllTeams stands for every team of the organization.
type Writer struct {
	OrganizationID int64
	UserUUID       uuid.UUID
	Admin          bool // may change what belongs to the organization itself
	AllTeams       bool
	Teams          []int64 // in the caller's order: the first is the default team
	Actor          Actor   // as the audit log names the writer
}

// May reports whether the writer may change what belongs to the team, which is of
// the writer's organization.
func (w Writer) May(teamID int64) bool {
	return w.AllTeams || slices.Contains(w.Teams, teamID)
}
