package build

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/child"
)

// verifier returns the handler with child processes of this test's program.
func (w *world) verifier() *Verify {
	w.t.Helper()
	pool, err := child.NewPool(child.Config{Children: 1, Log: discard(), Limits: child.Limits{Memory: 256 << 20,
		CPU: time.Minute, Sealed: true}})
	require.NoError(w.t, err)
	w.t.Cleanup(pool.Close)
	return &Verify{DB: w.db, Objects: w.objects, Children: pool, Log: discard()}
}

// pending stores a build whose signature is being verified.
func (w *world) pending(kind artifact.Kind, content []byte) int64 {
	w.t.Helper()
	file, _ := w.newFile(string(content))
	id := w.newBuild(w.project, file)
	w.exec(`update builds set kind = $2, verification = 'pending', signer = '{"scheme":"v2","sha256":"ab","verification":"pending"}'
		where id = $1`, id, kind)
	return id
}

func (w *world) build(id int64) *distribution.Build {
	w.t.Helper()
	b, err := distribution.BuildByID(w.t.Context(), w.db, w.org, 0, id)
	require.NoError(w.t, err)
	return b
}

func (w *world) verify(v *Verify, id int64) *distribution.Build {
	w.t.Helper()
	task := w.insert(tasks.NewBuildVerify(w.org, "", id))
	require.NoError(w.t, v.Handle(w.t.Context(), w.claim(tasks.BuildVerify, task)))
	b := w.build(id)
	require.Equal(w.t, b.Verification, result[VerifyResult](w, task).Verdict)
	return b
}

// realAPK is a package as its makers signed it.
func realAPK(t *testing.T) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(servicetest.NodeModules(t, "io.appium.settings"), "io.appium.settings/apks/settings_apk-debug.apk"))
	require.NoError(t, err)
	return raw
}

func TestVerifyBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.verifier()
	genuine := realAPK(t)

	b := w.verify(v, w.pending(artifact.APK, genuine))
	require.Equal(t, artifact.Verified, b.Verification)
	require.True(t, *b.Signer.Verified)
	require.Equal(t, "v2", b.Signer.Scheme)
	require.Len(t, b.Signer.SHA256, 64, "of the certificate that was verified, whatever the upload described")
	require.NotEmpty(t, b.Signer.Subject)
	require.Equal(t, distribution.Enabled, b.State)

	// One bit of its code, as a repackaged build would have it, and a copy of that.
	changed := bytes.Clone(genuine)
	changed[len(changed)/2] ^= 1
	id := w.pending(artifact.APK, changed)
	copied := w.newBuild(w.newProject(), w.build(id).File.ID)
	b = w.verify(v, id)
	require.Equal(t, artifact.Failed, b.Verification)
	require.False(t, *b.Signer.Verified)
	require.True(t, b.Signer.Tampered)
	require.NotEmpty(t, b.Signer.FailedScheme)
	require.Equal(t, distribution.Invalid, b.State)
	require.Contains(t, b.StateReason, "changed after it was signed")
	require.Equal(t, distribution.Invalid, w.build(copied).State)
	require.EqualValues(t, 2, w.number(`select count(*) from audit_events where action = 'build.invalid'`))

	b = w.verify(v, w.pending(artifact.APK, stripped(t, genuine)))
	require.Equal(t, artifact.Unsigned, b.Verification)
	require.Empty(t, b.Signer.SHA256, "nobody signed it")
	require.Equal(t, distribution.Enabled, b.State)
	require.Contains(t, b.Notes(time.Now(), true), "No signature was found in this package. Android refuses packages that are not signed.")

	b = w.verify(v, w.pending(artifact.APK, []byte("no archive")))
	require.Equal(t, artifact.Failed, b.Verification)
	require.Equal(t, distribution.Enabled, b.State)
}

// stripped is a package without its signatures.
func stripped(t *testing.T, raw []byte) []byte {
	from, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range from.File {
		if f.Name == "AndroidManifest.xml" || f.Name == "classes.dex" {
			require.NoError(t, w.Copy(f))
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// What cannot be read is tried again, and in the end the build waits no longer.
func TestVerifyWithoutTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := &Verify{DB: w.db, Objects: w.objects, Children: brokenChildren{}, Log: discard()}
	id := w.pending(artifact.APK, []byte("any"))
	task := w.insert(tasks.NewBuildVerify(w.org, "", id))
	claim := w.claim(tasks.BuildVerify, task)
	require.ErrorContains(t, v.Handle(t.Context(), claim), "the store is away")
	require.Equal(t, artifact.Pending, w.build(id).Verification)
	_, err := w.ledger.Release(t.Context(), []ledger.Token{{ID: task, Attempt: 1}}, 0)
	require.NoError(t, err)
	w.exec(`update tasks set attempt = $2 where id = $1`, task, tasks.BuildVerify.MaxAttempts-1)
	require.NoError(t, v.Handle(t.Context(), w.claim(tasks.BuildVerify, task)))
	b := w.build(id)
	require.Equal(t, artifact.Unchecked, b.Verification)
	require.Nil(t, b.Signer.Verified)
}

// brokenChildren is a pool whose files cannot be read.
type brokenChildren struct{}

func (brokenChildren) Run(context.Context, child.Call) error { return errors.New("the store is away") }

// Nobody is mailed about a build before its signature is verified, and about a
// tampered one nobody ever.
func TestNotifyAwaitsVerification(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.testers(3)
	changed := realAPK(t)
	changed[len(changed)/2] ^= 1
	id := w.pending(artifact.APK, changed)
	task := w.insert(tasks.NewBuildNotify(w.org, "", id))
	var wait *tasks.SnoozeError
	require.ErrorAs(t, w.notifier().Handle(t.Context(), w.claim(tasks.BuildNotify, task)), &wait)
	require.Zero(t, w.number(`select count(*) from mails`))
	w.verify(w.verifier(), id)
	_, err := w.ledger.Release(t.Context(), []ledger.Token{{ID: task, Attempt: 1}}, 0)
	require.NoError(t, err)
	require.NoError(t, w.notifier().Handle(t.Context(), w.claim(tasks.BuildNotify, task)))
	require.Contains(t, result[NotifyResult](w, task).Reason, "changed after it was signed")
	require.Zero(t, w.number(`select count(*) from mails`))
}

// Builds from before are queued some at a time, and none twice.
func TestUnverifiedStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("x")
	old := w.newBuild(w.project, file)
	w.exec(`update builds set created_at = now() - interval '1 year' where id = $1`, old)
	w.newBuild(w.project, file) // of now: its own task verifies it
	for _, want := range []int64{1, 0} {
		n, err := Unverified(w.db).Run(t.Context(), 1000)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	require.Equal(t, old, w.number(`select (payload ->> 'build_id')::bigint from tasks where kind = 'build:verify'`))
}
