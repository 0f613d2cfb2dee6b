package crash

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/appversion"
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
	"github.com/slipway-qa/slipway/storage/crash/usage"
)

const (
	maxVersionText = 255     // what a column keeps of a report's version
	maxUntilCount  = 1 << 40 // far above what any group counts
	maxIssueURL    = 2048
)

// GroupChange is what people decide about a group. Nil leaves it as it is.
type GroupChange struct {
	State *GroupState `json:"state,omitempty"`
	// InVersion and InNext say in which version a group is resolved: a crash in an older
	// one, or in one that there is now, is no regression. At most one of them.
	InVersion string `json:"in_version,omitempty"`
	InNext    bool   `json:"in_next_version,omitempty"`
	// What ends the ignoring of a group, whichever comes first.
	Until        *time.Time `json:"until,omitempty"`
	UntilCount   *int64     `json:"until_count,omitempty"` // further occurrences
	UntilUsers   *int64     `json:"until_users,omitempty"` // further users
	UntilVersion string     `json:"until_version,omitempty"`

	Assignee *int64  `json:"assignee,omitempty"`  // a user; 0: nobody
	IssueURL *string `json:"issue_url,omitempty"` // "": none
}

// Validate names the member that breaks a rule, as the reading interface calls it.
func (c *GroupChange) Validate() (err error) {
	var state GroupState
	if c.State != nil {
		if state = *c.State; state.Validate() != nil {
			return state.Validate()
		}
	}
	switch {
	case c.InVersion != "" && state != Resolved:
		return storage.Invalid("in_version", "goes with the state resolved")
	case c.InNext && state != Resolved:
		return storage.Invalid("in_next_version", "goes with the state resolved")
	case c.InVersion != "" && c.InNext:
		return storage.Invalid("in_next_version", "cannot be combined with in_version")
	case c.Until != nil && state != Ignored:
		return storage.Invalid("until", "goes with the state ignored")
	case c.UntilCount != nil && state != Ignored:
		return storage.Invalid("until_count", "goes with the state ignored")
	case c.UntilUsers != nil && state != Ignored:
		return storage.Invalid("until_users", "goes with the state ignored")
	case c.UntilUsers != nil && (*c.UntilUsers < 1 || *c.UntilUsers > maxUntilCount):
		return storage.Invalid("until_users", "must be from 1 to %d", int64(maxUntilCount))
	case c.UntilVersion != "" && state != Ignored:
		return storage.Invalid("until_version", "goes with the state ignored")
	case c.UntilCount != nil && (*c.UntilCount < 1 || *c.UntilCount > maxUntilCount):
		return storage.Invalid("until_count", "must be from 1 to %d", int64(maxUntilCount))
	}
	if c.InVersion, err = versionLine("in_version", c.InVersion); err != nil {
		return err
	}
	if c.UntilVersion, err = versionLine("until_version", c.UntilVersion); err != nil {
		return err
	}
	if c.IssueURL == nil {
		return nil
	}
	return checkIssueURL(*c.IssueURL)
}

// versionLine returns a version as it is stored. One of nothing but blanks, an empty
// variable of a script perhaps, would set no condition without a word.
func versionLine(member, text string) (string, error) {
	line, err := storage.Line(member, text, maxVersionText)
	switch {
	case err != nil:
		return "", err
	case line == "" && text != "":
		return "", storage.Invalid(member, "must not be blank")
	}
	return line, nil
}

// checkIssueURL lets through what a person can follow: nothing that runs, and no
// password.
func checkIssueURL(link string) error {
	if link == "" {
		return nil
	}
	if _, err := storage.Line("issue_url", link, maxIssueURL); err != nil {
		return err
	}
	u, err := url.Parse(link)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(link, " \\<>\"") {
		return storage.Invalid("issue_url", "must be an address that begins with https:// or http://")
	}
	if u.User != nil {
		return storage.Invalid("issue_url", "must hold no user name")
	}
	return nil
}

// ChangeGroup changes a group that is shown, with its audit row, and returns its id,
// which differs from the one requested when that was merged away. *storage.InvalidError
// names the member that breaks a rule.
//
// It shares the project, so that no merge comes between finding the group that is shown
// and locking it.
func ChangeGroup(ctx context.Context, tx *storage.Tx, w account.Writer, id int64, c GroupChange) (int64, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	g, err := lockShown(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return 0, err
	}
	details, err := c.apply(ctx, tx, w, []standing{*g}, nextVersions{}, uuid.Nil)
	if err != nil {
		return 0, err
	}
	return g.ID, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashGroupUpdated,
		Actor: w.Actor, Subject: groupSubject(g.ID), Detail: details[0]})
}

// nextVersions are the newest versions of crash projects, by id, behind which the next
// version is: each is read once for a change, however many groups it is of.
type nextVersions map[int64]string

// of returns that of a crash project.
func (n nextVersions) of(ctx context.Context, q storage.Querier, project int64) (string, error) {
	version, known := n[project]
	if known {
		return version, nil
	}
	version, err := newestVersion(ctx, q, project)
	if err != nil {
		return "", err
	}
	n[project] = version
	return version, nil
}

// apply changes groups that are locked, writes their history, and returns what it did to
// each, in their order. The task is that of a change of many; uuid.Nil: none.
func (c *GroupChange) apply(ctx context.Context, tx *storage.Tx, w account.Writer, groups []standing, next nextVersions,
	task uuid.UUID) ([]map[string]any, error) {
	details := make([]map[string]any, len(groups))
	ids := make([]int64, len(groups))
	for i := range groups {
		details[i], ids[i] = map[string]any{}, groups[i].ID
	}
	if c.State != nil {
		if err := c.setState(ctx, tx, w.OrganizationID, groups, next, details); err != nil {
			return nil, err
		}
	}
	if c.Assignee != nil {
		if err := setAssignee(ctx, tx, w.OrganizationID, ids, *c.Assignee); err != nil {
			return nil, err
		}
	}
	if c.IssueURL != nil {
		if _, err := tx.ExecContext(ctx, `update crash_groups set issue_url = $3 where organization_id = $1 and id = any($2)`,
			w.OrganizationID, pq.Array(ids), *c.IssueURL); err != nil {
			return nil, storage.Wrap(err, "link crash groups to an issue")
		}
	}
	for _, detail := range details {
		if c.Assignee != nil {
			detail["assignee"] = *c.Assignee
		}
		if c.IssueURL != nil {
			detail["issue_url"] = *c.IssueURL
		}
	}
	return details, RecordHistory(ctx, tx, w.Actor, task, c.entries(ids, details)...)
}

// lockShown locks the group that is shown in place of an id.
func lockShown(ctx context.Context, tx *storage.Tx, organization, id int64) (*standing, error) {
	p, err := placeOf(ctx, tx, organization, id)
	if err != nil {
		return nil, err
	}
	if err := projectlock.Share(ctx, tx, p.ProjectID); err != nil {
		return nil, err
	}
	var s standing
	err = tx.GetContext(ctx, &s, `select `+standingColumns+` from crash_groups g
		where g.organization_id = $1 and g.id = (`+ShownGroup+`) for no key update`, organization, id)
	return &s, storage.Wrap(err, fmt.Sprintf("crash group %d", id))
}

// setState writes the state and its conditions. Resolving or ignoring again counts from
// now: what was reported until now is known.
func (c *GroupChange) setState(ctx context.Context, tx *storage.Tx, organization int64, groups []standing, next nextVersions,
	details []map[string]any) error {
	ids, resolvedIn := make([]int64, len(groups)), make([]string, len(groups))
	for i := range groups {
		g, detail := &groups[i], details[i]
		if err := c.CheckUntil(g.Now); err != nil {
			return err
		}
		detail["state"], detail["former_state"] = *c.State, g.shown()
		ids[i], resolvedIn[i] = g.ID, c.InVersion
		if c.InNext {
			version, err := next.of(ctx, tx, g.ProjectID)
			if err != nil {
				return err
			}
			resolvedIn[i], detail["after_version"] = version, version
		}
		for _, d := range []struct {
			member string
			given  bool
			value  any
		}{
			{"in_version", c.InVersion != "", c.InVersion}, {"until", c.Until != nil, c.Until},
			{"until_count", c.UntilCount != nil, c.UntilCount}, {"until_users", c.UntilUsers != nil, c.UntilUsers},
			{"until_version", c.UntilVersion != "", c.UntilVersion},
		} {
			if d.given {
				detail[d.member] = d.value
			}
		}
	}
	_, err := tx.ExecContext(ctx, `update crash_groups g set state = $4,
			resolved_at = case when $4 = 'resolved' then now() end, resolved_in = n.resolved_in, resolved_next = $5,
			ignored_at = case when $4 = 'ignored' then now() end, ignored_until = $6,
			ignored_until_count = $7, ignored_until_version = $8, ignored_until_users = g.users + $9, ignore_ended = '', ignore_ended_at = null
		from unnest($2::bigint[], $3::text[]) as n(id, resolved_in) where g.organization_id = $1 and g.id = n.id`,
		organization, pq.Array(ids), pq.Array(resolvedIn), string(*c.State), c.InNext, c.Until, c.UntilCount, c.UntilVersion, c.UntilUsers)
	return storage.Wrap(err, "change the state of crash groups")
}

// CheckUntil refuses a time that has passed.
func (c *GroupChange) CheckUntil(now time.Time) error {
	if c.Until != nil && !c.Until.After(now) {
		return storage.Invalid("until", "must be in the future")
	}
	return nil
}

// shown is the state as it is shown.
func (s *standing) shown() GroupState {
	if s.State == Ignored && s.IgnoredUntil != nil && !s.IgnoredUntil.After(s.Now) {
		return Open
	}
	return s.State
}

// newestVersion is the newest version of a crash project by comparison; of versions that
// have no order the one that was seen last for the first time. "": there is none.
func newestVersion(ctx context.Context, q storage.Querier, project int64) (string, error) {
	var versions []struct {
		Version string    `db:"version"`
		First   time.Time `db:"first_seen"`
	}
	err := q.SelectContext(ctx, &versions, `select version, first_seen from crash_versions
		where crash_project_id = $1 order by first_seen, version limit $2`, project, usage.MaxVersions)
	if err != nil {
		return "", storage.Wrap(err, "versions of a crash project")
	}
	newest := ""
	for _, v := range versions {
		if newest == "" || !numbered(newest) || numbered(v.Version) && appversion.Compare(v.Version, newest) > 0 {
			newest = v.Version
		}
	}
	return newest, nil
}

// setAssignee assigns groups to somebody of the organization who can read them.
func setAssignee(ctx context.Context, tx *storage.Tx, organization int64, groups []int64, user int64) error {
	if err := Assignable(ctx, tx, organization, user); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `update crash_groups set assignee_id = nullif($3::bigint, 0) where organization_id = $1 and id = any($2)`,
		organization, pq.Array(groups), user)
	return storage.Wrap(err, "assign crash groups")
}

// Assignable refuses whom no group can be assigned to; 0 is nobody.
func Assignable(ctx context.Context, q storage.Querier, organization, user int64) error {
	if user == 0 {
		return nil
	}
	m, err := account.MemberByID(ctx, q, organization, user)
	if err != nil && !isNotFound(err) {
		return err
	}
	if err != nil || m.Kind != account.Person || m.BlockedAt != nil || !m.Role.AtLeast(account.Member) {
		return storage.Invalid("assignee", "must be a person of the organization who may read crashes")
	}
	return nil
}
