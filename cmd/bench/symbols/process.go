package symbols

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/proguard"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	workcrash "github.com/slipway-qa/slipway/worker/crash"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
	"github.com/slipway-qa/slipway/worker/symbols/library"
)

// Bench is a database with a crash project, and the handlers of crashes.
type Bench struct {
	dir          string
	servers      *localservice.Folder
	DB           *storage.DB
	store        *crash.Store
	Ledger       *ledger.Store
	objects      object.Store
	library      *library.Library
	Org, project int64
}

// StartBench starts a database with an organization whose reports are read with symbols.
func StartBench(ctx context.Context) (b *Bench, err error) {
	b = &Bench{}
	defer func() {
		if err != nil {
			b.Stop()
		}
	}()
	if b.dir, err = os.MkdirTemp("", "slipway-bench-"); err != nil {
		return nil, err
	}
	if b.servers, err = localservice.Open(filepath.Join(b.dir, "servers")); err != nil {
		return nil, err
	}
	postgres, err := b.servers.Postgres(ctx, localservice.PostgresConfig{})
	if err != nil {
		return nil, err
	}
	if b.DB, err = storage.Open(storage.Config{URL: postgres.URL()}); err != nil {
		return nil, err
	}
	if _, err := storage.Migrate(ctx, b.DB); err != nil {
		return nil, err
	}
	if b.store, err = crash.New(b.DB); err != nil {
		return nil, err
	}
	b.Ledger = ledger.New(b.DB)
	if b.objects, err = object.Open(ctx, object.Config{URL: "file://" + filepath.Join(b.dir, "objects")}); err != nil {
		return nil, err
	}
	if b.library, err = library.New(library.Config{DB: b.DB, Objects: b.objects, Log: slog.New(slog.DiscardHandler)}); err != nil {
		return nil, err
	}
	if err := b.DB.GetContext(ctx, &b.Org,
		`insert into organizations (uuid, slug, name) values ($1, 'bench', 'bench') returning id`, uuid.New()); err != nil {
		return nil, err
	}
	return b, b.DB.GetContext(ctx, &b.project, `insert into crash_projects (organization_id, name) values ($1, 'bench') returning id`, b.Org)
}

// Stop ends what StartBench started.
func (b *Bench) Stop() {
	if b.DB != nil {
		_ = b.DB.Close()
	}
	if b.servers != nil {
		_ = b.servers.Close(context.Background())
	}
	_ = os.RemoveAll(b.dir)
}

// accept stores n reports in commits of a hundred.
func (b *Bench) accept(ctx context.Context, n int, make func(i int) []byte) error {
	for from := 0; from < n; from += 100 {
		var in []received.Incoming
		for i := from; i < min(n, from+100); i++ {
			id := uuid.New()
			doc := bytes.Replace(make(i), []byte("UUID"), []byte(id.String()), 1)
			in = append(in, received.Incoming{OrganizationID: b.Org, ProjectID: b.project, UUID: id, Digest: sha256.Sum256(doc),
				Document: doc, Format: "json"})
		}
		if _, _, err := b.store.Accept(ctx, in, tasks.NewCrashProcess); err != nil {
			return err
		}
	}
	return nil
}

// process works off what was accepted.
func (b *Bench) process(ctx context.Context, symbols symbolicate.Source) error {
	p := &workcrash.Process{Store: b.store, Symbols: symbols, Log: slog.New(slog.DiscardHandler)}
	for {
		claimed, err := b.Ledger.Claim(ctx, ledger.ClaimRequest{Kind: tasks.CrashProcess.Name, OrganizationID: b.Org, Worker: "bench",
			Batch: tasks.CrashProcess.Batch, MaxWeight: tasks.CrashProcess.MaxWeight})
		if err != nil || len(claimed) == 0 {
			return err
		}
		if err := p.Handle(ctx, worker.NewClaim(b.DB, claimed)); err != nil {
			return err
		}
	}
}

// upload stores the index of a mapping, as symbol:index does, and returns the upload.
func (b *Bench) upload(ctx context.Context, id, mapping string) (upload int64, err error) {
	var index bytes.Buffer
	if _, err := proguard.Index(strings.NewReader(mapping), int64(len(mapping)), &index, proguard.Options{}); err != nil {
		return 0, err
	}
	key := symbolfile.IndexPrefix + uuid.NewString()
	out, err := b.objects.Create(ctx, key, int64(index.Len()), object.WriteOptions{})
	if err != nil {
		return 0, err
	}
	if _, err := out.Write(index.Bytes()); err != nil {
		return 0, errors.Join(err, out.Abort())
	}
	if _, err := out.Commit(); err != nil {
		return 0, err
	}
	return upload, b.DB.InTx(ctx, func(tx *storage.Tx) error {
		var file int64
		if err := tx.GetContext(ctx, &file,
			`insert into files (organization_id, object_key, size, sha256, content_type) values ($1, $2, 1, $3, 'text/plain') returning id`,
			b.Org, uuid.NewString(), strings.Repeat("0", 64)); err != nil {
			return err
		}
		if err := tx.GetContext(ctx, &upload,
			`insert into symbols (organization_id, file_id, name, sha256, source) values ($1, $2, 'mapping.txt', $3, 'api') returning id`,
			b.Org, file, uuid.NewString()); err != nil {
			return err
		}
		return symbolfile.RecordFiles(ctx, tx, upload, []symbolfile.File{{Kind: symbol.ProGuard, State: symbolfile.Indexed,
			SHA256: id, Features: []string{},
			IndexKey: key, IndexVersion: int(proguard.Version), IndexSize: int64(index.Len()),
			Identifiers: []symbol.Identifier{{Type: symbol.MappingID, Value: id}}}}, "", "")
	})
}

// fetch brings the index of a mapping into memory.
func (b *Bench) fetch(ctx context.Context, waiting symbolicate.Source, mapping string) error {
	session, err := waiting.Begin(ctx, b.Org)
	if err != nil {
		return err
	}
	q := symbolicate.Query{Place: symbolicate.Place{OrganizationID: b.Org, ProjectID: b.project},
		Identifiers: []symbol.Identifier{{Type: symbol.MappingID, Value: mapping}}}
	_, _, err = session.Mapping(ctx, q)
	if !errors.Is(err, symbolicate.ErrUnasked) {
		return err
	}
	if err := session.Ask(ctx); err != nil {
		return err
	}
	_, _, err = session.Mapping(ctx, q)
	return err
}

const (
	processReports = 20_000
	processTarget  = 0.6
)

// javaReport is a report of twenty frames of a mapping; "" names none.
func (m *retraceMapping) javaReport(i int, mapping string) []byte {
	var b bytes.Buffer
	member, attribute := "", ""
	if mapping != "" {
		member, attribute = `"symbolication":"proguard",`, fmt.Sprintf(`"symbolication_id":%q,`, mapping)
	}
	fmt.Fprintf(&b, `{"uuid":"UUID","timestamp":%d,"lang":"java","langVersion":"17","agent":"a","agentVersion":"1",%s"mainThread":"main",`+
		`"threads":{"main":{"fault":true,"stack":[`,
		time.Now().Unix(), member)
	for n := range retraceFrames {
		if n > 0 {
			b.WriteByte(',')
		}
		line := m.frames[(i%500*37+n*11)%len(m.frames)] // \tat a.b.c(SourceFile:7)
		function, rest, _ := strings.Cut(strings.TrimPrefix(line, "\tat "), "(SourceFile:")
		number, _, _ := strings.Cut(rest, ")")
		fmt.Fprintf(&b, `{"funcName":%q,"line":%q,"library":"SourceFile"}`, function, number)
	}
	fmt.Fprintf(&b, `]}},"classifiers":["java.lang.IllegalStateException"],"attributes":{%s"version":"1.%d","hostname":"h%d"}}`,
		attribute, i%7, i%100)
	return b.Bytes()
}

// measureProcess measures the processing of crashes whose mapping is at hand, next to the same
// crashes without one.
func measureProcess(ctx context.Context) error {
	b, err := StartBench(ctx)
	if err != nil {
		return err
	}
	defer b.Stop()
	m := newRetraceMapping(mappingSize)
	if _, err := b.upload(ctx, "bench", m.text); err != nil {
		return err
	}
	warm, waiting := symbolicate.NewLibraries(b.DB, b.library)
	if err := b.fetch(ctx, waiting, "bench"); err != nil {
		return err
	}
	rates := map[string]float64{}
	for _, mapping := range []string{"", "bench", "", "bench"} { // the second round counts
		stop := progress.Waits(ctx, fmt.Sprintf("%d reports to be stored and processed", processReports))
		if err := b.accept(ctx, processReports, func(i int) []byte { return m.javaReport(i, mapping) }); err != nil {
			return err
		}
		start := time.Now()
		if err := b.process(ctx, warm); err != nil {
			return err
		}
		rates[mapping] = processReports / time.Since(start).Seconds()
		stop()
	}
	ratio := rates["bench"] / rates[""]
	regression.Measured(ctx, "process", ratio)
	measure.Row("processed crashes per second with a mapping against without", fmt.Sprintf("%.0f against %.0f: %.2f",
		rates["bench"], rates[""], ratio),
		fmt.Sprintf("%.1f", processTarget), ratio >= processTarget)
	return nil
}
