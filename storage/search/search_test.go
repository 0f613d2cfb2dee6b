package search_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/migrations"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"

	. "github.com/slipway-qa/slipway/storage/search"
)

// room is the fixture with rows of every kind, whose texts are the same in both
// organizations.
type room struct {
	*fixture.Tests
	// ids are those of our rows, theirs the same of the rival, by kind.
	ids, theirs map[Kind]string
}

const crashUUID = "7f3c9a10-5b2e-4c44-9d1a-aa55aa55aa55"

func open(t *testing.T) *room {
	t.Helper()
	w := &room{Tests: fixture.NewTests(t)}
	w.ids, w.theirs = w.fill(w.Org), w.fill(w.Rival)
	return w
}

func (w *room) one(query string, args ...any) (value string) {
	w.T.Helper()
	require.NoError(w.T, w.DB.GetContext(fixture.Context(w.T), &value, query, args...), query)
	return value
}

// fill makes a row of each kind that "Checkout" finds, but for those with ids alone.
func (w *room) fill(o *fixture.Organization) map[Kind]string {
	w.T.Helper()
	ids := map[Kind]string{}
	project := o.CrashProject("Shop crashes")
	ids[CrashGroup] = w.one(`insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit,
		classifier, count,
		first_seen, last_seen, facets_at) values ($1, $2, $3, 1, 'Failure in Checkout', 'pay.Card.charge', 'IllegalState', 1, now(), now(),
			now()) returning id::text`,
		o.ID, project, keyOf(o.ID))
	w.Exec(`insert into crash_group_titles (group_id, organization_id, text)
		select id, organization_id, concat_ws(E'\n', title, culprit, classifier) from crash_groups where id = $1::bigint`, ids[CrashGroup])
	w.Exec(`insert into crash_group_messages (group_id, organization_id, message, count, first_seen, last_seen)
		values ($1::bigint, $2, 'the card 100%_sure was declined', 1, now(), now())`, ids[CrashGroup], o.ID)
	key := w.one(`insert into crash_group_keys (crash_project_id, key, algorithm, group_id) values ($1, $2, 1, $3::bigint)
		returning id::text`,
		project, keyOf(o.ID), ids[CrashGroup])
	ids[Crash] = w.one(`insert into crashes (id, organization_id, crash_project_id, key_id, uuid, state, format, occurred_at,
		received_at, lang, agent,
		classifier, message, version, host, attributes) values (gen_random_uuid(), $1, $2, $3::bigint, $4, 'processed', 'json', now(),
			now(), 'java', 'a',
		'IllegalState', 'declined', '4.2', 'h', '{}') returning id::text`, o.ID, project, key, crashUUID)
	w.Exec(`insert into crash_uuids (crash_project_id, uuid, digest, crash_id) values ($1, $2, ''::bytea, $3)`, project, crashUUID,
		ids[Crash])
	ids[Version] = "4.2-Checkout"
	w.Exec(`insert into crash_versions (crash_project_id, version, first_seen, last_seen) values ($1, $2, now(), now())`, project,
		ids[Version])
	ids[App] = w.one(`insert into projects (organization_id, team_id, name, package_name, platform, token, landing_page_mode)
		values ($1, $2, 'Checkout', 'com.example.shop', 'Android', $3, 'open') returning id::text`, o.ID, o.Team.ID, o.Slug+"-app")
	file := w.ID(`insert into files (organization_id, object_key, size, sha256, content_type) values ($1, $2, 1, '', '') returning id`,
		o.ID, o.Slug)
	ids[Build] = w.one(`insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, kind,
		file_id, file_name)
		values ($1, $2::bigint, $3, 'Checkout', 'Checkout-7.1', '71', 'Android', 'apk', $4, 'shop-release.apk') returning id::text`, o.ID,
		ids[App], o.Slug+"-build", file)
	n := fixture.LoginCase("Checkout as a guest", 1)
	n.Tags, n.Revision.Intent = []string{"voucher"}, "Pay with a\ngift card"
	text := `Say "hello" <b>`
	n.Revision.Steps = append(n.Revision.Steps, step.Step{ID: "s3", Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &text,
		Selector: &step.Selector{Type: step.ByLabel, Value: "Newsletter"}}}})
	made, err := w.TryCase(o.Member.Writer, n)
	require.NoError(w.T, err)
	ids[TestCase] = made.ID
	ids[TestSuite] = w.NewSuite(o.Member.Writer, "Checkout suite").ID.String()
	ids[Schedule] = w.one(`insert into test_schedules (id, organization_id, team_id, name, state, creator_uuid, modifier_uuid)
		values (gen_random_uuid(), $1, $2, 'Checkout nightly', 'DISABLED', $3, $3) returning id::text`, o.ID, o.Team.ID, o.Member.UUID)
	person := o.NewUser("checkout-tester", account.Tester)
	ids[Tester] = w.one(`select id::text from memberships where organization_id = $1 and user_id = $2`, o.ID, person.ID)
	ids[Task] = w.one(`insert into tasks (id, kind, queue, organization_id, payload, max_attempts) values ($2, 'crash:purge', 'bulk',
		$1, '{}', 1)
		returning id::text`, o.ID, uuid.Must(uuid.NewV7()))
	ids[Webhook] = w.one(`insert into webhooks (organization_id, name, url, status, secret) values ($1, 'Chat',
		'https://chat.example.com/Checkout', 'active', '')
		returning id::text`, o.ID)
	w.fillMore(o, ids, person.ID, project)
	return ids
}

// fillMore makes a row of the kinds that have no list of their own name, and of people.
func (w *room) fillMore(o *fixture.Organization, ids map[Kind]string, person, project int64) {
	w.T.Helper()
	w.Exec(`update crash_group_titles set functions = true, text = text || E'\npay.Card.charge\npay.Cashier.run' where group_id = $1::bigint`,
		ids[CrashGroup])
	ids[CrashComment] = w.one(`insert into crash_group_comments (group_id, author, text)
		values ($1::bigint, 'ann', E'Seen in Checkout,\nsince the card reader') returning id::text`,
		ids[CrashGroup])
	file := w.ID(`insert into files (organization_id, object_key, size, sha256, content_type) values ($1, $2, 1, '', '') returning id`, o.ID,
		o.Slug+"-symbols")
	ids[Symbol] = w.one(`insert into symbols (organization_id, crash_project_id, file_id, name, sha256, source, release)
		values ($1, $2, $3, 'Checkout.dSYM.zip', '', 'api', '4.2') returning id::text`, o.ID, project, file)
	of := w.ID(`insert into symbol_files (organization_id, symbol_id, path, kind, state, size, sha256)
		values ($1, $2::bigint, 'Contents/DWARF/Wallet', 'macho', 'indexed', 1, '') returning id`, o.ID, ids[Symbol])
	for kind, value := range map[string]string{"debug_id": debugID, "code_id": codeID, "debugId": "5ca1ab1e-0000-4000-8000-00000000beef"} {
		w.Exec(`insert into symbol_identifiers (organization_id, type, value, symbol_file_id) values ($1, $2, $3, $4)`, o.ID, kind, value, of)
	}
	ids[TestRun] = w.one(`insert into test_runs (id, organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name)
		values (gen_random_uuid(), $1, $2, $3, 'r', gen_random_uuid(), 'As a guest', '') returning id::text`, o.ID, o.Team.ID, ids[TestCase])
	ids[job] = w.one(`insert into test_jobs (id, organization_id, run_id, position, target) values (gen_random_uuid(), $1, $2, 0, '{}')
		returning id::text`, o.ID, ids[TestRun])
	ids[SuiteRun] = w.one(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count)
		values (gen_random_uuid(), $1, $2, $3, 'All', gen_random_uuid(), '', 1) returning id::text`, o.ID, o.Team.ID, ids[TestSuite])
	ids[TesterGroup] = w.one(`insert into tester_groups (organization_id, name, team_id) values ($1, 'Checkout beta', $2) returning id::text`,
		o.ID, o.Team.ID)
	ids[Team] = w.one(`insert into teams (uuid, organization_id, name) values (gen_random_uuid(), $1, 'Checkout team')
		returning id::text`, o.ID)
	ids[Device] = w.one(`insert into tester_devices (organization_id, user_id, udid, platform, name, source, verified)
		values ($1, $2, $3, 'ios', 'Checkout phone', 'admin', 'none') returning id::text`, o.ID, person, udid)
}

const (
	job     = Kind("job") // of a run: no kind of its own
	debugID = "C0FFEE00112233445566778899AABBCC1"
	codeID  = "facade00112233445566778899aabbcc00112233"
	udid    = "00008030-001A2B3C4D5E6F70"
)

func keyOf(organization int64) []byte { return []byte(fmt.Sprintf("%032d", organization)) }

// find returns the ids of what is found in ours, by kind.
func (w *room) find(text string) map[Kind][]string {
	w.T.Helper()
	return ids(w.search(Query{OrganizationID: w.Org.ID, Text: text, Kinds: Kinds(), Limit: 10}))
}

func (w *room) search(q Query) []Found {
	w.T.Helper()
	found, err := Find(fixture.Context(w.T), w.DB, q)
	require.NoError(w.T, err, "%+v", q)
	return found
}

func ids(found []Found) map[Kind][]string {
	list := map[Kind][]string{}
	for _, f := range found {
		for _, r := range f.Results {
			list[f.Kind] = append(list[f.Kind], r.ID)
		}
	}
	return list
}

func TestFind(t *testing.T) {
	t.Parallel()
	w := open(t)
	of := func(kinds ...Kind) map[Kind][]string {
		list := map[Kind][]string{}
		for _, kind := range kinds {
			list[kind] = []string{w.ids[kind]}
		}
		return list
	}
	all := of(CrashGroup, Version, App, Build, TestCase, TestSuite, Schedule, Tester, Webhook, CrashComment, Symbol, TesterGroup, Team, Device)
	fingerprint := fmt.Sprintf("%x", keyOf(w.Org.ID))
	for text, want := range map[string]map[Kind][]string{
		"Checkout":                       all,
		"  cHECKOUT ":                    all,
		"Che":                            all,
		"ch":                             of(App, Build, TestCase, TestSuite, Schedule, Tester, Webhook, Symbol, TesterGroup, Team),
		"card.CHARGE":                    of(CrashGroup),
		"was declined":                   of(CrashGroup),
		"100%_sure":                      of(CrashGroup),
		"1__%":                           {},
		"100_":                           {},
		"%":                              {},
		"_":                              {},
		`\`:                              {},
		"example.shop":                   of(App),
		"com.example.shop":               of(App),
		"shop-release.apk":               of(Build),
		"acme-build":                     of(Build),
		"checkout-7":                     of(Build),
		"7.1":                            {},
		"4.2":                            of(Version),
		"voucher":                        of(TestCase),
		"pay with a gift card":           of(TestCase),
		`say "HELLO" <b>`:                of(TestCase),
		"newsletter":                     of(TestCase),
		"checkout-tester@acme":           of(Tester),
		"chat.example.com":               of(Webhook),
		crashUUID:                        of(Crash),
		crashUUID[:8]:                    of(Crash),
		w.ids[Crash]:                     of(Crash),
		fingerprint:                      of(CrashGroup),
		strings.ToUpper(w.ids[TestCase]): of(TestCase),
		w.ids[TestCase][:20]:             of(TestCase),
		w.ids[TestSuite]:                 of(TestSuite),
		w.ids[Schedule]:                  of(Schedule),
		w.ids[Task]:                      of(Task),
		w.theirs[Task]:                   {},
		w.theirs[Crash]:                  {},
		w.theirs[TestCase]:               {},
		w.theirs[TestSuite]:              {},
		"cashier.RUN":                    of(CrashGroup),
		"the card reader":                of(CrashComment),
		"dwarf/WALLET":                   of(Symbol),
		debugID:                          of(Symbol),
		strings.ToLower(debugID)[:12]:    of(Symbol),
		codeID:                           of(Symbol),
		codeID[:8]:                       of(Symbol),
		"5ca1ab1e-0000-4000":             of(Symbol),
		"5ca1ab1e00004":                  of(Symbol),
		w.ids[TestRun]:                   of(TestRun),
		w.ids[job]:                       of(TestRun),
		w.ids[SuiteRun][:13]:             of(SuiteRun),
		udid:                             of(Device),
		"1a2b3c4d5e":                     of(Device),
		w.theirs[TestRun]:                {},
		w.theirs[job]:                    {},
		w.theirs[SuiteRun]:               {},
		"rival":                          {},
		strings.Repeat("x", 200):         {},
	} {
		require.Equal(t, want, w.find(text), "%q", text)
	}
	for _, kind := range []Kind{CrashGroup, App, Build, Tester, Webhook, Symbol, TesterGroup, Team, Device} {
		require.Contains(t, w.find(w.ids[kind])[kind], w.ids[kind], kind)
		require.NotContains(t, w.find(w.theirs[kind])[kind], w.theirs[kind], kind)
	}
	// An operator belongs to no organization.
	for text, want := range map[string]map[Kind][]string{"Checkout": {}, w.ids[App]: {}, w.ids[Task]: of(Task),
		w.theirs[Task]: {Task: {w.theirs[Task]}}} {
		require.Equal(t, want, ids(w.search(Query{Text: text, Kinds: Kinds(), Limit: 10})))
	}
	require.Equal(t, of(App), ids(w.search(Query{OrganizationID: w.Org.ID, Text: "Checkout", Kinds: []Kind{App}, Limit: 1})))
}

// Details say where the text is, and what was found by its id stands first.
func TestResults(t *testing.T) {
	t.Parallel()
	w := open(t)
	first := func(text string, kind Kind) Result {
		found := w.search(Query{OrganizationID: w.Org.ID, Text: text, Kinds: []Kind{kind}, Limit: 10})
		require.NotEmpty(t, found, text)
		return found[0].Results[0]
	}
	require.Equal(t, "the card 100%_sure was declined", first("DECLINED", CrashGroup).Detail)
	require.Equal(t, "pay.Card.charge · IllegalState", first("Failure", CrashGroup).Detail)
	require.Equal(t, "pay.Cashier.run", first("cashier", CrashGroup).Detail)
	require.Equal(t, "Seen in Checkout, since the card reader", first("reader", CrashComment).Title)
	require.Equal(t, w.ids[CrashGroup], *first("reader", CrashComment).ParentID)
	require.Equal(t, w.ids[TestCase], *first(w.ids[job], TestRun).ParentID)
	require.Equal(t, w.ids[TestSuite], *first(w.ids[SuiteRun], SuiteRun).ParentID)
	require.Equal(t, "4.2 · Contents/DWARF/Wallet", first("wallet", Symbol).Detail)
	require.True(t, strings.HasPrefix(first("phone", Device).Detail, udid+" · "))
	w.Exec(`insert into tester_groups (organization_id, name) values ($1, 'Nobody''s team')`, w.Org.ID)
	require.Empty(t, first("nobody", TesterGroup).Detail)
	require.Equal(t, "Checkout Checkout-7.1 (71)", first("Checkout", Build).Title)
	require.Equal(t, "voucher", first("as a guest", TestCase).Detail)
	require.Equal(t, "Pay with a gift card", first("gift", TestCase).Detail)
	require.Equal(t, `Say "hello" <b>`, first("hello", TestCase).Detail)
	require.NotNil(t, first("4.2", Version).CrashProjectID)
	require.Equal(t, "IllegalState · 4.2 · "+crashUUID, first(crashUUID, Crash).Detail)

	// A group that was merged into another is shown as that, once.
	group := w.one(`insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit, classifier,
		count, first_seen, last_seen, root_id,
		merged_into) select organization_id, crash_project_id, '\x00', 1, 'Checkout too', '', '', 1, now(), now(), id, id from crash_groups
			where id = $1::bigint returning id::text`,
		w.ids[CrashGroup])
	w.Exec(`insert into crash_group_titles values ($1::bigint, $2, 'Checkout too')`, group, w.Org.ID)
	require.Equal(t, []string{w.ids[CrashGroup]}, w.find("checkout")[CrashGroup])
	require.Equal(t, []string{w.ids[CrashGroup]}, w.find("checkout too")[CrashGroup])

	w.Exec(`insert into webhooks (organization_id, name, url, status, secret) select $1, 'number ' || $2 || ' ' || i, 'https://x',
		'active', '' from generate_series(1, 30) i`,
		w.Org.ID, w.ids[Webhook])
	found := w.search(Query{OrganizationID: w.Org.ID, Text: "number", Kinds: []Kind{Webhook}, Limit: 10})
	require.Len(t, found[0].Results, 10)
	require.True(t, found[0].More)
	require.Equal(t, w.ids[Webhook], first(w.ids[Webhook], Webhook).ID)
	found = w.search(Query{OrganizationID: w.Org.ID, Text: "number", Kinds: []Kind{Webhook}, Limit: 30})
	require.Len(t, found[0].Results, 30)
	require.False(t, found[0].More)
}

// The last page ends where the reach ends, and says that no other follows.
func TestPagesEndWithTheReach(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.Exec(`insert into webhooks (organization_id, name, url, status, secret) select $1, 'number ' || i, 'https://x', 'active', ''
		from generate_series(1, 520) i`, w.Org.ID)
	for _, c := range []struct {
		offset, limit, results int
		more                   bool
	}{{450, 30, 30, true}, {480, 30, 20, false}, {450, 50, 50, false}, {490, 10, 10, false}} {
		found := w.search(Query{OrganizationID: w.Org.ID, Text: "number", Kinds: []Kind{Webhook}, Limit: c.limit, Offset: c.offset})
		require.Len(t, found, 1)
		require.Len(t, found[0].Results, c.results)
		require.Equal(t, c.more, found[0].More, "%+v", c)
	}
}

// The text of a case follows its name, tags and newest revision.
func TestTextOfTestCase(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.ids[TestCase]
	change := func(c authoring.CaseChange) {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			_, err := authoring.UpdateCase(ctx, tx, w.Org.Member.Writer, id, c)
			return err
		})
	}
	name, tags := "Renamed", []string{"fresh"}
	change(authoring.CaseChange{Name: &name, Tags: &tags})
	require.Empty(t, w.find("voucher"))
	require.Equal(t, map[Kind][]string{TestCase: {id}}, w.find("fresh"))
	require.Equal(t, map[Kind][]string{TestCase: {id}}, w.find("renamed"))
	w.Exec(`insert into test_revisions (id, case_id, number, intent, steps) values ($1, $2, 7, 'Look at prices',
		'[{"id":"a","tool":{"type":"in_frame","args":{"tool":{"type":"assert","args":{"matcher":{"name":"text","args":{"value":"Sold out"}},
		"selector":{"type":"css","value":"#stock","fingerprint":{"texts":["secret fingerprint"]}}}}}}}]')`, strings.Repeat("a", 24), id)
	require.Empty(t, w.find("newsletter"), "of an older revision")
	require.Empty(t, w.find("secret fingerprint"))
	for _, text := range []string{"sold OUT", "#stock", "prices"} {
		require.Equal(t, map[Kind][]string{TestCase: {id}}, w.find(text), text)
	}
	w.Exec(`delete from test_cases where id = $1`, id)
	require.Zero(t, w.Count(`select count(*) from test_case_texts where case_id = $1`, id))
}

func TestRefusedTexts(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for _, text := range []string{"", "  ", strings.Repeat("x", 201), "a\x00b", "a\nb", "\xff"} {
		_, err := Find(fixture.Context(t), w.DB, Query{OrganizationID: w.Org.ID, Text: text, Kinds: Kinds(), Limit: 10})
		require.Equal(t, "q", fixture.InvalidField(t, err), "%q", text)
	}
	for _, limit := range []int{0, 51, -1} {
		_, err := Find(fixture.Context(t), w.DB, Query{OrganizationID: w.Org.ID, Text: "x", Kinds: Kinds(), Limit: limit})
		require.Equal(t, "limit", fixture.InvalidField(t, err))
	}
	for _, offset := range []int{-1, MaxReach, MaxReach + 9} {
		_, err := Find(fixture.Context(t), w.DB, Query{OrganizationID: w.Org.ID, Text: "x", Kinds: Kinds(), Limit: 10, Offset: offset})
		require.Equal(t, "page", fixture.InvalidField(t, err))
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 5000) + " NEEDLE " + strings.Repeat("y", 5000)
	cut := Excerpt(long, "needle")
	require.Contains(t, cut, "NEEDLE")
	require.LessOrEqual(t, len([]rune(cut)), 302)
	require.True(t, strings.HasPrefix(cut, "…") && strings.HasSuffix(cut, "…"))
	require.Equal(t, "short", Excerpt("short", "x"))
	require.Equal(t, strings.Repeat("x", 300)+"…", Excerpt(strings.Repeat("x", 301), "y"), "where the text is elsewhere, the beginning")
}

// The indexes find what few of many rows have, and a frequent text reads a bounded part.
func TestPlans(t *testing.T) {
	t.Parallel()
	w := open(t)
	const n = 20_000
	project := w.ID(`select id from crash_projects where organization_id = $1`, w.Org.ID)
	for _, statement := range []string{
		`insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit, classifier, count,
			first_seen, last_seen, facets_at)
			select $1, $2, ''::bytea, 1, 'Error number ' || i, 'f', 'E', 1, now(), now(), now() from generate_series(1, $3::int) i`,
		`insert into projects (organization_id, team_id, name, package_name, token, landing_page_mode)
			select $1, (select min(id) from teams where organization_id = $1), 'App number ' || i, 'com.example.n' || i, 'p' || i || $2::text,
				'open' from generate_series(1, $3::int) i`,
		`insert into builds (organization_id, project_id, token, app_name, version, platform, kind, file_id, file_name)
			select $1, (select min(id) from projects where organization_id = $1), 'b' || i || $2::text, 'a', '1.' || i, 'Android', 'apk',
				(select min(id) from files), 'f' || i from generate_series(1, $3::int) i`,
		`insert into test_cases (id, organization_id, team_id, name, run_settings, runnable, creator_uuid, modifier_uuid)
			select lpad(to_hex(i), 24, '0'), $1, (select min(id) from teams where organization_id = $1), 'Case number ' || i || left($2::text,
				0), '{}', false, gen_random_uuid(), gen_random_uuid()
			from generate_series(1, $3::int) i`,
		`with made as (insert into users (uuid, email, username, name) select gen_random_uuid(), 'person' || i || '@example.com',
			'person' || i || left($2::text, 0), 'P' from generate_series(1, $3::int) i returning id)
			insert into memberships (organization_id, user_id, role) select $1, id, 'tester' from made`,
	} {
		w.Exec(statement, w.Org.ID, project, n)
	}
	w.Exec(`insert into crash_group_titles (group_id, organization_id, text) select id, organization_id, title
		from crash_groups on conflict do nothing`)
	w.Exec(`insert into crash_group_messages (group_id, organization_id, message, count, first_seen, last_seen)
		select id, organization_id, 'message of ' || title, 1, now(), now() from crash_groups on conflict do nothing`)
	w.Exec(`insert into test_case_texts (case_id, organization_id, text) select id, organization_id, name
		from test_cases on conflict do nothing`)
	w.Exec(`vacuum analyze crash_groups, crash_group_titles, crash_group_messages, projects, builds, test_cases, test_case_texts,
		memberships, users`)
	for _, c := range []struct {
		kind    Kind
		text    string
		uses    []string
		not     []string // tables that are not read whole
		results int
	}{
		{CrashGroup, "number 12345", []string{"crash_group_titles_text", "crash_group_messages_text"}, []string{"crash_group_titles",
			"crash_group_messages", "crash_groups"}, 1},
		{App, "number 12345", []string{"projects_search"}, []string{"projects"}, 1},
		{App, "example.n12345", []string{"projects_search"}, []string{"projects"}, 1},
		{Build, "1.12345", []string{"builds_search", "builds_token_key", "builds_file_name"}, []string{"builds"}, 1},
		{TestCase, "number 12345", []string{"test_case_texts_text"}, []string{"test_case_texts", "test_cases"}, 1},
		{Tester, "person12345@", []string{"memberships_search"}, []string{"memberships", "users"}, 1},
		{CrashGroup, "number", nil, nil, 10},
		{App, "number", nil, nil, 10},
		{Build, "1", nil, nil, 10},
		{TestCase, "number", nil, nil, 10},
		{Tester, "example", nil, nil, 10},
	} {
		query, args := Statement(w.Org.ID, c.text, c.kind, 11)
		var lines []string
		require.NoError(t, w.DB.SelectContext(fixture.Context(t), &lines, `explain (analyze, costs off, timing off, summary off) `+query,
			args...))
		plan := strings.Join(lines, "\n")
		for _, index := range c.uses {
			require.Contains(t, plan, index, "%s %q", c.kind, c.text)
		}
		for _, table := range c.not {
			require.NotContains(t, plan, "Seq Scan on "+table+" ", "%s %q\n%s", c.kind, c.text, plan)
		}
		found := w.search(Query{OrganizationID: w.Org.ID, Text: c.text, Kinds: []Kind{c.kind}, Limit: 10})
		require.Len(t, found, 1, "%s %q", c.kind, c.text)
		require.Len(t, found[0].Results, c.results, "%s %q", c.kind, c.text)
		require.Equal(t, c.results == 10, found[0].More)
	}
}

// Texts of cases that are older than the table are filled in, in parts that are committed.
func TestTextsOfOlderCases(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	for i := range 3 {
		f.Exec(`insert into test_cases (id, organization_id, team_id, name, run_settings, runnable, creator_uuid, modifier_uuid)
			values ($1, $2, $3, $4, '{}', false, $5, $5)`,
			fmt.Sprintf("%024d", i), f.Org.ID, f.Org.Team.ID, fmt.Sprintf("older %d", i), f.Org.Member.UUID)
	}
	f.Exec(`delete from test_case_texts`)
	step, err := fs.ReadFile(migrations.Files, "00114_search_fill.sql")
	require.NoError(t, err)
	_, fill, _ := strings.Cut(string(step), "-- +goose StatementBegin\n")
	f.Exec(fill)
	f.Exec(fill)
	require.Equal(t, 3, f.Count(`select count(*) from test_case_texts where text like 'older%'`))
}
