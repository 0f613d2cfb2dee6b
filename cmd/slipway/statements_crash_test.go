package main

import (
	"crypto/sha256"
	"fmt"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/tasks"
)

// reportKind is a kind of crash report, and the symbol file that reads it.
type reportKind struct {
	lang, name, file string
	// frame is a frame of the n-th report, members what stands beside the stack.
	frame   func(n int) string
	members string
}

var pythonReports = reportKind{lang: "python", frame: func(n int) string {
	return fmt.Sprintf(`{"funcName":"work%d","library":"work.py","line":%d}`, n%8, n+1)
}}

// reports makes n reports of a kind, from the one with the number first on.
func (w *counted) reports(kind reportKind, first, n int) (in []received.Incoming) {
	for i := first; i < first+n; i++ {
		id := uuid.New()
		document := fmt.Appendf(nil,
			`{"uuid":%q,"timestamp":1767225600,"lang":%q,"langVersion":"1","agent":"test","agentVersion":"1","mainThread":"main",
			"classifiers":["Error"],"attributes":{"error.message":"it broke","application.version":"1.%d"},
			"threads":{"main":{"name":"main","fault":true,"stack":[%s]}}%s}`, id, kind.lang, i%3, kind.frame(i), kind.members)
		in = append(in, received.Incoming{OrganizationID: w.boot.Organization.ID, ProjectID: w.boot.Crash.Project, UUID: id,
			Digest: sha256.Sum256(document), Document: document, Format: "json"})
	}
	return in
}

func (w *counted) accept(in []received.Incoming) {
	w.t.Helper()
	_, _, err := w.services.Crashes.Accept(w.t.Context(), in, tasks.NewCrashProcess)
	require.NoError(w.t, err)
}

// withAttachments gives each report two files.
func withAttachments(in []received.Incoming) []received.Incoming {
	for i := range in {
		for n := range 2 {
			in[i].Attachments = append(in[i].Attachments, received.Attachment{ID: uuid.New(), Name: fmt.Sprint("log", n),
				ContentType: "text/plain", ObjectKey: uuid.NewString()})
		}
	}
	return in
}

// processing accepts and processes reports of a kind, so that its symbol file is at hand,
// and then counts the processing of n others in one claim.
func processing(kind reportKind) func(w *counted, n int) {
	return func(w *counted, n int) {
		w.t.Helper()
		if kind.file != "" {
			w.must(request{method: post, path: v3 + "/symbols", files: map[string]string{"file": kind.name + "|" + kind.file}})
			w.work(tasks.SymbolIndex)
		}
		w.accept(w.reports(kind, 0, n))
		w.work(tasks.CrashProcess)
		w.work(tasks.CrashSymbolicate)
		w.accept(w.reports(kind, n, n))
		w.count(func() { w.work(tasks.CrashProcess) })
		if kind.file != "" {
			require.NotEqual(w.t, "0", w.value(`select count(*)::text from crash_symbolications where state = 'complete'`), "the reports were read")
		}
	}
}

func crashUseCases() []useCase {
	return []useCase{
		{name: "accept reports", numbers: []int{1, 64}, of: asks{statements: 1}, run: func(w *counted, n int) {
			in := w.reports(pythonReports, 0, n)
			w.count(func() { w.accept(in) })
		}},
		{name: "take a report in", numbers: []int{1}, of: asks{statements: 1, commands: 1}, run: func(w *counted, _ int) {
			in := w.reports(pythonReports, 0, 2)
			send := func(r *received.Incoming) {
				w.must(request{method: post, path: "/post", query: "?format=json&token=" + w.ids["crashtoken"], body: string(r.Document), as: "none"})
			}
			send(&in[0]) // the token is known
			w.count(func() { send(&in[1]) })
		}},
		{name: "accept reports with attachments", numbers: []int{1, 64}, of: asks{statements: 6}, run: func(w *counted, n int) {
			in := withAttachments(w.reports(pythonReports, 0, n))
			w.count(func() { w.accept(in) })
		}},
		{name: "accept reports again", numbers: []int{1, 64}, of: asks{statements: 1}, run: func(w *counted, n int) {
			in := w.reports(pythonReports, 0, n)
			w.accept(in)
			w.count(func() { w.accept(in) })
		}},
		{name: "process reports", numbers: []int{1, 64}, of: asks{statements: 32}, run: processing(pythonReports)},
		{name: "delete crashes of eight groups", numbers: []int{8, 64}, of: asks{statements: 53}, run: func(w *counted, n int) {
			w.accept(w.reports(pythonReports, 0, n))
			w.work(tasks.CrashProcess)
			w.must(request{method: remove, path: v3 + "/crashes", query: "?attribute.error.message=it+broke"})
			w.count(func() { w.work(tasks.CrashPurge) })
		}},
	}
}
