package received_test

import (
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/received"
)

func TestAcceptResendAndConflict(t *testing.T) {
	t.Parallel()
	r := crashtest.Open(t)
	id := uuid.New()
	first, made := r.Accept(r.Incoming(id, "one"))
	require.Equal(t, received.First, first[0].Outcome)
	require.Len(t, made, 1)

	resent, made := r.Accept(r.Incoming(id, "one"))
	require.Equal(t, received.Receipt{ID: first[0].ID, Outcome: received.Resent}, resent[0])
	require.Empty(t, made, "nothing to process")

	other, _ := r.Accept(r.Incoming(id, "two"), r.Incoming(uuid.New(), "three"))
	require.Equal(t, received.Conflict, other[0].Outcome)
	require.Equal(t, received.First, other[1].Outcome)
	batch, entry := received.SplitID(other[0].ID)
	batches, err := r.Store.Batches(t.Context(), []uuid.UUID{batch})
	require.NoError(t, err)
	require.Equal(t, first[0].ID, *batches[0].Entries[entry].ConflictOf)
	doc, err := batches[0].Document(entry)
	require.NoError(t, err)
	require.Equal(t, "two", string(doc))

	again, made := r.Accept(r.Incoming(id, "two"))
	require.Equal(t, received.Receipt{ID: other[0].ID, Outcome: received.Resent}, again[0])
	require.Empty(t, made)
	require.EqualValues(t, 3, r.Count(`select count(*) from crash_uuids`))
	require.EqualValues(t, 2, r.Count(`select count(*) from crash_batches`))

	// A uuid belongs to its project.
	elsewhere := r.Incoming(id, "one")
	elsewhere.ProjectID = r.Org.CrashProject("other")
	receipts, _ := r.Accept(elsewhere)
	require.Equal(t, received.First, receipts[0].Outcome)
}

func TestAcceptOneUUIDTwiceInACommit(t *testing.T) {
	t.Parallel()
	r := crashtest.Open(t)
	id := uuid.New()
	got, made := r.Accept(r.Incoming(id, "same"), r.Incoming(uuid.New(), "x"), r.Incoming(id, "same"),
		r.Incoming(id, "other"), r.Incoming(id, "other"))
	require.Len(t, made, 1)
	outcomes := map[received.Outcome]int{}
	for _, r := range got {
		outcomes[r.Outcome]++
	}
	require.Equal(t, map[received.Outcome]int{received.First: 2, received.Resent: 2, received.Conflict: 1}, outcomes)
	require.Equal(t, received.First, got[1].Outcome)
	for _, pair := range [][2]int{{0, 2}, {3, 4}} {
		require.Equal(t, got[pair[0]].ID, got[pair[1]].ID, "a resend has the id of what it repeats")
	}

	// Every receipt leads to its own bytes.
	for i, want := range map[int]string{0: "same", 1: "x", 3: "other"} {
		doc, err := r.Store.Document(t.Context(), r.Org.ID, got[i].ID)
		require.NoError(t, err)
		require.Equal(t, want, string(doc))
	}
}

func TestAcceptTwoOrganizations(t *testing.T) {
	t.Parallel()
	r := crashtest.Open(t)
	foreign := r.Incoming(uuid.New(), "theirs")
	foreign.OrganizationID, foreign.ProjectID = r.Rival.ID, r.RivalProject
	got, made := r.Accept(r.Incoming(uuid.New(), "a"), foreign, r.Incoming(uuid.New(), "b"))
	require.Len(t, made, 2)
	require.EqualValues(t, 1, r.Count(`select count(*) from tasks where organization_id = $1`, r.Org.ID))
	require.EqualValues(t, 1, r.Count(`select count(*) from tasks where organization_id = $1`, r.Rival.ID))
	for i, org := range []int64{r.Org.ID, r.Rival.ID, r.Org.ID} {
		_, err := r.Store.Document(t.Context(), org, got[i].ID)
		require.NoError(t, err)
		_, err = r.Store.Document(t.Context(), r.Org.ID+r.Rival.ID-org, got[i].ID)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
}

func TestAcceptedAfterTheFact(t *testing.T) {
	t.Parallel()
	r := crashtest.Open(t)
	in := []received.Incoming{r.Incoming(uuid.New(), "a"), r.Incoming(uuid.New(), "b")}
	lost := []received.Receipt{{ID: uuid.New()}, {ID: uuid.New()}}
	there, err := r.Store.Accepted(t.Context(), in, lost)
	require.NoError(t, err)
	require.False(t, there)

	receipts, _ := r.Accept(in...)
	there, err = r.Store.Accepted(t.Context(), in, receipts)
	require.NoError(t, err)
	require.True(t, there)
	there, err = r.Store.Accepted(t.Context(), in, lost)
	require.NoError(t, err)
	require.False(t, there, "another commit stored these uuids")

	resent, _ := r.Accept(in...)
	there, err = r.Store.Accepted(t.Context(), in, resent)
	require.NoError(t, err)
	require.True(t, there)
}

func TestAcceptAttachments(t *testing.T) {
	t.Parallel()
	r := crashtest.Open(t)
	in := r.Incoming(uuid.New(), "a")
	in.Attachments = []received.Attachment{{ID: uuid.New(), Name: "log.txt", ContentType: "text/plain", Size: 3, ObjectKey: "attachments/x"}}
	got, _ := r.Accept(in)
	list, err := received.Attachments(t.Context(), r.DB, r.Org.ID, got[0].ID)
	require.NoError(t, err)
	require.Len(t, list, 1)
	list, err = received.Attachments(t.Context(), r.DB, r.Rival.ID, got[0].ID)
	require.NoError(t, err)
	require.Empty(t, list)

	unnamed, err := received.UnnamedObjects(t.Context(), r.DB, []string{"attachments/x", "attachments/y"})
	require.NoError(t, err)
	require.Equal(t, []string{"attachments/y"}, unnamed)

	in.Attachments[0].ID, in.Attachments[0].ObjectKey = uuid.New(), "attachments/z"
	r.Accept(in)
	require.EqualValues(t, 1, r.Count(`select count(*) from crash_attachments`), "a resend stores nothing")
}

func TestTaskCarriesTheRequestOfItsFirstReport(t *testing.T) {
	t.Parallel()
	r := crashtest.Open(t)
	first, second := r.Incoming(uuid.New(), "one"), r.Incoming(uuid.New(), "two")
	first.RequestID, second.RequestID = "request-1", "request-2"
	_, made := r.Accept(first, second)
	require.Len(t, made, 1)
	require.Equal(t, "request-1", made[0].RequestID)
}

// What is too large to be inflated again is refused before anything is written.
func TestAcceptRefusesWhatCannotBeInflated(t *testing.T) {
	t.Parallel()
	r := crashtest.Open(t)
	document := make([]byte, 1<<20+1)
	in := make([]received.Incoming, received.MaxBatch)
	for i := range in {
		in[i] = received.Incoming{OrganizationID: r.Org.ID, ProjectID: r.Project, UUID: uuid.New(), Document: document, Format: "json"}
	}
	_, _, err := r.Store.Accept(t.Context(), in, crashtest.Task)
	var invalid *storage.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.Zero(t, r.Count(`select count(*) from crash_uuids`))
}

// A commit of resends only is recognised by the statement that would have stored it.
func TestAcceptResendsOnly(t *testing.T) {
	t.Parallel()
	r := crashtest.Open(t)
	in := []received.Incoming{r.Incoming(uuid.New(), "a"), r.Incoming(uuid.New(), "b")}
	first, _ := r.Accept(in...)
	again, made := r.Accept(in[1], in[0])
	require.Equal(t, []received.Receipt{{ID: first[1].ID, Outcome: received.Resent}, {ID: first[0].ID, Outcome: received.Resent}}, again)
	require.Empty(t, made)
	require.EqualValues(t, 1, r.Count(`select count(*) from tasks`))
}

// Commits that store one uuid at the same moment: one stores it, the others find it.
func TestAcceptOneUUIDInCommitsAtOnce(t *testing.T) {
	t.Parallel()
	r := crashtest.Open(t)
	for range 5 {
		in := r.Incoming(uuid.New(), "same")
		outcomes := make([]received.Outcome, 8)
		var wg sync.WaitGroup
		for i := range outcomes {
			wg.Go(func() {
				receipts, _, err := r.Store.Accept(t.Context(), []received.Incoming{r.Incoming(uuid.New(), "other"), in}, crashtest.Task)
				if assert.NoError(t, err) {
					outcomes[i] = receipts[1].Outcome
				}
			})
		}
		wg.Wait()
		counts := map[received.Outcome]int{}
		for _, o := range outcomes {
			counts[o]++
		}
		require.Equal(t, map[received.Outcome]int{received.First: 1, received.Resent: len(outcomes) - 1}, counts)
	}
	require.EqualValues(t, 5*9, r.Count(`select count(*) from crash_uuids`))
}
