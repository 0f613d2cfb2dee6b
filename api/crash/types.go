package crash

import (
	"github.com/slipway-qa/slipway/api/crash/content"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/crash/rule"
	"github.com/slipway-qa/slipway/storage/suspect"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"affected_value":          valueView{},
			"crash_group_facet":       groupFacet{},
			"crash_group_facet_value": groupFacetValue{},
			"crash_groups_counted":    countedGroups{},
			"crash_group_summary":     groupView{},
			"crash_group_listed":      listedGroup{},
			"crash_group":             groupDetail{},
			"crash_group_ignored":     ignoredView{},
			"crash_group_ignore_end":  ignoreEndedView{},
			"crash_group_assignee":    personView{},
			"crash_group_part":        partView{},
			"crash_group_change":      changeView{},
			"crash_group_build":       affectedBuildView{},
			"crash_group_trend":       trendView{},
			"crash_trend_point":       trendPointView{},
			"crash_trend_version":     trendVersionView{},
			"crash_group_similar":     similarView{},
			"crash_similar_reason":    similarReasonView{},
			"crash_suspect_changes":   suspectsView{},
			"crash_suspect_commit":    suspectView{},
			"crash_range_commit":      rangeCommitView{},
			"crash_commit_author":     commitAuthorView{},
			"crash_suspect_reason":    suspectReasonView{},
			"crash_suspect_state":     suspect.State(""),
			"saved_search":            savedView{},
			"crash_group_comment":     commentView{},
			"crash_group_head":        headView{},
			"crash_summary":           crashView{},
			"crash":                   crashDetail{},
			"crash_project":           projectView{},
			"crash_breadcrumb":        content.Breadcrumb{},
			"crash_annotation":        content.Annotation{},
			"crash_feedback":          feedbackView{},
			"crash_thread":            content.Thread{},
			"crash_module":            content.Module{},
			"crash_frame":             content.Frame{},
			"fingerprint":             fingerprintView{},
			"crash_attachment":        attachmentView{},
			"counted_reports":         countedView{},
			"attribute_key":           attributeKeyView{},
			"attribute_value":         attributeValueView{},
			"crash_version_figures":   figuresView{},
			"crash_version_day":       versionDayView{},
			"crash_version":           versionView{},
			"affected_version":        affectedVersion{},
			"crash_frame_symbols":     content.Served{},
			"crash_missing_symbols":   content.Missing{},
			"crash_symbolication":     content.Symbolication{},
			"account_crash_project":   crashproject.Project{},
			"crash_token":             crashproject.Token{},
			"crash_owner":             ownerView{},
			"crash_rule":              ruleView{},
			"crash_rule_condition":    ruleConditionView{},
			"crash_rule_trigger":      rule.Trigger(""),
			"crash_rule_subject":      rule.Subject(""),
			"crashGroupState":         crash.GroupState(""),
			"crashState":              crash.State(""),
			"symbolication_state":     crash.SymbolState(""),
			"crash_severity":          crash.Severity(""),
		},
		Bodies: map[string]any{
			"POST /api/v3/crash-groups/change":                   manyChange{},
			"PATCH /api/v3/crash-groups/{id}":                    groupChange{},
			"POST /api/v3/crash-groups/{id}/split":               splitRequest{},
			"POST /api/v3/crash-groups/{id}/comments":            commentRequest{},
			"PATCH /api/v3/crash-groups/{id}/comments/{comment}": commentRequest{},
			"POST /api/v3/saved-searches":                        savedRequest{},
			"POST /api/v3/crash-projects":                        projectRequest{},
			"PUT /api/v3/crash-projects/{id}":                    projectRequest{},
			"PUT /api/v3/crash-projects/{id}/owners":             ownersRequest{},
			"POST /api/v3/crash-rules":                           ruleRequest{},
			"PUT /api/v3/crash-rules/{id}":                       ruleRequest{},
			"POST /api/v3/crash-projects/{id}/tokens":            tokenRequest{},
		},
		Words: []any{rule.Triggers(), rule.Subjects(), crash.Severities(), []crash.GroupState{crash.Open, crash.Resolved,
			crash.Ignored}, []crash.State{crash.Pending, crash.Processed, crash.Stored, crash.Failed},
			[]crash.SymbolState{crash.SymbolsPending, crash.SymbolsComplete, crash.SymbolsPartial, crash.SymbolsMissing, crash.SymbolsNone}},
	}
}
