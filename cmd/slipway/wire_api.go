package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api"
	apiaccount "github.com/slipway-qa/slipway/api/account"
	apiaudit "github.com/slipway-qa/slipway/api/audit"
	"github.com/slipway-qa/slipway/api/auth"
	apiauthoring "github.com/slipway-qa/slipway/api/authoring"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	apibaseline "github.com/slipway-qa/slipway/api/baseline"
	apicommitstatus "github.com/slipway-qa/slipway/api/commitstatus"
	"github.com/slipway-qa/slipway/api/console"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/crash"
	apidevice "github.com/slipway-qa/slipway/api/device"
	apidistribution "github.com/slipway-qa/slipway/api/distribution"
	apienvironment "github.com/slipway-qa/slipway/api/environment"
	apigate "github.com/slipway-qa/slipway/api/gate"
	apigroup "github.com/slipway-qa/slipway/api/group"
	apihistory "github.com/slipway-qa/slipway/api/history"
	"github.com/slipway-qa/slipway/api/inspection"
	"github.com/slipway-qa/slipway/api/install"
	"github.com/slipway-qa/slipway/api/intake"
	apimail "github.com/slipway-qa/slipway/api/mail"
	"github.com/slipway-qa/slipway/api/oidc"
	"github.com/slipway-qa/slipway/api/ops"
	apioverview "github.com/slipway-qa/slipway/api/overview"
	apisearch "github.com/slipway-qa/slipway/api/search"
	apisession "github.com/slipway-qa/slipway/api/session"
	apistepgroup "github.com/slipway-qa/slipway/api/stepgroup"
	"github.com/slipway-qa/slipway/api/symbol"
	"github.com/slipway-qa/slipway/api/task"
	apitester "github.com/slipway-qa/slipway/api/tester"
	"github.com/slipway-qa/slipway/api/upload"
	"github.com/slipway-qa/slipway/api/wait"
	apiwebhook "github.com/slipway-qa/slipway/api/webhook"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	genstore "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/live"
	"github.com/slipway-qa/slipway/storage/quota"
	runstore "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/session"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/gatechange"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/statuscall"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
)

// startAPI connects the rooms of the api to the services and serves them.
func (s *services) startAPI(listener net.Listener, queue *dispatch.Enqueuer, committer *intake.Committer,
	ready *ops.Readiness) (stop func(), err error) {
	var stops cleanups
	defer func() {
		if err != nil {
			stops.run()
		}
	}()
	public, err := url.Parse(s.settings.PublicURL)
	if err != nil || public.Host == "" {
		return nil, fmt.Errorf("SLIPWAY_PUBLIC_URL must be an address such as https://qa.example.com")
	}
	authenticator, err := auth.New(auth.Config{DB: s.db, Region: s.settings.Region, BaseDomain: s.settings.BaseDomain, Guard: s.guard,
		PublicHost: public.Hostname(), HTTPS: public.Scheme == "https", Log: s.log})
	if err != nil {
		return nil, err
	}
	symbols := symbol.NewStore(s.db, queue, s.quotas)
	meter := quota.NewMeter(s.db, s.quotas, nil)
	stops.add(func() { closeMeter(meter, s.log) })
	receiver, err := intake.New(intake.Config{Meter: meter, Submitter: committer, Store: s.crashes, Symbols: symbols,
		SymbolView: symbol.View, Objects: s.objects,
		Region: s.settings.Region, Leaks: intake.NewLeaks(s.db, s.letters(queue), s.log), Observer: s.metrics.Observer(), Log: s.log,
		Limits: intake.Limits{Report: s.settings.CrashReportBytes, Attachment: s.settings.CrashAttachmentBytes,
			Attachments: s.settings.CrashAttachments, InFlight: s.settings.CrashBytesInFlight, Symbols: s.settings.MaxSymbolBytes}})
	if err != nil {
		return nil, err
	}
	stops.add(receiver.Close)
	keys, err := account.NewIssuer(s.settings.Region, nil)
	if err != nil {
		return nil, err
	}
	watcher := wait.NewWatcher(wait.Config{Ended: s.ledger.Ended, Log: s.log})
	stopWatcher := startLoop(watcher.Run)
	stops.add(stopWatcher)
	changes := wait.NewChanges(wait.ChangesConfig{Log: s.log,
		Versions: func(ctx context.Context, topics []live.Topic) (map[live.Topic]string, error) {
			return live.Versions(ctx, s.db, topics)
		}})
	stopChanges := startLoop(changes.Run)
	stops.add(stopChanges)
	rooms := api.Rooms{Tasks: task.New(s.ledger, watcher), Crashes: crash.New(s.crashes, removing(s), keys), Intake: receiver,
		Ops: &ops.Handlers{Health: ops.Health(version()), Ready: ready, Metrics: s.metrics, Queues: ops.NewQueues(s.redis.Standings), DB: s.db,
			MailFrom: s.settings.mailFrom(), Ledger: s.ledger, Quotas: s.quotas, QueuesPage: strings.TrimSuffix(public.Path,
				"/") + frame.Base + "/operate/queues", Version: version(), Settings: s.settings.list(), ProtectMetrics: !s.settings.MetricsPublic}}
	rooms.Symbols, err = symbol.New(symbol.Config{Store: symbols, Objects: removing(s), Auth: authenticator, Ledger: s.ledger,
		Watcher: watcher, Log: s.log})
	if err != nil {
		return nil, err
	}
	inspector, err := inspection.New(inspection.Config{Readers: s.settings.PackageReaders, Timeout: s.settings.readerTime, Log: s.log})
	if err != nil {
		return nil, err
	}
	stops.add(inspector.Close)
	if err := s.addBuilds(&rooms, keys, authenticator, queue, symbols, inspector); err != nil {
		return nil, err
	}
	if err := s.addSessions(&rooms, keys, queue); err != nil {
		return nil, err
	}
	stops.add(rooms.Sessions.Close)
	stopTokens, err := s.watchTokens(receiver.Tokens(), rooms.Sessions.Tokens())
	if err != nil {
		return nil, err
	}
	stops.add(stopTokens)
	stopRunWatcher, err := s.addTests(&rooms, queue)
	if err != nil {
		return nil, err
	}
	stops.add(stopRunWatcher)
	rooms.Gates, err = apigate.New(apigate.Config{DB: s.db, Links: link.New(s.settings.PublicURL), Follower: s.gateFollower(queue),
		Log: s.log})
	if err != nil {
		return nil, err
	}
	stopGates := startLoop(rooms.Gates.Watcher().Run)
	stops.add(stopGates)
	if rooms.Agents, err = s.newAgents(); err != nil {
		return nil, err
	}
	rooms.Objects = s.objects.ServeSigned()
	shared := api.NewShared(s.settings.Searches)
	s.metrics.AddRooms(slices.Concat(shared.Rooms(), rooms.Uploads.Rooms(), receiver.Rooms(), rooms.Sessions.Rooms(),
		rooms.Symbols.Rooms(), rooms.Agents.Rooms(), watcher.Rooms(), rooms.Gates.Watcher().Rooms(), changes.Rooms())...)
	pictures, err := s.settings.objects(false).LinkOrigins()
	if err != nil {
		return nil, err
	}
	pictures = append(pictures, public.Scheme+"://"+public.Host) // a page may be open at an organization's own host
	pages, err := console.New(frame.Config{DB: s.db, Auth: authenticator, PublicURL: s.settings.PublicURL, Pictures: pictures,
		Changes:    changes,
		SigningKey: []byte(s.settings.SigningKey), Version: version(), Log: s.log})
	if err != nil {
		return nil, err
	}
	handler, err := api.New(api.Config{Log: s.log, Auth: authenticator, Routes: rooms.Routes(), Console: pages, Observer: s.metrics.Observer(),
		Inside: []api.Inside{rooms.Agents}, TrustedProxies: s.settings.TrustedProxies, Shared: shared, HTTPS: public.Scheme == "https"})
	if err != nil {
		return nil, err
	}
	bounded := s.settings.bounded(listener)
	s.metrics.SetListener(bounded)
	served := s.serve(bounded, handler)
	stops.add(func() {
		ready.Drain()
		served.linger(s.settings.stopDelay(0)) // until balancers know
		stopWatcher()                          // ends the requests with ?wait=, which would delay the stop of the server
		stopRunWatcher()
		stopGates()
		stopChanges() // ends the waits of open pages
		served.stop()
	})
	return stops.run, nil
}

// letters returns what writes mail.
func (s *services) letters(queue *dispatch.Enqueuer) *letter.Writer {
	return letter.New(letter.Config{Links: link.New(s.settings.PublicURL), Queue: queue})
}

// gateFollower returns what does what follows a change of a gate.
func (s *services) gateFollower(queue *dispatch.Enqueuer) *gatechange.Follower {
	return &gatechange.Follower{Letters: s.letters(queue), Links: link.New(s.settings.PublicURL), Queue: queue}
}

// startEnqueuer starts what delivers new tasks right after their commit.
func (s *services) startEnqueuer() (*dispatch.Enqueuer, func()) {
	queue := dispatch.NewEnqueuer(s.redis, s.log)
	return queue, startLoop(queue.Run)
}

// addBuilds adds the rooms of accounts, builds and install pages.
func (s *services) addBuilds(rooms *api.Rooms, keys *account.Issuer, authenticator *auth.Authenticator, queue *dispatch.Enqueuer,
	symbols *symbol.Store, inspector *inspection.Inspector) (err error) {
	rooms.Accounts, err = apiaccount.New(apiaccount.Config{DB: s.db, Quotas: s.quotas, Keys: keys, Guard: s.guard, SealKeys: s.keys})
	if err != nil {
		return err
	}
	rooms.OIDC, err = oidc.New(oidc.Config{DB: s.db, Keys: keys, Guard: s.guard})
	if err != nil {
		return err
	}
	rooms.Audits, err = apiaudit.New(apiaudit.Config{DB: s.db, Keys: keys, Log: s.log})
	if err != nil {
		return err
	}
	links := link.New(s.settings.PublicURL)
	views := apidistribution.NewViews(links, s.settings.Vendor)
	rooms.Mail, err = apimail.New(apimail.Config{DB: s.db, Links: links, Log: s.log})
	if err != nil {
		return err
	}
	rooms.Builds = apidistribution.New(apidistribution.Config{DB: s.db, Quotas: s.quotas, Objects: s.objects, Links: links,
		Queue: queue, Vendor: s.settings.Vendor, Log: s.log})
	rooms.Groups = apigroup.New(apigroup.Config{DB: s.db, ProjectView: func(p *distribution.Project) any { return views.ProjectView(p) }})
	rooms.Testers = apitester.New(apitester.Config{DB: s.db, Links: links, Queue: queue})
	rooms.Uploads, err = upload.New(upload.Config{Auth: authenticator, DB: s.db, Objects: s.objects, Links: links, Vendor: s.settings.Vendor,
		BuildView: func(b *distribution.Build) any { return views.BuildView(b) }, Queue: queue, Quotas: s.quotas,
		MaxBytes: s.settings.MaxUploadBytes,
		Inspect:  inspector.Package, InspectSymbols: inspector.Symbols,
		Symbols: symbols, SymbolView: symbol.View, MaxSymbols: s.settings.MaxSymbolBytes, Log: s.log})
	if err != nil {
		return err
	}
	rooms.Resumable = rooms.Uploads.Resumable()
	rooms.Webhooks, err = apiwebhook.New(apiwebhook.Config{DB: s.db, Guard: s.guard, Caller: webhookcall.NewSender(s.guard), Queue: queue,
		SealKeys: s.keys})
	if err != nil {
		return err
	}
	rooms.Statuses, err = apicommitstatus.New(apicommitstatus.Config{DB: s.db, Guard: s.guard, Caller: statuscall.NewSender(s.guard),
		SealKeys: s.keys})
	if err != nil {
		return err
	}
	rooms.Baselines, err = apibaseline.New(apibaseline.Config{DB: s.db, Objects: s.objects,
		PublicURL: strings.TrimRight(s.settings.PublicURL, "/")})
	if err != nil {
		return err
	}
	rooms.Devices, rooms.Search, rooms.Overview = apidevice.New(s.db), apisearch.New(s.db), apioverview.New(s.db)
	rooms.Pages, err = s.newInstallPages(authenticator, links, queue)
	return err
}

// newInstallPages returns the room of the pages that testers open.
func (s *services) newInstallPages(authenticator *auth.Authenticator, links link.Links,
	queue *dispatch.Enqueuer) (*install.Handlers, error) {
	signer, err := s.settings.signer()
	if err != nil {
		return nil, err
	}
	issuers, err := s.settings.issuers()
	if err != nil {
		return nil, err
	}
	return install.New(install.Config{DB: s.db, Objects: s.objects, Links: links, Queue: queue, PublicURL: s.settings.PublicURL, Log: s.log,
		Organization: authenticator.Organization, Signer: signer, DeviceIssuers: issuers})
}

// addSessions adds the room of what the SDKs of apps send.
func (s *services) addSessions(rooms *api.Rooms, keys *account.Issuer, queue *dispatch.Enqueuer) error {
	store, err := session.New(s.db, session.Bounds{Events: s.settings.SessionEvents, Bytes: s.settings.SessionBytes})
	if err != nil {
		return err
	}
	rooms.Sessions, err = apisession.New(apisession.Config{Store: store, Objects: s.objects, Links: link.New(s.settings.PublicURL), Keys: keys,
		Region: s.settings.Region, Leaks: intake.NewLeaks(s.db, s.letters(queue), s.log), Log: s.log})
	return err
}

// addTests adds the room of cases, suites, schedules, runs and generations, and returns
// what stops the watchers of the latter two.
func (s *services) addTests(rooms *api.Rooms, queue *dispatch.Enqueuer) (stop func(), err error) {
	watcher := wait.NewWatcher(wait.Config{Log: s.log,
		Ended: func(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
			return runstore.Ended(ctx, s.db, ids)
		}})
	generations := wait.NewWatcher(wait.Config{Log: s.log,
		Ended: func(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
			return genstore.Ended(ctx, s.db, ids)
		}})
	rooms.Tests, err = apiauthoring.New(handler.Config{DB: s.db, Objects: s.objects, Watcher: watcher,
		Generations: generations, Queue: queue, Quotas: s.quotas, Guard: s.guard,
		SealKeys: s.keys, PublicURL: s.settings.PublicURL, Vendor: s.settings.Vendor, CheckURL: s.pages.Check,
		UnsafeCapabilities: s.settings.unsafeCapabilities(), Log: s.log})
	if err != nil {
		return nil, err
	}
	rooms.Environments, err = apienvironment.New(apienvironment.Config{DB: s.db, SealKeys: s.keys, CheckURL: s.pages.Check,
		Vendor:             s.settings.Vendor,
		UnsafeCapabilities: s.settings.unsafeCapabilities()})
	if err != nil {
		return nil, err
	}
	rooms.Histories, err = apihistory.New(apihistory.Config{DB: s.db, Tests: rooms.Tests.Base(), PublicURL: s.settings.PublicURL})
	if err != nil {
		return nil, err
	}
	if rooms.StepGroups, err = apistepgroup.New(apistepgroup.Config{DB: s.db, Tests: rooms.Tests.Base()}); err != nil {
		return nil, err
	}
	stopRuns, stopGenerations := startLoop(watcher.Run), startLoop(generations.Run)
	return func() {
		stopRuns()
		stopGenerations()
	}, nil
}
