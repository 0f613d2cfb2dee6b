package crash

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/crash"
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
			"saved_search":            savedView{},
			"crash_group_comment":     commentView{},
			"crash_group_head":        headView{},
			"crash_summary":           crashView{},
			"crash":                   crashDetail{},
			"crash_project":           projectView{},
			"crash_thread":            threadView{},
			"crash_module":            moduleView{},
			"crash_frame":             frameView{},
			"fingerprint":             fingerprintView{},
			"crash_attachment":        attachmentView{},
			"counted_reports":         countedView{},
			"attribute_key":           attributeKeyView{},
			"attribute_value":         attributeValueView{},
			"crash_version_figures":   figuresView{},
			"crash_version_day":       versionDayView{},
			"crash_version":           versionView{},
			"affected_version":        affectedVersion{},
			"crash_frame_symbols":     servedView{},
			"crash_missing_symbols":   missingView{},
			"crash_symbolication":     symbolicationView{},
			"account_crash_project":   crash.Project{},
			"crash_token":             crash.ProjectToken{},
			"crash_owner":             ownerView{},
			"crashGroupState":         crash.GroupState(""),
			"crashState":              crash.State(""),
			"symbolication_state":     crash.SymbolState(""),
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
			"POST /api/v3/crash-projects/{id}/tokens":            tokenRequest{},
		},
		Words: []any{[]crash.GroupState{crash.Open, crash.Resolved, crash.Ignored}, []crash.State{crash.Pending, crash.Processed, crash.Stored, crash.Failed},
			[]crash.SymbolState{crash.SymbolsPending, crash.SymbolsComplete, crash.SymbolsPartial, crash.SymbolsMissing, crash.SymbolsNone}},
	}
}
