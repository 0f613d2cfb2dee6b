package tier

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/baseline"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	genstore "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/ledger"
	runstore "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/session"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/storage/tester"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/worker"
	workbuild "github.com/slipway-qa/slipway/worker/build"
	workcrash "github.com/slipway-qa/slipway/worker/crash"
	workgate "github.com/slipway-qa/slipway/worker/gate"
	workmail "github.com/slipway-qa/slipway/worker/mail"
	"github.com/slipway-qa/slipway/worker/maintenance"
	workrun "github.com/slipway-qa/slipway/worker/run"
	"github.com/slipway-qa/slipway/worker/run/download"
	"github.com/slipway-qa/slipway/worker/schedule"
	worksession "github.com/slipway-qa/slipway/worker/session"
)

// StartWorker starts the pools with a handler for every kind of task, and returns
// what stops them. With an api in the same process, throttle slows crash processing
// down while crashes come in; else it is nil.
func (s *Services) StartWorker(throttle *workcrash.Throttle) (stop func(), err error) {
	pools, err := worker.ParsePools(s.Settings.WorkerPools)
	if err != nil {
		return nil, err
	}
	handlers, stopHandlers, err := s.WorkHandlers(throttle, pools)
	if err != nil {
		return nil, err
	}
	w, err := worker.New(worker.Config{Redis: s.Redis, Ledger: s.Ledger, Heartbeats: ledger.New(s.heartbeats), Pools: pools,
		RescueAfter: s.Settings.RescueAfter, Drain: s.Settings.WorkerDrain, Observer: s.metrics.Observer(), Log: s.Log, Handlers: handlers,
		KeyLimits: map[string]int{tasks.TestJob.Name: s.Settings.RunParallel, tasks.TestGenerate.Name: s.Settings.GenerationParallel}})
	if err != nil {
		stopHandlers()
		return nil, err
	}
	if err := w.Start(); err != nil {
		stopHandlers()
		return nil, err
	}
	return func() {
		w.Stop()
		stopHandlers()
	}, nil
}

// WorkHandlers returns the handlers of the kinds of tasks, and what stops what they use.
func (s *Services) WorkHandlers(throttle *workcrash.Throttle, pools []worker.Pool) (handlers map[string]worker.Handler,
	stop func(), err error) {
	// The report of a dead task is found and purged through the task, so dead tasks
	// are kept as long as reports.
	dead := max(4*s.Settings.TaskDays, s.Settings.CrashDays)
	prune, err := maintenance.NewLedgerRetention(s.Ledger, days(s.Settings.TaskDays), days(dead))
	if err != nil {
		return nil, nil, err
	}
	forget, err := maintenance.NewAuditRetention(s.DB, s.Settings.AuditDays)
	if err != nil {
		return nil, nil, err
	}
	expire, err := workcrash.NewRetention(s.Crashes, removing(s), s.Settings.CrashDays, s.Log)
	if err != nil {
		return nil, nil, err
	}
	watch, names := s.metrics.Observer(), objectNames{s}
	handlers = map[string]worker.Handler{
		tasks.CrashProcess.Name: &workcrash.Process{Store: s.Crashes, Observer: watch, Throttle: throttle,
			Duplicates: s.Settings.CrashDuplicates, Log: s.Log},
		tasks.CrashPurge.Name:       &workcrash.Purge{Store: s.Crashes, Ledger: s.Ledger, Objects: removing(s), Log: s.Log},
		tasks.CrashSplit.Name:       &workcrash.Split{Store: s.Crashes},
		tasks.CrashChange.Name:      &workcrash.Change{Store: s.Crashes},
		tasks.CrashRekey.Name:       workcrash.NewRekey(s.Crashes),
		tasks.CrashFunctions.Name:   workcrash.NewFunctions(s.Crashes),
		tasks.CrashRetention.Name:   expire,
		tasks.LedgerRetention.Name:  prune,
		tasks.AuditRetention.Name:   forget,
		tasks.QuotaMaintenance.Name: &maintenance.Quotas{DB: s.DB, Log: s.Log},
		tasks.ObjectRemoval.Name:    &maintenance.ObjectRemoval{DB: s.DB, Objects: s.Objects},
		tasks.UploadExpiry.Name:     &maintenance.UploadExpiry{DB: s.DB, Objects: s.Objects, Log: s.Log},
		tasks.ObjectSweep.Name: maintenance.NewObjectSweep(removing(s), map[string]maintenance.Names{
			received.AttachmentPrefix: names.attachments, storedfile.Prefix: names.files, runstore.Prefix: names.ofRuns,
			baseline.Prefix: names.ofBaselines,
			genstore.Prefix: names.ofGenerations, session.ScreenshotPrefix: names.screenshots, symbolfile.IndexPrefix: names.indexes}),
	}
	stopSymbols, err := s.addSymbolWork(handlers)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			stopSymbols()
		}
	}()
	if err := s.addBuildWork(handlers); err != nil {
		return nil, nil, err
	}
	stopVerification, err := addVerification(s, handlers)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			stopVerification()
		}
	}()
	if err := addWebhookWork(s, handlers, pools); err != nil {
		return nil, nil, err
	}
	stopBrowsers, err := s.addTestWork(handlers, pools)
	if err != nil {
		return nil, nil, err
	}
	return handlers, func() {
		stopBrowsers()
		stopVerification()
		stopSymbols()
	}, nil
}

// keepMailingDays is how long the people of a mailing are kept whose task failed, for a
// retry by hand.
const keepMailingDays = 30

// addBuildWork adds the handlers of builds and mail.
func (s *Services) addBuildWork(handlers map[string]worker.Handler) error {
	mails, urgent, err := s.mailSenders()
	if err != nil {
		return err
	}
	maintenance, err := workbuild.NewMaintenance(s.DB, days(s.Settings.MailDays), workbuild.Step{Name: "bearer_tokens",
		Run: func(ctx context.Context, limit int) (int64, error) {
			return account.ForgetBearers(ctx, s.DB, time.Now(), limit)
		}}, workbuild.Step{Name: "console_sessions", Run: func(ctx context.Context, limit int) (int64, error) {
		return account.ForgetConsole(ctx, s.DB, time.Now(), limit)
	}}, workbuild.Step{Name: "tester_mailings", Run: func(ctx context.Context, limit int) (int64, error) {
		return tester.ForgetMailings(ctx, s.DB, time.Now().AddDate(0, 0, -keepMailingDays), limit)
	}}, workbuild.Unverified(s.DB), workbuild.Retention(s.DB))
	if err != nil {
		return err
	}
	mailing := &workbuild.Mailing{DB: s.DB, Links: link.New(s.Settings.PublicURL), Letters: s.letters(nil)}
	crashes := &workcrash.BuildCrashes{Store: s.Crashes, Objects: removing(s), Log: s.Log}
	sessions := &worksession.Builds{Objects: removing(s), Log: s.Log}
	sessionMaintenance, err := worksession.NewMaintenance(s.DB, worksession.Rules{Silence: s.Settings.SessionSilence,
		Keep:         days(s.Settings.SessionDays),
		ProjectBytes: s.Settings.SessionProjectBytes, OrganizationBytes: s.Settings.SessionOrganizationBytes})
	if err != nil {
		return err
	}
	for kind, handler := range map[string]worker.Handler{
		tasks.BuildNotify.Name:        &workbuild.Notify{DB: s.DB, Links: link.New(s.Settings.PublicURL), Letters: s.letters(nil)},
		tasks.TesterWelcome.Name:      mailing,
		tasks.BuildInvite.Name:        mailing,
		tasks.BuildSync.Name:          &workbuild.Sync{DB: s.DB, Objects: s.Objects, Guard: s.guard, Keys: s.keys},
		tasks.BuildDelete.Name:        &workbuild.Delete{Crashes: crashes, Sessions: sessions, Objects: removing(s), Log: s.Log},
		tasks.ProjectDelete.Name:      &workbuild.DeleteProject{DB: s.DB, Crashes: crashes, Sessions: sessions, Objects: removing(s), Log: s.Log},
		tasks.BuildMaintenance.Name:   maintenance,
		tasks.GateEvaluate.Name:       &workgate.Evaluate{DB: s.DB, Follower: s.gateFollower(nil)},
		tasks.GateStart.Name:          &workgate.Start{Quotas: s.quotas, Vendor: s.Settings.Vendor},
		tasks.SessionMaintenance.Name: sessionMaintenance,
		tasks.MailSend.Name:           mails,
		tasks.MailUrgent.Name:         urgent,
		tasks.CrashRules.Name: &workcrash.Rules{Store: s.Crashes, Links: link.New(s.Settings.PublicURL),
			Letters: s.letters(nil), Log: s.Log},
		tasks.MailDigest.Name: &workmail.Digest{DB: s.DB, Letters: s.letters(nil), Links: link.New(s.Settings.PublicURL)},
	} {
		handlers[kind] = handler
	}
	return nil
}

// addTestWork adds the handlers of runs, generations and schedules, and returns what
// stops the browsers.
func (s *Services) addTestWork(handlers map[string]worker.Handler, pools []worker.Pool) (stop func(), err error) {
	if swept, err := download.Sweep(); err != nil {
		s.Log.Warn("downloads of tests that were killed are not all deleted", "folders", swept, "error", err)
	}
	browsers, trouble, stop, err := s.startBrowsers(warmBrowsers(pools, runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, err
	}
	maintenance, err := workrun.NewMaintenanceHandler(s.DB, removing(s), days(s.Settings.RunDays), s.Log)
	if err != nil {
		stop()
		return nil, err
	}
	if err := s.addGenerationWork(handlers, browsers, trouble); err != nil {
		stop()
		return nil, err
	}
	handlers[tasks.TestJob.Name] = &workrun.JobHandler{DB: s.DB, Objects: removing(s), Browsers: browsers, Keys: s.keys,
		Vendor:   s.Settings.Vendor,
		CheckURL: s.pages.Check, Trouble: trouble, Timeout: s.Settings.RunTimeout, Screenshots: s.Settings.RunScreenshots, Log: s.Log}
	handlers[tasks.RunRows.Name] = &workrun.RowsHandler{Log: s.Log}
	handlers[tasks.SuiteDeadline.Name] = &workrun.DeadlineHandler{}
	handlers[tasks.SuiteRun.Name] = &workrun.SuiteHandler{DB: s.DB, Vendor: s.Settings.Vendor, Keys: s.keys, Log: s.Log}
	handlers[tasks.RunMaintenance.Name] = maintenance
	handlers[tasks.ScheduleTick.Name] = &schedule.Tick{DB: s.DB, Quotas: s.quotas, Observer: s.metrics.Observer(),
		Log: s.Log, Started: time.Now()}
	return stop, nil
}

// warmBrowsers returns how many browsers are kept ready: one for each slot that serves runs or
// generations, but no more than there are processors, and two at least. With four on two
// processors, two of which wait for generations, a suite run took a tenth longer.
func warmBrowsers(pools []worker.Pool, processors int) int {
	n := 0
	for _, pool := range pools {
		if pool.Queues[tasks.Run] > 0 || pool.Queues[tasks.Generate] > 0 {
			n += pool.Slots
		}
	}
	return min(n, max(2, processors))
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// servedQueues returns the queues that the pools of a worker serve, sorted.
func servedQueues(text string) ([]string, error) {
	pools, err := worker.ParsePools(text)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var queues []string
	for _, pool := range pools {
		for q := range pool.Queues {
			if !seen[q] {
				seen[q] = true
				queues = append(queues, q)
			}
		}
	}
	slices.Sort(queues)
	return queues, nil
}
