package build

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

func (w *world) markDeleted(build int64) {
	w.exec(`update builds set deleted_at = now() where id = $1`, build)
	w.exec(`update projects set build_count = build_count - 1 where id = (select project_id from builds where id = $1)`, build)
}

// sessions notes what was to be removed.
type sessions struct{ builds, projects []int64 }

func (s *sessions) RemoveOfBuilds(_ context.Context, _ *worker.Claim, ids ...int64) error {
	s.builds = append(s.builds, ids...)
	return nil
}

func (s *sessions) RemoveOfProject(_ context.Context, _ *worker.Claim, id int64) error {
	s.projects = append(s.projects, id)
	return nil
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, key := w.newFile("apk")
	first, second := w.newBuild(w.project, file), w.newBuild(w.project, file)
	other, otherKey := w.newFile("other")
	third := w.newBuild(w.project, other)
	c := &crashes{}
	gone := &sessions{}
	d := &Delete{Crashes: c, Sessions: gone, Objects: w.objects, Log: discard()}

	w.markDeleted(first)
	id := w.insert(tasks.NewBuildDelete(w.org, "", first))
	claim := w.claim(tasks.BuildDelete, id)
	require.NoError(t, d.Handle(t.Context(), claim))
	require.Equal(t, DeleteResult{}, result[DeleteResult](w, id))
	require.True(t, w.stored(key), "the copy names it")
	require.ErrorIs(t, d.Handle(t.Context(), claim), storage.ErrStale)

	w.markDeleted(second)
	id = w.insert(tasks.NewBuildDelete(w.org, "", second))
	require.NoError(t, d.Handle(t.Context(), w.claim(tasks.BuildDelete, id)))
	require.Equal(t, DeleteResult{Objects: 1}, result[DeleteResult](w, id))
	require.False(t, w.stored(key))
	require.True(t, w.stored(otherKey))
	require.EqualValues(t, 1, w.number(`select count(*) from builds`))
	require.EqualValues(t, third, w.number(`select id from builds`))
	require.EqualValues(t, 1, w.number(`select count(*) from files`))
	require.Equal(t, []int64{first, first, second}, c.builds)
	require.Equal(t, []int64{first, second}, gone.builds)

	// A repetition does nothing.
	id = w.insert(tasks.NewBuildDelete(w.org, "", second))
	require.NoError(t, d.Handle(t.Context(), w.claim(tasks.BuildDelete, id)))
	require.Equal(t, DeleteResult{}, result[DeleteResult](w, id))
}

// The build's row is the last thing to go: while its crashes cannot be removed it
// stays, and so does its file.
func TestDeleteWaitsForTheCrashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, key := w.newFile("apk")
	build := w.newBuild(w.project, file)
	w.markDeleted(build)
	c := &crashes{fail: map[int64]error{build: errors.New("not now")}}
	d := &Delete{Crashes: c, Sessions: &sessions{}, Objects: w.objects, Log: discard()}
	id := w.insert(tasks.NewBuildDelete(w.org, "", build))
	first := w.claim(tasks.BuildDelete, id)
	require.ErrorContains(t, d.Handle(t.Context(), first), "not now")
	require.True(t, w.stored(key))
	require.EqualValues(t, 1, w.number(`select count(*) from builds`))

	c.fail = nil
	second := w.reclaim(tasks.BuildDelete, id)
	require.ErrorIs(t, d.Handle(t.Context(), first), storage.ErrStale)
	require.True(t, w.stored(key), "a lost claim deletes nothing")
	require.NoError(t, d.Handle(t.Context(), second))
	require.False(t, w.stored(key))
}

// Bytes that cannot be deleted are left to the sweep.
func TestDeleteWithoutObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	w.markDeleted(build)
	require.NoError(t, w.objects.Close())
	id := w.insert(tasks.NewBuildDelete(w.org, "", build))
	d := &Delete{Crashes: &crashes{}, Sessions: &sessions{}, Objects: w.objects, Log: discard()}
	require.NoError(t, d.Handle(t.Context(), w.claim(tasks.BuildDelete, id)))
	require.Equal(t, DeleteResult{Objects: 1}, result[DeleteResult](w, id))
}

func TestDeleteProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.newProject()
	shared, sharedKey := w.newFile("shared")
	kept := w.newBuild(other, shared)
	var keys []string
	var builds []int64
	for range deleteStep + 3 {
		file, key := w.newFile("apk")
		keys = append(keys, key)
		builds = append(builds, w.newBuild(w.project, file))
	}
	w.newBuild(w.project, shared)
	w.exec(`update builds set deleted_at = now() where project_id = $1`, w.project)
	w.exec(`update projects set deleted_at = now(), build_count = 0, latest_build_id = null where id = $1`, w.project)
	c := &crashes{fail: map[int64]error{builds[deleteStep+1]: errors.New("not now")}}
	gone := &sessions{}
	d := &DeleteProject{DB: w.db, Crashes: c, Sessions: gone, Objects: w.objects, Log: discard()}
	id := w.insert(tasks.NewProjectDelete(w.org, "", w.project))
	first := w.claim(tasks.ProjectDelete, id)
	require.ErrorContains(t, d.Handle(t.Context(), first), "not now", "after the first step")
	require.EqualValues(t, 4, w.number(`select count(*) from builds where project_id = $1`, w.project))

	c.fail = nil
	second := w.reclaim(tasks.ProjectDelete, id)
	require.ErrorIs(t, d.Handle(t.Context(), first), storage.ErrStale)
	require.EqualValues(t, 4, w.number(`select count(*) from builds where project_id = $1`, w.project))
	require.NoError(t, d.Handle(t.Context(), second))
	require.Equal(t, DeleteResult{Builds: deleteStep + 4, Objects: deleteStep + 3}, result[DeleteResult](w, id))
	require.EqualValues(t, other, w.number(`select id from projects`))
	require.Equal(t, []int64{w.project}, gone.projects)
	require.Subset(t, gone.builds, builds)
	require.EqualValues(t, kept, w.number(`select id from builds`))
	for _, key := range keys {
		require.False(t, w.stored(key))
	}
	require.True(t, w.stored(sharedKey))

	id = w.insert(tasks.NewProjectDelete(w.org, "", w.project))
	require.NoError(t, d.Handle(t.Context(), w.claim(tasks.ProjectDelete, id)))
	require.Equal(t, DeleteResult{}, result[DeleteResult](w, id))
}

// Two projects that have copies of the same files, in opposite order, are deleted
// at the same time.
func TestDeleteProjectsConcurrently(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 5 {
		one, two := w.newProject(), w.newProject()
		var files []int64
		var keys []string
		for range 8 {
			file, key := w.newFile("apk")
			files, keys = append(files, file), append(keys, key)
			w.newBuild(one, file)
		}
		slices.Reverse(files)
		for _, file := range files {
			w.newBuild(two, file)
		}
		errs, jobs := make([]error, 2), make([]*worker.Claim, 2)
		for i, project := range []int64{one, two} {
			w.exec(`update builds set deleted_at = now() where project_id = $1`, project)
			w.exec(`update projects set deleted_at = now(), build_count = 0, latest_build_id = null where id = $1`, project)
			jobs[i] = w.claim(tasks.ProjectDelete, w.insert(tasks.NewProjectDelete(w.org, "", project)))
		}
		var wg sync.WaitGroup
		for i, claim := range jobs {
			wg.Go(func() {
				d := &DeleteProject{DB: w.db, Crashes: &crashes{}, Sessions: &sessions{}, Objects: w.objects, Log: discard()}
				errs[i] = d.Handle(t.Context(), claim)
			})
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		require.Zero(t, w.number(`select count(*) from builds`))
		require.Zero(t, w.number(`select count(*) from files`))
		for _, key := range keys {
			require.False(t, w.stored(key))
		}
	}
}

func TestDeleteRefusesNonsense(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tt := range []struct {
		kind    tasks.Kind
		task    *ledger.NewTask
		handler worker.Handler
	}{
		{tasks.BuildDelete, tasks.NewBuildDelete(w.org, "", 0), &Delete{Crashes: &crashes{}, Sessions: &sessions{},
			Objects: w.objects, Log: discard()}},
		{tasks.ProjectDelete, tasks.NewProjectDelete(w.org, "", 0), &DeleteProject{DB: w.db, Crashes: &crashes{},
			Sessions: &sessions{}, Objects: w.objects, Log: discard()}},
	} {
		require.True(t, tasks.IsPermanent(tt.handler.Handle(t.Context(), w.claim(tt.kind, w.insert(tt.task)))), tt.kind.Name)
	}
}
