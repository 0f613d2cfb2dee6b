package crash

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/worker"
)

// person is a member of the organization.
func (w *world) person(name string) (id int64) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &id, `with u as (
			insert into users (uuid, username, email, name) values ($1, $3, $2, $3) returning id)
		insert into memberships (organization_id, user_id, role) select $4, id, 'member' from u returning user_id`,
		uuid.New(), name+"@example.com", name, w.org))
	return id
}

// rule stores a rule; columns are assignments of the others.
func (w *world) rule(trigger string, above, minutes int, conditions string, people ...int64) (id int64) {
	w.t.Helper()
	list := "{}"
	if len(people) > 0 {
		list = fmt.Sprintf("{%d}", people[0])
	}
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &id, `insert into crash_rules
		(organization_id, name, enabled, trigger, above, minutes, conditions, people, webhook)
		values ($1, $2, true, $2, $3, $4, $5, $6, true) returning id`, w.org, trigger, above, minutes, conditions, list))
	return id
}

func (w *world) rules() *Rules {
	links := link.New("https://qa.example.com")
	return &Rules{Store: w.store, Links: links, Letters: letter.New(letter.Config{Links: links}), Log: slog.New(slog.DiscardHandler)}
}

// evaluate evaluates the rules for what was processed.
func (w *world) evaluate() {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), `update tasks set run_at = now() where kind = $1 and state = 'queued'`, tasks.CrashRules.Name)
	require.NoError(w.t, err)
	h, claim := w.rules(), w.claim(tasks.CrashRules, uuid.Nil)
	require.NoError(w.t, h.Handle(w.t.Context(), claim))
	require.Error(w.t, h.Handle(w.t.Context(), claim), "the token is stale")
}

func (w *world) fired(rule int64) int64 {
	return w.number(`select coalesce(sum(times), 0) from crash_rule_firings where rule_id = $1`, rule)
}

func (w *world) seeHook(t *testing.T) {
	t.Helper()
	_, err := w.db.ExecContext(t.Context(), `insert into webhooks (organization_id, name, url, actions, status, secret)
		values ($1, 'a', 'https://ci.example.invalid', '{crash-rule}', 'active', '')`, w.org)
	require.NoError(t, err)
}

func TestRulesOfNewAndRegressedGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accept(doc{function: "old"})
	w.process()
	require.Zero(t, w.number(`select count(*) from tasks where kind = $1`, tasks.CrashRules.Name), "no rules")
	w.seeHook(t)
	ann := w.person("ann")
	isNew, back := w.rule("new", 0, 0, "[]", ann), w.rule("regressed", 0, 0, "[]", ann)
	staging := w.rule("new", 0, 0, `[{"subject":"attribute","key":"environment","values":["stag*"]}]`)
	path := w.rule("new", 0, 0,
		`[{"subject":"place","values":["main.f"]},{"subject":"severity","values":["crash"]},{"subject":"version","values":["2.*"]}]`)
	_, err := w.db.ExecContext(t.Context(), `update crash_rules set assignee_id = $1 where id = $2`, ann, path)
	require.NoError(t, err)

	w.accept(doc{function: "old"}, doc{function: "f", attributes: `"version":"2.1"`}, doc{function: "f"},
		doc{function: "g", attributes: `"environment":"staging"`})
	w.process()
	w.evaluate()
	require.EqualValues(t, 2, w.fired(isNew), "f and g; old is old")
	require.EqualValues(t, 1, w.fired(staging))
	require.EqualValues(t, 1, w.fired(path))
	require.Zero(t, w.fired(back))
	require.EqualValues(t, 1, w.number(`select count(*) from mails where kind = 'crash-rule' and user_id = $1`, ann), "one for both groups")
	require.EqualValues(t, 1, w.number(`select count(*) from tasks where kind = $1`, tasks.MailSend.Name))
	require.Len(t, w.events(t, webhook.CrashRule), 4)
	require.EqualValues(t, 1, w.number(`select count(*) from crash_groups where assignee_id = $1`, ann))
	require.EqualValues(t, 1,
		w.number(`select count(*) from crash_group_changes where actor = 'rules' and detail ->> 'rule' = $1 and detail ->> 'assignee' = $2`,
			fmt.Sprint(path), fmt.Sprint(ann)))
	require.EqualValues(t, 2,
		w.number(`select count(*) from crash_group_changes where detail ->> 'rule' = $1 and detail ->> 'mails' = '1'`, fmt.Sprint(isNew)))

	w.accept(doc{function: "f"}, doc{function: "g", attributes: `"environment":"staging"`})
	w.process()
	w.evaluate()
	require.EqualValues(t, 2, w.fired(isNew), "they are not new any more")

	for n := range 2 {
		_, err = w.db.ExecContext(t.Context(), `update crash_groups set state = 'resolved', resolved_at = $1`, time.Now().Add(-time.Hour))
		require.NoError(t, err)
		w.accept(doc{function: "f"})
		w.process()
		w.evaluate()
		require.EqualValues(t, n+1, w.fired(back), "each regression")
	}
	require.EqualValues(t, 3, w.number(`select count(*) from mails where kind = 'crash-rule'`))
}

// Several workers evaluate the same batch at once, and the SDK sends it again: each rule fires once. Of
// rules with an assignee the first counts whose assignee may still read crashes.
func TestRulesFireOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seeHook(t)
	ann, gone := w.person("ann"), w.person("gone")
	first, second := w.rule("new", 0, 0, "[]", gone), w.rule("new", 0, 0, "[]", ann)
	for rule, user := range map[int64]int64{first: gone, second: ann} {
		_, err := w.db.ExecContext(t.Context(), `update crash_rules set assignee_id = $1 where id = $2`, user, rule)
		require.NoError(t, err)
	}
	_, err := w.db.ExecContext(t.Context(), `delete from memberships where user_id = $1`, gone)
	require.NoError(t, err)
	docs := []doc{{uuid: uuid.New(), function: "f", at: time.Now()}, {uuid: uuid.New(), function: "g", at: time.Now()}}
	w.accept(docs...)
	w.process()
	var batch uuid.UUID
	require.NoError(t, w.db.GetContext(t.Context(), &batch, `select payload -> 'batch_ids' ->> 0 from tasks where kind = $1`,
		tasks.CrashRules.Name))
	for range 3 {
		w.insert(tasks.NewCrashRules(w.org, []uuid.UUID{batch}, false)[0])
	}
	var ids []uuid.UUID
	require.NoError(t, w.db.SelectContext(t.Context(), &ids, `select id from tasks where kind = $1`, tasks.CrashRules.Name))
	_, err = w.db.ExecContext(t.Context(),
		`update tasks set run_at = now(), created_at = (select min(created_at) from tasks where kind = $1) where kind = $1`,
		tasks.CrashRules.Name)
	require.NoError(t, err)
	alone := tasks.CrashRules
	alone.Batch = 0
	var claims []*worker.Claim
	for _, id := range ids {
		claims = append(claims, w.claim(alone, id))
	}
	failures := make(chan error, len(claims))
	for _, claim := range claims {
		go func() { failures <- w.rules().Handle(t.Context(), claim) }()
	}
	for range claims {
		require.NoError(t, <-failures)
	}
	check := func() {
		t.Helper()
		require.EqualValues(t, 2, w.fired(first), "f and g")
		require.EqualValues(t, 2, w.fired(second))
		require.EqualValues(t, 4, w.number(`select sum(fired) from crash_rules`))
		require.Len(t, w.events(t, webhook.CrashRule), 4)
		require.EqualValues(t, 1, w.number(`select count(*) from mails where kind = 'crash-rule'`), "to ann; the other one left")
		require.EqualValues(t, 2, w.number(`select count(*) from crash_groups where assignee_id = $1`, ann))
		require.EqualValues(t, 4, w.number(`select count(*) from crash_group_changes where actor = 'rules'`))
	}
	check()
	w.accept(docs...)
	w.process()
	if w.number(`select count(*) from tasks where kind = $1 and state = 'queued'`, tasks.CrashRules.Name) > 0 {
		w.evaluate()
	}
	check()
}

func TestRulesThatCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	users := w.rule("users", 2, 60, `[{"subject":"version","values":["2"]}]`)
	reports := w.rule("reports", 3, 10, "[]")
	by := func(user, version string, ago time.Duration) doc {
		return doc{function: "f", at: time.Now().Add(-ago), attributes: fmt.Sprintf(`"user.id":%q,"version":%q`, user, version)}
	}
	w.accept(by("a", "2", 0), by("a", "2", 0), by("b", "2", 0), by("c", "1", 2*time.Hour), by("d", "2", 2*time.Hour))
	w.process()
	w.evaluate()
	require.Zero(t, w.fired(users), "a and b; c has another version, d was two hours ago")
	require.Zero(t, w.fired(reports), "three in ten minutes")
	w.accept(by("e", "2", 0))
	w.process()
	w.evaluate()
	require.EqualValues(t, 1, w.fired(users))
	require.EqualValues(t, 1, w.fired(reports))
	w.accept(by("f", "2", 0))
	w.process()
	w.evaluate()
	require.EqualValues(t, 1, w.fired(users), "once")
	_, err := w.db.ExecContext(t.Context(), `update crash_rules set repeat_hours = 1 where id = $1`, users)
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(), `update crash_rule_firings set fired_at = now() - interval '2 hours'`)
	require.NoError(t, err)
	w.accept(by("g", "2", 0))
	w.process()
	w.evaluate()
	require.EqualValues(t, 2, w.fired(users), "its time has passed")
	require.EqualValues(t, 1, w.fired(reports), "not before the group was resolved")
	_, err = w.db.ExecContext(t.Context(), `update crash_rule_firings set fired_at = now() - interval '2 hours'`)
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(), `update crash_groups set state = 'ignored', ignored_at = now()`)
	require.NoError(t, err)
	w.accept(by("h", "2", 0))
	w.process()
	w.evaluate()
	require.EqualValues(t, 2, w.fired(users), "nobody wants to hear of a group that is ignored")
}

// The mails of an hour are bounded, and what is left out stands in the history.
func TestRuleMailsOfAnHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rule("new", 0, 0, "[]", w.person("ann"))
	_, err := w.db.ExecContext(t.Context(), `insert into crash_rule_rates values ($1, date_trunc('hour', now()), 200)`, w.org)
	require.NoError(t, err)
	w.accept(doc{function: "f"})
	w.process()
	w.evaluate()
	require.Zero(t, w.number(`select count(*) from mails`))
	require.EqualValues(t, 1, w.number(`select count(*) from crash_group_changes where detail ->> 'mails_left_out' = 'true'`))
}
