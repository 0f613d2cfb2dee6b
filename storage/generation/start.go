package generation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/idempotency"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// New is a generation to start: what NewCase has, and what to write.
type New struct {
	Team     *uuid.UUID // nil: the writer's default team
	SuiteID  *uuid.UUID // authoring.ErrSuiteNotFound when it does not exist
	Name     string
	Tags     []string
	Settings capability.RunSettings
	Target   capability.Target // with effective capabilities
	Tunnel   string
	Intent   string
	MaxSteps int
	Timeout  time.Duration
	// Explore is one of ExploreModes; "" leaves it to the organization.
	Explore string
	// KeepDraft stores the steps that worked as a case when the generation fails. A refinement
	// has none: its case stays as it is.
	KeepDraft bool
	// Refines is the case that gets a further revision; nil for a new case. Its team,
	// suite and name take the place of those above.
	Refines *authoring.Case
	// Key is the request's Idempotency-Key, "" without one.
	Key string
}

// Operation names what an Idempotency-Key makes unique: new cases of the
// organization, or refinements of the case.
func Operation(caseID string) string {
	if caseID == "" {
		return "testcase.generate"
	}
	return "testcase.refine:" + caseID
}

// SeenKey returns the id of the generation that a request with the key started within
// the last 24 hours; storage.ErrNotFound when there is none.
func SeenKey(ctx context.Context, q storage.Querier, organizationID int64, caseID, key string) (uuid.UUID, error) {
	return idempotency.RecentID(ctx, q, idempotency.Key{OrganizationID: organizationID, Operation: Operation(caseID), Text: key})
}

// Check cleans the members and refuses what no generation can have.
func (n *New) Check() (err error) {
	if n.Name, err = storage.Name("name", n.Name, authoring.MaxName); err != nil {
		return err
	}
	if n.Tags, err = authoring.CleanTags(n.Tags); err != nil {
		return err
	}
	if err := CheckIntent("promptSettings.intent", n.Intent); err != nil {
		return err
	}
	if n.MaxSteps < 1 || n.MaxSteps > MaxSteps {
		return storage.Invalid("promptSettings.maxSteps", "must be 1 to %d", MaxSteps)
	}
	if n.Explore != "" && !slices.Contains(ExploreModes, n.Explore) {
		return storage.Invalid("promptSettings.explore", "must be on, off or null")
	}
	if n.KeepDraft && n.Refines != nil {
		return storage.Invalid("promptSettings.keepDraft", "is of new test cases: a refinement that fails leaves its case as it is")
	}
	if n.Timeout < MinTimeout || n.Timeout > MaxTimeout {
		return storage.Invalid("timeout", "must be %d to %d milliseconds", MinTimeout.Milliseconds(), MaxTimeout.Milliseconds())
	}
	return nil
}

// CheckIntent refuses a text that cannot be an intent.
func CheckIntent(field, intent string) error {
	if !utf8.ValidString(intent) || strings.ContainsRune(intent, 0) {
		return storage.Invalid(field, "must be UTF-8 text without the character U+0000")
	}
	if strings.TrimSpace(intent) == "" || utf8.RuneCountInString(intent) > MaxIntent {
		return storage.Invalid(field, "must have 1 to %d characters, not only white space", MaxIntent)
	}
	return nil
}

const insertGeneration = `
insert into test_generations (id, organization_id, team_id, user_uuid, actor_user_id, actor_name, name, tags, suite_id,
	run_settings, target, tunnel, intent, max_steps, base_case_id, deadline, explore, keep_draft)
values ($1, $2, $3, $4, nullif($5::bigint, 0), $6, $7, $8, $9, $10, $11, $12, $13, $14, nullif($15, ''),
	now() + make_interval(secs => $16), $17, $18)
returning accepted_at`

// Start writes a generation. The caller inserts its test:generate task in the same
// transaction. idempotency.ErrSeen when the key was used within 24 hours.
func Start(ctx context.Context, tx *storage.Tx, w account.Writer, n New) (uuid.UUID, error) {
	if err := n.Check(); err != nil {
		return uuid.Nil, err
	}
	id, base := storage.NewID(), ""
	if n.Refines != nil {
		base = n.Refines.ID
	}
	if n.Key != "" {
		key := idempotency.Key{OrganizationID: w.OrganizationID, Operation: Operation(base), Text: n.Key}
		if err := idempotency.Claim(ctx, tx, key, id.String()); err != nil {
			return uuid.Nil, err
		}
	}
	team, err := n.owner(ctx, tx, w)
	if err != nil {
		return uuid.Nil, err
	}
	settings, target, err := n.documents()
	if err != nil {
		return uuid.Nil, err
	}
	var at time.Time
	err = tx.GetContext(ctx, &at, insertGeneration, id, w.OrganizationID, team, w.UserUUID, w.Actor.UserID, storage.WithoutNUL(w.Actor.Name),
		n.Name, pq.Array(n.Tags), n.SuiteID, settings, target, storage.WithoutNUL(n.Tunnel), n.Intent, n.MaxSteps, base,
		n.Timeout.Seconds(), n.Explore, n.KeepDraft)
	if err != nil {
		return uuid.Nil, storage.Wrap(err, "create generation")
	}
	detail := map[string]any{"id": id, "name": n.Name}
	if base != "" {
		detail["case"] = base
	}
	return id, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.TestGenerationStarted,
		Actor: w.Actor, Subject: "generation " + id.String(), Detail: detail})
}

// owner returns the team that the case belongs to, and refuses what the writer may not
// change.
func (n *New) owner(ctx context.Context, tx *storage.Tx, w account.Writer) (int64, error) {
	if n.Refines != nil {
		c, err := authoring.LockCase(ctx, tx, w, n.Refines.ID, "key share")
		if err != nil {
			return 0, err
		}
		n.SuiteID = c.SuiteID
		return c.TeamID, nil
	}
	team, err := authoring.TeamFor(ctx, tx, w, n.Team)
	if err != nil || n.SuiteID == nil {
		return team.ID, err
	}
	return team.ID, authoring.KeepSuite(ctx, tx, w, *n.SuiteID)
}

func (n *New) documents() (settings, target string, err error) {
	if n.Settings.RunTargets == nil {
		n.Settings.RunTargets = []capability.Target{}
	}
	doc, err := json.Marshal(n.Settings)
	if err != nil {
		return "", "", fmt.Errorf("run settings of a generation: %w", err)
	}
	at, err := json.Marshal(n.Target)
	if err != nil {
		return "", "", fmt.Errorf("target of a generation: %w", err)
	}
	return storage.WithoutNUL(string(doc)), storage.WithoutNUL(string(at)), nil
}
