package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
)

// facts are what the conditions of one build look at. Only what its policy asks for is read.
type facts struct {
	gateFacts
	policy     *Policy           // nil: none that covers the build
	notStarted map[string]string // why suites did not start
	suites     map[uuid.UUID]suiteFacts
	groups     []groupFacts
	sessions   sessionFacts
	before     *beforeFacts // nil: none
	blockers   []blockerFacts
	unignored  time.Time // when the first group ceases to be ignored that is; zero: none
	buildFacts
}

// gateFacts are the row of a gate with its build and its policy.
type gateFacts struct {
	BuildID        int64            `db:"build_id"`
	OrganizationID int64            `db:"organization_id"`
	ProjectID      int64            `db:"project_id"`
	State          State            `db:"gate_state"`
	Former         []byte           `db:"conditions"`
	EvaluatedBy    int64            `db:"evaluated_by"` // the version of the policy
	EvaluatedAt    *time.Time       `db:"evaluated_at"`
	BeforeID       int64            `db:"before_id"` // as it was found last; 0: none
	Windows        pq.Int64Array    `db:"windows"`
	CrashUsers     bool             `db:"crash_users"`
	OverrideState  *State           `db:"override_state"`
	Watched        bool             `db:"watched"` // the time in which facts change it is not over
	HeldAt         *time.Time       `db:"held_at"`
	HeldBy         int64            `db:"held_by"`
	HeldRequest    string           `db:"held_request_id"`
	ToldAt         *time.Time       `db:"told_at"`
	GateChannel    string           `db:"gate_channel"` // the last one that the policy covered
	NotStarted     []byte           `db:"not_started"`
	PolicyVersion  int64            `db:"policy_version"` // 0: no policy
	Document       []byte           `db:"document"`
	CreatedAt      time.Time        `db:"created_at"`
	AppName        string           `db:"app_name"`
	Version        string           `db:"version"`
	VersionCode    string           `db:"version_code"`
	Token          string           `db:"token"`
	Channel        string           `db:"channel"`
	BuildState     string           `db:"build_state"`
	StateReason    string           `db:"state_reason"`
	Verification   artifact.Verdict `db:"verification"`
	Signer         string           `db:"signer"`
	Size           int64            `db:"size"`
	Crashes        int64            `db:"crashes"`
	Recorded       int64            `db:"recorded"` // sessions of the SDK of the build
	// HasCrashProject: reports of the app have somewhere to go.
	HasCrashProject bool `db:"has_crash_project"`
}

type suiteFacts struct {
	BuildID int64     `db:"build_id"`
	SuiteID uuid.UUID `db:"suite_id"`
	RunID   uuid.UUID `db:"run_id"`
	Name    string    `db:"suite_name"`
	State   string    `db:"state"`
	Error   string    `db:"error"`
	Total   int       `db:"total"`
	Passed  int       `db:"passed"`
	Flaky   int       `db:"flaky"` // of those that passed
	// Quarantined have failed and are not in Total.
	Quarantined int `db:"quarantined"`
	// Forgotten: retention deleted some of its cases.
	Forgotten bool `db:"forgotten"`
}

// groupFacts are a group that is new, or came back, in a build.
type groupFacts struct {
	BuildID   int64  `db:"build_id"`
	Hours     int64  `db:"hours"`
	ID        int64  `db:"id"`
	Title     string `db:"title"`
	Reports   int64  `db:"reports"`
	Users     int64  `db:"users"`
	Regressed bool   `db:"regressed"`
}

// counts reports whether the condition looks at groups of this kind.
func (g *groupFacts) counts(c *Condition) bool {
	if g.Regressed {
		return c.wantsKind(RegressedGroups)
	}
	return c.wantsKind(NewGroups)
}

func (g *groupFacts) size(users bool) string {
	text := count(g.Reports, "report")
	if users {
		text += " of " + count(g.Users, "user")
	}
	return text
}

// sessionFacts are the sessions of a build: those that the crash projects of its app know of
// its version, or those that its SDK recorded, whichever are more. Of a version that another build
// of the app has as well only those count that the SDK recorded.
type sessionFacts struct {
	Sessions, Crashed int64
	Shared            bool // another build has the version
}

func (s sessionFacts) percent() float64 {
	if s.Sessions == 0 {
		return 0
	}
	return max(0, 100*(1-float64(s.Crashed)/float64(s.Sessions)))
}

type beforeFacts struct {
	ID       int64  `db:"id"`
	Version  string `db:"version"`
	Signer   string `db:"signer"`
	Size     int64  `db:"size"`
	sessions sessionFacts
}

type blockerFacts struct {
	BuildID int64     `db:"build_id"`
	ID      int64     `db:"id"`
	Text    string    `db:"text"`
	At      time.Time `db:"recorded_at"`
}

// buildFacts are numbers of a build.
type buildFacts struct {
	Build          int64          `db:"build"`
	Testers        int64          `db:"testers"`
	Images         int64          `db:"images"`
	MissingImages  int64          `db:"missing_images"`
	MissingNeeds   int64          `db:"missing_needs"`
	MissingNames   pq.StringArray `db:"missing_names"`
	HasSymbols     bool           `db:"has_symbols"`
	HasMapping     bool           `db:"has_mapping"`
	SymbolsPending bool           `db:"symbols_pending"`
	CrashVersion   int64          // crash project that has sessions of the version; 0: none
}

// used reports whether somebody used the build.
func (f *facts) used() bool { return f.Crashes > 0 || f.Recorded > 0 || f.sessions.Sessions > 0 }

const signerOf = `coalesce(b.signer ->> 'sha256', b.provisioning ->> 'team', '') as signer`

const selectFacts = `
select g.build_id, g.organization_id, g.project_id, g.state as gate_state, g.conditions, g.policy_version as evaluated_by, g.evaluated_at,
	coalesce(g.before_id, 0) as before_id, g.windows, g.crash_users, g.override_state, g.watched_until > now() as watched,
	g.held_at, coalesce(g.held_by, 0) as held_by,
	g.held_request_id, g.told_at, g.channel as gate_channel, g.not_started, coalesce(p.version, 0) as policy_version,
	coalesce(p.document, 'null') as document,
	b.created_at, b.app_name, b.version, b.version_code, b.token, coalesce(b.metadata ->> 'channel', '') as channel,
	b.state as build_state, b.state_reason, b.verification, ` + signerOf + `, f.size, b.crashes, b.sessions as recorded,
	exists (select from crash_projects c where c.project_id = b.project_id) as has_crash_project
from gates g join builds b on b.id = g.build_id and b.deleted_at is null
join files f on f.id = b.file_id
left join gate_policies p on p.project_id = g.project_id
where g.build_id = any($1) order by g.build_id`

// readFacts reads the facts of gates, whose rows are locked; builds that are marked deleted are
// left out. The number of statements does not depend on the number of gates.
func readFacts(ctx context.Context, tx *storage.Tx, builds []int64) ([]*facts, error) {
	var rows []gateFacts
	if err := tx.SelectContext(ctx, &rows, selectFacts, ids(builds)); err != nil {
		return nil, storage.Wrap(err, "gates with their builds")
	}
	r := reading{tx: tx, byID: map[int64]*facts{}}
	for i := range rows {
		f := &facts{gateFacts: rows[i], notStarted: map[string]string{}, suites: map[uuid.UUID]suiteFacts{}}
		if err := json.Unmarshal(f.NotStarted, &f.notStarted); err != nil {
			return nil, fmt.Errorf("gate of build %d: %w", f.BuildID, err)
		}
		if err := json.Unmarshal(f.Document, &f.policy); err != nil {
			return nil, fmt.Errorf("gate policy of app %d: %w", f.ProjectID, err)
		}
		if f.policy != nil && !f.policy.keeps(f.Channel, f.GateChannel) {
			f.policy = nil
		}
		r.list, r.byID[f.BuildID] = append(r.list, f), f
	}
	for _, step := range []func(context.Context) error{r.readBefore, r.readSuites, r.readGroups, r.readSessions,
		r.readBuilds, r.readBlockers} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return r.list, nil
}

// reading reads the facts of several builds.
type reading struct {
	tx   *storage.Tx
	list []*facts
	byID map[int64]*facts
}

// of returns the builds that have a condition of one of the types.
func (r *reading) of(types ...Type) []int64 {
	var list []int64
	for _, f := range r.list {
		if f.policy != nil && f.policy.any(func(c *Condition) bool {
			for _, t := range types {
				if c.Type == t {
					return true
				}
			}
			return false
		}) {
			list = append(list, f.BuildID)
		}
	}
	return list
}

func ids(list []int64) any { return pq.Array(list) }
