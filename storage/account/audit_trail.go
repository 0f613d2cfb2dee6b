package account

import "strings"

// Trail is one of the lists that version 2 of the distribution interface makes of the
// audit log: changes of security, integrations, teams and webhooks, or what concerns
// testers. What is in neither is in the list of all events only.
type Trail string

// The trails.
const (
	NoTrail     Trail = ""
	AdminTrail  Trail = "admin"
	TesterTrail Trail = "tester"
)

// Trail returns the trail that events of the type belong to: the ranges of the table
// that are about the organization, its people and keys, webhooks and security; those
// about testers; and, of the other ranges, what is a key or a connection to the outside.
func (t AuditType) Trail() Trail {
	switch {
	case t < 1200, t >= 1800 && t < 2000:
		return AdminTrail
	case t < 1300:
		return TesterTrail
	}
	switch t {
	case SDKTokenCreated, SDKTokenRevoked, CrashTokenCreated, CrashTokenRotated, CrashTokenRevoked, TunnelCreated, TunnelDeleted:
		return AdminTrail
	}
	return NoTrail
}

// EventType is what version 1 of the distribution interface calls the action: a verb and
// what it does something to, without a dot.
func (e AuditEntryType) EventType() string {
	switch e.Number {
	case BuildDownloaded:
		return "download_app" // the name that the distribution document shows
	case BuildUploaded:
		return "upload_app"
	}
	return strings.ReplaceAll(e.Action, ".", "_")
}

// AuditTypeOf returns the table's line of an action: as version 3 writes it
// ("build.uploaded"), or with an underscore in place of the dot.
func AuditTypeOf(action string) (AuditEntryType, bool) {
	for _, entry := range AuditTypes() {
		if entry.Action == action || strings.ReplaceAll(entry.Action, ".", "_") == action {
			return entry, true
		}
	}
	return AuditEntryType{}, false
}

// AuditTrailTypes returns the numbers of the types of a trail.
func AuditTrailTypes(of Trail) []AuditType {
	var types []AuditType
	for _, entry := range AuditTypes() {
		if entry.Number.Trail() == of {
			types = append(types, entry.Number)
		}
	}
	return types
}
