package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Subject is what a task is about, for people: a build, a crash, a run.
type Subject struct {
	// Type is build, project, crash, crash_group, crash_purge, symbol, mail, mailing,
	// test_run, suite_run, generation or webhook.
	Type string `json:"type"`
	ID   string `json:"id"`   // as in the path
	Name string `json:"name"` // "" when it is gone
	Path string `json:"path"` // of the request that reads it; "" where there is none
}

// subjectIDs are the members of payloads that name a subject.
type subjectIDs struct {
	BatchID      uuid.UUID `json:"batch_id"`
	Entries      []int     `json:"entries"`
	Key          string    `json:"key"`
	TargetKeyID  int64     `json:"target_key_id"`
	SymbolID     int64     `json:"symbol_id"`
	BuildID      int64     `json:"build_id"`
	ProjectID    int64     `json:"project_id"`
	MailID       uuid.UUID `json:"mail_id"`
	MailingID    int64     `json:"mailing_id"`
	JobID        uuid.UUID `json:"job_id"`
	SuiteRunID   uuid.UUID `json:"suite_run_id"`
	GenerationID uuid.UUID `json:"generation_id"`
	WebhookID    int64     `json:"webhook_id"`
}

// subjectQueries read what is needed of each type, by the ids of payloads: each returns
// the id of the payload, the subject's own id, its name and its path.
func subjectQueries() map[string]string {
	return map[string]string{
		"build": `select id::text as ref, id::text,
			concat_ws(' ', nullif(app_name, ''), nullif(version, ''), '(' || nullif(version_code, '') || ')') as name,
			'/api/v3/builds/' || id as path from builds where id = any($1::bigint[])`,
		"project": `select id::text as ref, id::text, name, '/api/v3/projects/' || id as path from projects where id = any($1::bigint[])`,
		// A report that is not processed yet has no group.
		"crash": `select b.ref, b.ref as id, coalesce(g.title, 'crash report') as name, '/api/v3/crashes/' || b.ref as path
			from unnest($1::text[]) as b(ref)
			left join crashes c on c.id = b.ref::uuid
			left join crash_group_keys k on k.id = c.key_id
			left join crash_groups g on g.id = k.group_id`,
		"crash_group": `select k.id::text as ref, g.id::text, g.title as name, '/api/v3/crash-groups/' || g.id as path
			from crash_group_keys k join crash_groups g on g.id = k.group_id where k.id = any($1::bigint[])`,
		"symbol": `select id::text as ref, id::text, name, '/api/v3/symbols/' || id as path from symbols where id = any($1::bigint[])`,
		"mail":   `select id::text as ref, id::text, subject as name, '' as path from mails where id = any($1::uuid[])`,
		"mailing": `select m.id::text as ref, m.id::text, case when m.build_id is null then 'welcome'
				else concat_ws(' ', 'invitation to', b.app_name, nullif(b.version, '')) end || ' for ' || cardinality(m.user_ids) || ' testers' as name,
			coalesce('/api/v3/builds/' || m.build_id, '') as path
			from tester_mailings m left join builds b on b.id = m.build_id where m.id = any($1::bigint[])`,
		"test_run": `select j.id::text as ref, r.id::text, r.case_name as name,
			'/v1/ai-authoring/testcases/' || r.case_id || '/runs/' || r.id as path
			from test_jobs j join test_runs r on r.id = j.run_id where j.id = any($1::uuid[])`,
		"suite_run": `select id::text as ref, id::text, suite_name as name, '/v1/ai-authoring/testsuites/' || suite_id || '/runs/' || id as path
			from suite_runs where id = any($1::uuid[])`,
		"generation": `select id::text as ref, id::text, name, '/v1/ai-authoring/testcases/generate/' || id as path
			from test_generations where id = any($1::uuid[])`,
		"webhook": `select id::text as ref, id::text, name, '/api/v3/webhooks/' || id as path from webhooks where id = any($1::bigint[])`,
	}
}

// reference returns the type of a task's subject, and the id by which it is found.
func (t *Task) reference() (kind, ref string, ok bool) {
	var ids subjectIDs
	if err := json.Unmarshal(t.Payload, &ids); err != nil {
		return "", "", false
	}
	for _, n := range []struct {
		kind string
		id   int64
	}{{"crash_group", ids.TargetKeyID}, {"symbol", ids.SymbolID}, {"build", ids.BuildID}, {"mailing", ids.MailingID},
		{"webhook", ids.WebhookID}} {
		if n.id != 0 {
			return n.kind, strconv.FormatInt(n.id, 10), true
		}
	}
	for _, u := range []struct {
		kind string
		id   uuid.UUID
	}{{"mail", ids.MailID}, {"test_run", ids.JobID}, {"suite_run", ids.SuiteRunID}, {"generation", ids.GenerationID},
		{"crash", crashOf(ids)}} {
		if u.id != uuid.Nil {
			return u.kind, u.id.String(), true
		}
	}
	switch {
	case ids.Key != "":
		// Not the value: it may be what is to be forgotten.
		return "crash_purge", ids.Key, true
	case ids.ProjectID != 0:
		return "project", strconv.FormatInt(ids.ProjectID, 10), true
	}
	return "", "", false
}

// crashOf is the first report that a payload means. The id of report n is that of its
// batch with n in its last byte.
func crashOf(ids subjectIDs) uuid.UUID {
	id := ids.BatchID
	if id == uuid.Nil {
		return id
	}
	id[15] = 0
	if len(ids.Entries) > 0 {
		id[15] = byte(ids.Entries[0])
	}
	return id
}

// Subjects returns what tasks are about, by the task's id; maintenance is about nothing.
func (s *Store) Subjects(ctx context.Context, list []Task) (map[uuid.UUID]Subject, error) {
	of := map[uuid.UUID]Subject{}
	wanted := map[string][]string{} // references by type
	for i := range list {
		kind, ref, ok := list[i].reference()
		if !ok {
			continue
		}
		of[list[i].ID] = Subject{Type: kind, ID: ref}
		wanted[kind] = append(wanted[kind], ref)
	}
	type found struct{ Ref, ID, Name, Path string }
	named := map[[2]string]found{}
	queries := subjectQueries()
	for kind, refs := range wanted {
		query, ok := queries[kind]
		if !ok {
			continue // its id says everything
		}
		var rows []found
		if err := s.db.SelectContext(ctx, &rows, query, pq.Array(refs)); err != nil {
			return nil, storage.Wrap(err, fmt.Sprintf("read subjects of type %s", kind))
		}
		for _, row := range rows {
			named[[2]string{kind, row.Ref}] = row
		}
	}
	for id, subject := range of {
		if row, ok := named[[2]string{subject.Type, subject.ID}]; ok {
			of[id] = Subject{Type: subject.Type, ID: row.ID, Name: row.Name, Path: row.Path}
		} else if subject.Type == "crash_purge" {
			of[id] = Subject{Type: subject.Type, ID: "", Name: subject.ID}
		}
	}
	return of, nil
}
