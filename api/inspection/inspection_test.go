package inspection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/artifacttest"
	"github.com/slipway-qa/slipway/tasks/child"
)

func TestMain(m *testing.M) {
	if child.IsChild(os.Args[1:]) {
		os.Exit(child.Serve(os.Args[1:], Operations(), deadly()))
	}
	os.Exit(m.Run())
}

// deadly is an operation whose reader dies as the file's name says, such as
// "memory@The icon.apk". It reads all other files, but for one that is called nothing.apk.
func deadly() map[string]child.Operation {
	proper := Operations()[readPackage]
	planned := child.TypedFile(readPlanned)
	return map[string]child.Operation{readPackage: func(ctx context.Context, f *child.File, doc json.RawMessage) (any, error) {
		if bytes.Contains(doc, []byte("@")) || bytes.Contains(doc, []byte("nothing.apk")) {
			return planned(ctx, f, doc)
		}
		return proper(ctx, f, doc)
	}}
}

func readPlanned(_ context.Context, f *child.File, a args) (*artifact.Package, error) {
	ways := map[string]string{} // by part
	for one := range strings.SplitSeq(strings.TrimSuffix(a.Name, ".apk"), ",") {
		how, where, _ := strings.Cut(one, "@")
		ways[where] = how
	}
	die(ways["identity"])
	p := &artifact.Package{Kind: artifact.APK, Platform: artifact.Android, Name: "Demo", PackageName: "com.example.demo"}
	in := a.input(f)
	for _, part := range []artifact.Part{artifact.PartResources, artifact.PartSigner, artifact.PartIcon} {
		if !in.Begin(part, p) {
			continue
		}
		die(ways[string(part)])
		if part == artifact.PartIcon {
			p.Icon = []byte("icon")
		}
		if part == artifact.PartSigner {
			p.Signer = &artifact.Signer{Scheme: "v2"}
		}
	}
	return p, nil
}

// die ends the process, or does what ends it.
func die(how string) {
	switch how {
	case "exit":
		os.Exit(1)
	case "cpu":
		for i := 0; ; i++ {
			runtime.KeepAlive(i)
		}
	case "memory":
		var all [][]byte
		for {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
			runtime.KeepAlive(all)
		}
	}
}

func newInspector(t testing.TB, readers int) *Inspector {
	t.Helper()
	i, err := New(Config{Readers: readers, Timeout: 2 * time.Minute, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(i.Close)
	return i
}

func fileOf(name string, data []byte) File {
	return File{Organization: 1, Key: "k", Input: artifact.Input{Reader: bytes.NewReader(data), Size: int64(len(data)),
		Name: name, Vendor: "slipway"}, Generic: true}
}

// Each of the hostile files is read within the limits of its child: its identity is known,
// and what cannot be read is among its warnings.
func TestCorpus(t *testing.T) {
	t.Parallel()
	i := newInspector(t, 2)
	warnings := map[string]string{
		"signers.apk":      "The signature cannot be read: the certificate is longer than 64 KiB",
		"certificates.apk": "The signature cannot be read: the certificate cannot be read",
		"vector.apk":       "The icon cannot be read: icon: the drawing is too complex",
		"chunks.apk":       "The resources cannot be read: the resource table has too many parts",
		"set.xapk":         "Only the description of the archive was read: the base APK cannot be read: it is compressed and larger than 36 MiB",
		"profile.ipa":      "The provisioning profile cannot be read: the property list is too deep or has too many elements",
	}
	for _, h := range artifacttest.Corpus() {
		var invalid *artifact.InvalidError
		if h.Symbols {
			_, err := i.Symbols(t.Context(), fileOf(h.File, h.Data()))
			require.ErrorAs(t, err, &invalid, h.Name)
			continue
		}
		p, err := i.Package(t.Context(), fileOf(h.File, h.Data()))
		if !h.Accepted {
			require.ErrorAs(t, err, &invalid, h.Name)
			continue
		}
		require.NoError(t, err, h.Name)
		require.Equal(t, artifacttest.PackageName, p.PackageName)
		if want := warnings[h.File]; want != "" {
			require.Contains(t, p.Warnings, want)
			delete(warnings, h.File)
		}
	}
	require.Empty(t, warnings)
	// What a child reads in its second of a processor differs from machine to machine.
	require.LessOrEqual(t, i.children.Started(), 8, "few of them cost a child")
}

// The death of a reader costs the part that it read; before the identity is known, the file.
func TestDeaths(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the limits are those of Linux")
	}
	i := newInspector(t, 2)
	const (
		memory = "reading this file takes more than 64 MiB of memory"
		first  = "reading this file takes more than 1.1s of processor time"
		second = "reading this file takes more than 400ms of processor time"
	)
	for name, want := range map[string]struct {
		warnings     []string
		signer, icon bool
		invalid      string
	}{
		"nothing":              {nil, true, true, ""},
		"memory@The icon":      {[]string{"The icon cannot be read: " + memory}, true, false, ""},
		"cpu@The icon":         {[]string{"The icon cannot be read: " + first}, true, false, ""},
		"memory@The signature": {[]string{"The signature cannot be read: " + memory}, false, true, ""},
		"memory@The resources": {[]string{"The resources cannot be read: " + memory}, true, true, ""},
		"exit@The icon":        {[]string{"The icon cannot be read: the file cannot be read: its decoder failed"}, true, false, ""},
		"cpu@The signature,cpu@The icon": {[]string{"The signature cannot be read: " + first,
			"The icon cannot be read: " + second}, false, false, ""},
		"memory@The resources,memory@The signature": {[]string{"The resources cannot be read: " + memory,
			"The signature cannot be read: " + memory,
			"The icon cannot be read: reading this file takes too long"}, false, false, ""},
		"memory@identity": {invalid: memory},
		"cpu@identity":    {invalid: first},
		"exit@identity":   {invalid: "the file cannot be read: its decoder failed"},
	} {
		p, err := i.Package(t.Context(), fileOf(name+".apk", []byte("PK")))
		if want.invalid != "" {
			var invalid *artifact.InvalidError
			require.ErrorAs(t, err, &invalid, name)
			require.Equal(t, want.invalid, invalid.Reason, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, "com.example.demo", p.PackageName)
		require.Equal(t, want.warnings, p.Warnings, name)
		require.Equal(t, want.signer, p.Signer != nil, name)
		require.Equal(t, want.icon, p.Icon != nil, name)
	}
	require.Zero(t, i.room.Stats(10).Held, "no place stays taken")
}

var errReleased = errors.New("released")

// blocked is a store that does not respond before it is released.
type blocked struct{ release chan struct{} }

func (b blocked) ReadAt(p []byte, _ int64) (int, error) {
	<-b.release
	return 0, errReleased
}

// An organization whose files hang does not keep another's from being read, and what hangs
// leaves no place taken when its request has ended.
func TestOrganizations(t *testing.T) {
	t.Parallel()
	i := newInspector(t, 2)
	store := blocked{make(chan struct{})}
	defer close(store.release)
	var hanging sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range 6 {
		hanging.Go(func() {
			f := fileOf("hang.zip", make([]byte, 100))
			f.Reader = store
			_, err := i.Symbols(ctx, f)
			require.ErrorIs(t, err, context.Canceled)
		})
	}
	require.Eventually(t, func() bool {
		s := i.room.Stats(10)
		return s.Held == 2 && s.Waiting == 4
	}, time.Minute, time.Millisecond)
	other := fileOf("nothing.apk", []byte("PK"))
	other.Organization = 2
	_, err := i.Package(t.Context(), other)
	require.NoError(t, err, "beside an organization that holds all")
	cancel()
	hanging.Wait()
	require.Zero(t, i.room.Stats(10).Held)
	_, err = i.Package(t.Context(), fileOf("nothing.apk", []byte("PK")))
	require.NoError(t, err)
}

// What the store cannot read, and what does not end in time, is no fault of the file.
func TestStore(t *testing.T) {
	t.Parallel()
	i := newInspector(t, 1)
	f := fileOf("a.apk", make([]byte, 100))
	released := blocked{make(chan struct{})}
	close(released.release)
	f.Reader = released
	_, err := i.Symbols(t.Context(), f)
	require.ErrorIs(t, err, errReleased)
	var invalid *artifact.InvalidError
	require.NotErrorAs(t, err, &invalid)
	_, err = i.Package(t.Context(), fileOf("empty.apk", nil))
	require.ErrorAs(t, err, &invalid)
}
