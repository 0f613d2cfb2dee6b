package account

// AuditType is the number of an audited action. 1200 and 1905 are the numbers
// that the distribution document shows; the rest of the table is Slipway's own
// and, once published, never changes its meaning.
type AuditType int

// The types, by range: 1000 organization and teams, 1100 users and keys, 1200
// testers and distribution, 1300 apps, 1400 builds, 1500 crashes, 1600 tasks, 1700
// tests, 1800 webhooks, 1900 the installation and its security.
const (
	OrganizationCreated     AuditType = 1000
	SiteCreated             AuditType = 1001
	TeamCreated             AuditType = 1010
	TeamMemberAdded         AuditType = 1011
	TeamMemberRemoved       AuditType = 1012
	TeamUpdated             AuditType = 1013
	TeamDeleted             AuditType = 1014
	UserCreated             AuditType = 1100
	UserRoleChanged         AuditType = 1101
	UserBlocked             AuditType = 1102
	UserUnblocked           AuditType = 1103
	UserRemoved             AuditType = 1104
	ServiceAccountCreated   AuditType = 1150
	ServiceAccountDeleted   AuditType = 1151
	KeyCreated              AuditType = 1160
	KeyRotated              AuditType = 1161
	KeyRevoked              AuditType = 1162
	ConsoleSignedIn         AuditType = 1170
	ConsoleSessionEnded     AuditType = 1171
	AgentCalled             AuditType = 1180
	TestersInvited          AuditType = 1200
	TesterBlocked           AuditType = 1201
	TesterUnblocked         AuditType = 1202
	TesterRemoved           AuditType = 1203
	TesterLeft              AuditType = 1204
	TesterUnsubscribed      AuditType = 1205
	TesterSubscribed        AuditType = 1206
	TesterSignedIn          AuditType = 1207
	GroupCreated            AuditType = 1210
	GroupDeleted            AuditType = 1211
	GroupMemberAdded        AuditType = 1212
	GroupMemberRemoved      AuditType = 1213
	GroupUpdated            AuditType = 1214
	DistributionChanged     AuditType = 1220
	BuildInvited            AuditType = 1221
	InviteRevoked           AuditType = 1222
	TestersNotified         AuditType = 1230
	DeviceRegistered        AuditType = 1240
	DeviceRemoved           AuditType = 1241
	DevicesExported         AuditType = 1242
	ProjectCreated          AuditType = 1300
	ProjectUpdated          AuditType = 1301
	ProjectDeleted          AuditType = 1302
	ProjectCopied           AuditType = 1303
	SDKTokenCreated         AuditType = 1310
	SDKTokenRevoked         AuditType = 1311
	GatePolicyChanged       AuditType = 1320
	GatePolicyDeleted       AuditType = 1321
	BuildUploaded           AuditType = 1400
	BuildUpdated            AuditType = 1401
	BuildDeleted            AuditType = 1402
	BuildCopied             AuditType = 1403
	BuildSymbolsAttached    AuditType = 1404
	BuildInvalid            AuditType = 1405
	BuildDownloaded         AuditType = 1410
	GateOverridden          AuditType = 1420
	GateOverrideRemoved     AuditType = 1421
	FeedbackReceived        AuditType = 1450
	FeedbackDeleted         AuditType = 1451
	SessionsDeleted         AuditType = 1452
	CrashProjectCreated     AuditType = 1500
	CrashProjectUpdated     AuditType = 1501
	CrashProjectDeleted     AuditType = 1502
	CrashProjectRegrouped   AuditType = 1503
	CrashTokenCreated       AuditType = 1510
	CrashTokenRotated       AuditType = 1511
	CrashTokenRevoked       AuditType = 1512
	CrashGroupUpdated       AuditType = 1520
	CrashGroupMerged        AuditType = 1521
	CrashGroupUnmerged      AuditType = 1522
	CrashGroupSplit         AuditType = 1523
	CrashGroupCommented     AuditType = 1524
	CrashGroupSymbolicated  AuditType = 1525
	CrashGroupsChanged      AuditType = 1526
	CrashPurgeRequested     AuditType = 1530
	SymbolsUploaded         AuditType = 1540
	SymbolsDeleted          AuditType = 1541
	SymbolsReindexed        AuditType = 1542
	SearchSaved             AuditType = 1550
	SavedSearchDeleted      AuditType = 1551
	CrashRuleCreated        AuditType = 1560
	CrashRuleUpdated        AuditType = 1561
	CrashRuleDeleted        AuditType = 1562
	TaskRetried             AuditType = 1600
	TaskCancelled           AuditType = 1601
	TaskStarted             AuditType = 1602
	TasksRetried            AuditType = 1603
	TasksCancelled          AuditType = 1604
	TasksStarted            AuditType = 1605
	TestCaseCreated         AuditType = 1700
	TestCaseRenamed         AuditType = 1701
	TestCaseDeleted         AuditType = 1702
	TestCaseUpdated         AuditType = 1703
	TestHealingAccepted     AuditType = 1704
	TestHealingRefused      AuditType = 1705
	TestCaseQuarantined     AuditType = 1706
	TestCaseQuarantineEnded AuditType = 1707
	TestSuiteCreated        AuditType = 1710
	TestSuiteUpdated        AuditType = 1711
	TestSuiteDeleted        AuditType = 1712
	StepGroupCreated        AuditType = 1713
	StepGroupUpdated        AuditType = 1714
	StepGroupDeleted        AuditType = 1715
	TestRunStarted          AuditType = 1720
	TestRunCancelled        AuditType = 1721
	TestSuiteRunStarted     AuditType = 1722
	TestSuiteRunCancelled   AuditType = 1723
	TestGenerationStarted   AuditType = 1724
	TestGenerationCancelled AuditType = 1725
	VariableCreated         AuditType = 1730
	VariableUpdated         AuditType = 1731
	VariableDeleted         AuditType = 1732
	TunnelCreated           AuditType = 1740
	TunnelDeleted           AuditType = 1741
	EnvironmentCreated      AuditType = 1745
	EnvironmentUpdated      AuditType = 1746
	EnvironmentDeleted      AuditType = 1747
	ScheduleCreated         AuditType = 1750
	ScheduleUpdated         AuditType = 1751
	ScheduleDeleted         AuditType = 1752
	ScheduleRun             AuditType = 1753
	ScheduleEnded           AuditType = 1754
	ScheduleErrored         AuditType = 1755
	TestBaselineAccepted    AuditType = 1760
	TestBaselineRejected    AuditType = 1761
	TestFindingsAccepted    AuditType = 1762
	TestFindingRemoved      AuditType = 1763
	TestRunPinned           AuditType = 1780
	TestRunUnpinned         AuditType = 1781
	TestSuiteRunPinned      AuditType = 1782
	TestSuiteRunUnpinned    AuditType = 1783
	WebhookCreated          AuditType = 1800
	WebhookUpdated          AuditType = 1801
	WebhookDeleted          AuditType = 1802
	WebhookSuspended        AuditType = 1803
	WebhookSecretRotated    AuditType = 1804
	WebhookReplayed         AuditType = 1805
	WebhookTested           AuditType = 1806
	CommitStatusChanged     AuditType = 1820
	CommitStatusTested      AuditType = 1821
	OperatorCreated         AuditType = 1900
	OperatorRotated         AuditType = 1901
	OperatorRevoked         AuditType = 1902
	SecurityChanged         AuditType = 1905
	OIDCTested              AuditType = 1906
	SettingsChanged         AuditType = 1910
	ConnectionChanged       AuditType = 1911
	MailTemplateChanged     AuditType = 1920
	MailSettingsChanged     AuditType = 1921
	MailSuppressionRemoved  AuditType = 1922
	MailSuppressionAdded    AuditType = 1923
	AuditExported           AuditType = 1930
	AuditExpired            AuditType = 1931
)

// AuditEntryType is one line of the published table.
type AuditEntryType struct {
	Number AuditType
	Action string // what the v3 interface shows and filters by
	Label  string // what the v2 interface shows
}

// AuditTypes is the published table, by number.
func AuditTypes() []AuditEntryType {
	return []AuditEntryType{
		{OrganizationCreated, "organization.created", "Created organization"},
		{SiteCreated, "site.created", "Created site"},
		{TeamCreated, "team.created", "Created team"},
		{TeamMemberAdded, "team.member_added", "Added team member"},
		{TeamMemberRemoved, "team.member_removed", "Removed team member"},
		{TeamUpdated, "team.updated", "Updated team"},
		{TeamDeleted, "team.deleted", "Deleted team"},
		{UserCreated, "user.created", "Created user"},
		{UserRoleChanged, "user.role_changed", "Changed user role"},
		{UserBlocked, "user.blocked", "Blocked user"},
		{UserUnblocked, "user.unblocked", "Unblocked user"},
		{UserRemoved, "user.removed", "Removed user"},
		{ServiceAccountCreated, "service_account.created", "Created service account"},
		{ServiceAccountDeleted, "service_account.deleted", "Deleted service account"},
		{KeyCreated, "key.created", "Created key"},
		{KeyRotated, "key.rotated", "Regenerated key"},
		{KeyRevoked, "key.revoked", "Revoked key"},
		{ConsoleSignedIn, "console.signed_in", "Signed in to the console"},
		{ConsoleSessionEnded, "console.session_ended", "Ended session of the console"},
		{AgentCalled, "agent.called", "Called a tool for agents"},
		{TestersInvited, "testers.invited", "Invited testers"},
		{TesterBlocked, "tester.blocked", "Blocked tester"},
		{TesterUnblocked, "tester.unblocked", "Unblocked tester"},
		{TesterRemoved, "tester.removed", "Removed tester"},
		{TesterLeft, "tester.left", "Tester left"},
		{TesterUnsubscribed, "tester.unsubscribed", "Tester unsubscribed from mail"},
		{TesterSubscribed, "tester.subscribed", "Tester subscribed to mail again"},
		{TesterSignedIn, "tester.signed_in", "Tester signed in"},
		{GroupCreated, "group.created", "Created tester group"},
		{GroupDeleted, "group.deleted", "Deleted tester group"},
		{GroupMemberAdded, "group.member_added", "Added tester to group"},
		{GroupMemberRemoved, "group.member_removed", "Removed tester from group"},
		{GroupUpdated, "group.updated", "Updated tester group"},
		{DistributionChanged, "distribution.changed", "Changed build distribution"},
		{BuildInvited, "build.invited", "Invited testers to build"},
		{InviteRevoked, "invite.revoked", "Revoked invitation to build"},
		{TestersNotified, "testers.notified", "Notified testers"},
		{DeviceRegistered, "device.registered", "Registered device"},
		{DeviceRemoved, "device.removed", "Removed device"},
		{DevicesExported, "devices.exported", "Exported devices"},
		{ProjectCreated, "project.created", "Created app"},
		{ProjectUpdated, "project.updated", "Updated app"},
		{ProjectDeleted, "project.deleted", "Deleted app"},
		{ProjectCopied, "project.copied", "Copied app"},
		{SDKTokenCreated, "sdk_token.created", "Created SDK token"},
		{SDKTokenRevoked, "sdk_token.revoked", "Revoked SDK token"},
		{GatePolicyChanged, "gate_policy.changed", "Changed gate policy"},
		{GatePolicyDeleted, "gate_policy.deleted", "Deleted gate policy"},
		{BuildUploaded, "build.uploaded", "Uploaded build"},
		{BuildUpdated, "build.updated", "Updated build"},
		{BuildDeleted, "build.deleted", "Deleted build"},
		{BuildCopied, "build.copied", "Copied build"},
		{BuildSymbolsAttached, "build.symbols_attached", "Attached symbols to build"},
		{BuildInvalid, "build.invalid", "Marked build invalid"},
		{BuildDownloaded, "build.downloaded", "Downloaded build"},
		{GateOverridden, "gate.overridden", "Overrode gate of build"},
		{GateOverrideRemoved, "gate.override_removed", "Removed override of gate"},
		{FeedbackReceived, "feedback.received", "Received feedback"},
		{FeedbackDeleted, "feedback.deleted", "Deleted feedback"},
		{SessionsDeleted, "sessions.deleted", "Deleted sessions"},
		{CrashProjectCreated, "crash_project.created", "Created crash project"},
		{CrashProjectUpdated, "crash_project.updated", "Updated crash project"},
		{CrashProjectDeleted, "crash_project.deleted", "Deleted crash project"},
		{CrashProjectRegrouped, "crash_project.regrouped", "Requested the grouping of a crash project anew"},
		{CrashTokenCreated, "crash_token.created", "Created crash token"},
		{CrashTokenRotated, "crash_token.rotated", "Regenerated crash token"},
		{CrashTokenRevoked, "crash_token.revoked", "Revoked crash token"},
		{CrashGroupUpdated, "crash_group.updated", "Updated crash group"},
		{CrashGroupMerged, "crash_group.merged", "Merged crash groups"},
		{CrashGroupUnmerged, "crash_group.unmerged", "Took apart merged crash groups"},
		{CrashGroupSplit, "crash_group.split", "Split crash group"},
		{CrashGroupCommented, "crash_group.commented", "Commented on crash group"},
		{CrashGroupSymbolicated, "crash_group.symbolicated", "Called crash group after its symbols"},
		{CrashGroupsChanged, "crash_groups.changed", "Changed all crash groups of a filter"},
		{CrashPurgeRequested, "crashes.purge_requested", "Requested removal of crashes"},
		{SymbolsUploaded, "symbols.uploaded", "Uploaded symbols"},
		{SymbolsDeleted, "symbols.deleted", "Deleted symbols"},
		{SymbolsReindexed, "symbols.reindexed", "Indexed symbols anew"},
		{SearchSaved, "saved_search.created", "Saved search"},
		{SavedSearchDeleted, "saved_search.deleted", "Deleted saved search"},
		{CrashRuleCreated, "crash_rule.created", "Created crash rule"},
		{CrashRuleUpdated, "crash_rule.updated", "Changed crash rule"},
		{CrashRuleDeleted, "crash_rule.deleted", "Deleted crash rule"},
		{TaskRetried, "task.retried", "Retried task"},
		{TaskCancelled, "task.cancelled", "Cancelled task"},
		{TaskStarted, "task.started", "Started waiting task"},
		{TasksRetried, "tasks.retried", "Retried tasks"},
		{TasksCancelled, "tasks.cancelled", "Cancelled tasks"},
		{TasksStarted, "tasks.started", "Started waiting tasks"},
		{TestCaseCreated, "test_case.created", "Created test case"},
		{TestCaseRenamed, "test_case.renamed", "Renamed test case"},
		{TestCaseDeleted, "test_case.deleted", "Deleted test case"},
		{TestCaseUpdated, "test_case.updated", "Updated test case"},
		{TestHealingAccepted, "test_healing.accepted", "Accepted healing of a test step"},
		{TestHealingRefused, "test_healing.refused", "Refused healing of a test step"},
		{TestCaseQuarantined, "test_case.quarantined", "Put test case into quarantine"},
		{TestCaseQuarantineEnded, "test_case.quarantine_ended", "Ended quarantine of test case"},
		{TestSuiteCreated, "test_suite.created", "Created test suite"},
		{TestSuiteUpdated, "test_suite.updated", "Updated test suite"},
		{TestSuiteDeleted, "test_suite.deleted", "Deleted test suite"},
		{StepGroupCreated, "step_group.created", "Created step group"},
		{StepGroupUpdated, "step_group.updated", "Updated step group"},
		{StepGroupDeleted, "step_group.deleted", "Deleted step group"},
		{TestRunStarted, "test_run.started", "Started test run"},
		{TestRunCancelled, "test_run.cancelled", "Cancelled test run"},
		{TestSuiteRunStarted, "test_suite_run.started", "Started test suite run"},
		{TestSuiteRunCancelled, "test_suite_run.cancelled", "Cancelled test suite run"},
		{TestGenerationStarted, "test_generation.started", "Started generation of a test"},
		{TestGenerationCancelled, "test_generation.cancelled", "Cancelled generation of a test"},
		{VariableCreated, "variable.created", "Created variable"},
		{VariableUpdated, "variable.updated", "Updated variable"},
		{VariableDeleted, "variable.deleted", "Deleted variable"},
		{TunnelCreated, "tunnel.created", "Created tunnel"},
		{TunnelDeleted, "tunnel.deleted", "Deleted tunnel"},
		{EnvironmentCreated, "environment.created", "Created environment"},
		{EnvironmentUpdated, "environment.updated", "Updated environment"},
		{EnvironmentDeleted, "environment.deleted", "Deleted environment"},
		{ScheduleCreated, "test_schedule.created", "Created test schedule"},
		{ScheduleUpdated, "test_schedule.updated", "Updated test schedule"},
		{ScheduleDeleted, "test_schedule.deleted", "Deleted test schedule"},
		{ScheduleRun, "test_schedule.run", "Ran test schedule by hand"},
		{ScheduleEnded, "test_schedule.ended", "Test schedule ended"},
		{ScheduleErrored, "test_schedule.errored", "Test schedule failed"},
		{TestBaselineAccepted, "test_baseline.accepted", "Accepted picture as a test step's baseline"},
		{TestBaselineRejected, "test_baseline.rejected", "Rejected picture of a test step"},
		{TestFindingsAccepted, "test_findings.accepted", "Accepted findings of accessibility"},
		{TestFindingRemoved, "test_finding.removed", "Removed accepted finding of accessibility"},
		{TestRunPinned, "test_run.pinned", "Pinned test run"},
		{TestRunUnpinned, "test_run.unpinned", "Unpinned test run"},
		{TestSuiteRunPinned, "test_suite_run.pinned", "Pinned test suite run"},
		{TestSuiteRunUnpinned, "test_suite_run.unpinned", "Unpinned test suite run"},
		{WebhookCreated, "webhook.created", "Created webhook"},
		{WebhookUpdated, "webhook.updated", "Updated webhook"},
		{WebhookDeleted, "webhook.deleted", "Deleted webhook"},
		{WebhookSuspended, "webhook.suspended", "Suspended webhook"},
		{WebhookSecretRotated, "webhook.secret_rotated", "Rotated webhook secret"},
		{WebhookReplayed, "webhook.replayed", "Replayed webhook deliveries"},
		{WebhookTested, "webhook.tested", "Sent test delivery to webhook"},
		{CommitStatusChanged, "commit_status.changed", "Integration updated: status on commits"},
		{CommitStatusTested, "commit_status.tested", "Tested integration: status on commits"},
		{OperatorCreated, "operator.created", "Created operator"},
		{OperatorRotated, "operator.rotated", "Regenerated operator password"},
		{OperatorRevoked, "operator.revoked", "Revoked operator"},
		{SecurityChanged, "security.changed", "Security settings changed"},
		{OIDCTested, "oidc.tested", "Tested OIDC discovery"},
		{SettingsChanged, "settings.changed", "Organization settings changed"},
		{ConnectionChanged, "storage_connection.changed", "Integration updated: app storage"},
		{MailTemplateChanged, "mail_template.changed", "Changed mail template"},
		{MailSettingsChanged, "mail_settings.changed", "Changed mail settings"},
		{MailSuppressionRemoved, "mail_suppression.removed", "Removed mail suppression"},
		{MailSuppressionAdded, "mail_suppression.added", "Marked mail address as unreachable"},
		{AuditExported, "audit.exported", "Exported audit log"},
		{AuditExpired, "audit.expired", "Audit entries reached their retention"},
	}
}

// Describe returns the table's line of a type; false for a number
// that is not in it.
func (t AuditType) Describe() (AuditEntryType, bool) {
	for _, entry := range AuditTypes() {
		if entry.Number == t {
			return entry, true
		}
	}
	return AuditEntryType{}, false
}
