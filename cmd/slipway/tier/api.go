package tier

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
	"github.com/slipway-qa/slipway/cmd/slipway/version"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	genstore "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/live"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/session"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/gatechange"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/statuscall"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
)

// StartAPI connects the rooms of the api to the services and serves them.
func (s *Services) StartAPI(listener net.Listener, queue *dispatch.Enqueuer, committer *intake.Committer,
	ready *ops.Readiness) (stop func(), err error) {
	var stops cleanups
	defer func() {
		if err != nil {
			stops.run()
		}
	}()
	public, err := url.Parse(s.Settings.PublicURL)
	if err != nil || public.Host == "" {
		return nil, fmt.Errorf("SLIPWAY_PUBLIC_URL must be an address such as https://qa.example.com")
	}
	authenticator, err := auth.New(auth.Config{DB: s.DB, Region: s.Settings.Region, BaseDomain: s.Settings.BaseDomain, Guard: s.guard,
		PublicHost: public.Hostname(), HTTPS: public.Scheme == "https", Log: s.Log})
	if err != nil {
		return nil, err
	}
	symbols := symbol.NewStore(s.DB, queue, s.quotas)
	meter := quota.NewMeter(s.DB, s.quotas, nil)
	stops.add(func() { closeMeter(meter, s.Log) })
	receiver, err := intake.New(intake.Config{Meter: meter, Submitter: committer, Store: s.Crashes, Symbols: symbols,
		SymbolView: symbol.View, Objects: s.Objects,
		Region: s.Settings.Region, Leaks: intake.NewLeaks(s.DB, s.letters(queue), s.Log), Observer: s.metrics.Observer(), Log: s.Log,
		Limits: intake.Limits{Report: s.Settings.CrashReportBytes, Attachment: s.Settings.CrashAttachmentBytes,
			Attachments: s.Settings.CrashAttachments, InFlight: s.Settings.CrashBytesInFlight, Symbols: s.Settings.MaxSymbolBytes}})
	if err != nil {
		return nil, err
	}
	stops.add(receiver.Close)
	keys, err := account.NewIssuer(s.Settings.Region, nil)
	if err != nil {
		return nil, err
	}
	watcher := wait.NewWatcher(wait.Config{Ended: s.Ledger.Ended, Log: s.Log})
	stopWatcher := StartLoop(watcher.Run)
	stops.add(stopWatcher)
	changes := wait.NewChanges(wait.ChangesConfig{Log: s.Log,
		Versions: func(ctx context.Context, topics []live.Topic) (map[live.Topic]string, error) {
			return live.Versions(ctx, s.DB, topics)
		}})
	stopChanges := StartLoop(changes.Run)
	stops.add(stopChanges)
	rooms := api.Rooms{Tasks: task.New(s.Ledger, watcher), Crashes: crash.New(s.Crashes, removing(s), keys), Intake: receiver,
		Ops: &ops.Handlers{Health: ops.Health(version.Short()), Ready: ready, Metrics: s.metrics, Queues: ops.NewQueues(s.Redis.Standings),
			DB:       s.DB,
			MailFrom: mailFrom(s.Settings), Ledger: s.Ledger, Quotas: s.quotas, QueuesPage: strings.TrimSuffix(public.Path,
				"/") + frame.Base + "/operate/queues", Version: version.Short(), Settings: s.Settings.List(),
			ProtectMetrics: !s.Settings.MetricsPublic}}
	rooms.Symbols, err = symbol.New(symbol.Config{Store: symbols, Objects: removing(s), Auth: authenticator, Ledger: s.Ledger,
		Watcher: watcher, Log: s.Log})
	if err != nil {
		return nil, err
	}
	inspector, err := inspection.New(inspection.Config{Readers: s.Settings.PackageReaders, Timeout: s.Settings.ReaderTime, Log: s.Log})
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
	rooms.Gates, err = apigate.New(apigate.Config{DB: s.DB, Links: link.New(s.Settings.PublicURL), Follower: s.gateFollower(queue),
		Log: s.Log})
	if err != nil {
		return nil, err
	}
	stopGates := StartLoop(rooms.Gates.Watcher().Run)
	stops.add(stopGates)
	if rooms.Agents, err = s.newAgents(); err != nil {
		return nil, err
	}
	rooms.Objects = s.Objects.ServeSigned()
	shared := api.NewShared(s.Settings.Searches)
	s.metrics.AddRooms(slices.Concat(shared.Rooms(), rooms.Uploads.Rooms(), receiver.Rooms(), rooms.Sessions.Rooms(),
		rooms.Symbols.Rooms(), rooms.Agents.Rooms(), watcher.Rooms(), rooms.Gates.Watcher().Rooms(), changes.Rooms())...)
	pictures, err := s.Settings.Objects(false).LinkOrigins()
	if err != nil {
		return nil, err
	}
	pictures = append(pictures, public.Scheme+"://"+public.Host) // a page may be open at an organization's own host
	pages, err := console.New(frame.Config{DB: s.DB, Auth: authenticator, PublicURL: s.Settings.PublicURL, Pictures: pictures,
		Changes:    changes,
		SigningKey: []byte(s.Settings.SigningKey), Version: version.Short(), Log: s.Log})
	if err != nil {
		return nil, err
	}
	handler, err := api.New(api.Config{Log: s.Log, Auth: authenticator, Routes: rooms.Routes(), Console: pages, Observer: s.metrics.Observer(),
		Inside: []api.Inside{rooms.Agents}, TrustedProxies: s.Settings.TrustedProxies, Shared: shared, HTTPS: public.Scheme == "https"})
	if err != nil {
		return nil, err
	}
	bounded := s.Settings.Bounded(listener)
	s.metrics.SetListener(bounded)
	served := s.serve(bounded, handler)
	stops.add(func() {
		ready.Drain()
		served.linger(s.Settings.StopDelayOr(0)) // until balancers know
		stopWatcher()                            // ends the requests with ?wait=, which would delay the stop of the server
		stopRunWatcher()
		stopGates()
		stopChanges() // ends the waits of open pages
		served.stop()
	})
	return stops.run, nil
}

// letters returns what writes mail.
func (s *Services) letters(queue *dispatch.Enqueuer) *letter.Writer {
	return letter.New(letter.Config{Links: link.New(s.Settings.PublicURL), Queue: queue})
}

// gateFollower returns what does what follows a change of a gate.
func (s *Services) gateFollower(queue *dispatch.Enqueuer) *gatechange.Follower {
	return &gatechange.Follower{Letters: s.letters(queue), Links: link.New(s.Settings.PublicURL), Queue: queue}
}

// StartEnqueuer starts what delivers new tasks right after their commit.
func (s *Services) StartEnqueuer() (*dispatch.Enqueuer, func()) {
	queue := dispatch.NewEnqueuer(s.Redis, s.Log)
	return queue, StartLoop(queue.Run)
}

// addBuilds adds the rooms of accounts, builds and install pages.
func (s *Services) addBuilds(rooms *api.Rooms, keys *account.Issuer, authenticator *auth.Authenticator, queue *dispatch.Enqueuer,
	symbols *symbol.Store, inspector *inspection.Inspector) (err error) {
	rooms.Accounts, err = apiaccount.New(apiaccount.Config{DB: s.DB, Quotas: s.quotas, Keys: keys, Guard: s.guard, SealKeys: s.keys})
	if err != nil {
		return err
	}
	rooms.OIDC, err = oidc.New(oidc.Config{DB: s.DB, Keys: keys, Guard: s.guard})
	if err != nil {
		return err
	}
	rooms.Audits, err = apiaudit.New(apiaudit.Config{DB: s.DB, Keys: keys, Log: s.Log})
	if err != nil {
		return err
	}
	links := link.New(s.Settings.PublicURL)
	views := apidistribution.NewViews(links, s.Settings.Vendor)
	rooms.Mail, err = apimail.New(apimail.Config{DB: s.DB, Links: links, Log: s.Log})
	if err != nil {
		return err
	}
	rooms.Builds = apidistribution.New(apidistribution.Config{DB: s.DB, Quotas: s.quotas, Objects: s.Objects, Links: links,
		Queue: queue, Vendor: s.Settings.Vendor, Log: s.Log})
	rooms.Groups = apigroup.New(apigroup.Config{DB: s.DB, ProjectView: func(p *distribution.Project) any { return views.ProjectView(p) }})
	rooms.Testers = apitester.New(apitester.Config{DB: s.DB, Links: links, Queue: queue})
	rooms.Uploads, err = upload.New(upload.Config{Auth: authenticator, DB: s.DB, Objects: s.Objects, Links: links, Vendor: s.Settings.Vendor,
		BuildView: func(b *distribution.Build) any { return views.BuildView(b) }, Queue: queue, Quotas: s.quotas,
		MaxBytes: s.Settings.MaxUploadBytes,
		Inspect:  inspector.Package, InspectSymbols: inspector.Symbols,
		Symbols: symbols, SymbolView: symbol.View, MaxSymbols: s.Settings.MaxSymbolBytes, Log: s.Log})
	if err != nil {
		return err
	}
	rooms.Resumable = rooms.Uploads.Resumable()
	rooms.Webhooks, err = apiwebhook.New(apiwebhook.Config{DB: s.DB, Guard: s.guard, Caller: webhookcall.NewSender(s.guard), Queue: queue,
		SealKeys: s.keys})
	if err != nil {
		return err
	}
	rooms.Statuses, err = apicommitstatus.New(apicommitstatus.Config{DB: s.DB, Guard: s.guard, Caller: statuscall.NewSender(s.guard),
		SealKeys: s.keys})
	if err != nil {
		return err
	}
	rooms.Baselines, err = apibaseline.New(apibaseline.Config{DB: s.DB, Objects: s.Objects,
		PublicURL: strings.TrimRight(s.Settings.PublicURL, "/")})
	if err != nil {
		return err
	}
	rooms.Devices, rooms.Search, rooms.Overview = apidevice.New(s.DB), apisearch.New(s.DB), apioverview.New(s.DB)
	rooms.Pages, err = s.newInstallPages(authenticator, links, queue)
	return err
}

// newInstallPages returns the room of the pages that testers open.
func (s *Services) newInstallPages(authenticator *auth.Authenticator, links link.Links,
	queue *dispatch.Enqueuer) (*install.Handlers, error) {
	signer, err := s.Settings.Signer()
	if err != nil {
		return nil, err
	}
	issuers, err := s.Settings.Issuers()
	if err != nil {
		return nil, err
	}
	return install.New(install.Config{DB: s.DB, Objects: s.Objects, Links: links, Queue: queue, PublicURL: s.Settings.PublicURL, Log: s.Log,
		Organization: authenticator.Organization, Signer: signer, DeviceIssuers: issuers})
}

// addSessions adds the room of what the SDKs of apps send.
func (s *Services) addSessions(rooms *api.Rooms, keys *account.Issuer, queue *dispatch.Enqueuer) error {
	store, err := session.New(s.DB, session.Bounds{Events: s.Settings.SessionEvents, Bytes: s.Settings.SessionBytes})
	if err != nil {
		return err
	}
	rooms.Sessions, err = apisession.New(apisession.Config{Store: store, Objects: s.Objects, Links: link.New(s.Settings.PublicURL), Keys: keys,
		Region: s.Settings.Region, Leaks: intake.NewLeaks(s.DB, s.letters(queue), s.Log), Log: s.Log})
	return err
}

// addTests adds the room of cases, suites, schedules, runs and generations, and returns
// what stops the watchers of the latter two.
func (s *Services) addTests(rooms *api.Rooms, queue *dispatch.Enqueuer) (stop func(), err error) {
	watcher := wait.NewWatcher(wait.Config{Log: s.Log,
		Ended: func(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
			return reading.Ended(ctx, s.DB, ids)
		}})
	generations := wait.NewWatcher(wait.Config{Log: s.Log,
		Ended: func(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
			return genstore.Ended(ctx, s.DB, ids)
		}})
	rooms.Tests, err = apiauthoring.New(handler.Config{DB: s.DB, Objects: s.Objects, Watcher: watcher,
		Generations: generations, Queue: queue, Quotas: s.quotas, Guard: s.guard,
		SealKeys: s.keys, PublicURL: s.Settings.PublicURL, Vendor: s.Settings.Vendor, CheckURL: s.pages.Check,
		UnsafeCapabilities: unsafeCapabilities(s.Settings), Log: s.Log})
	if err != nil {
		return nil, err
	}
	rooms.Environments, err = apienvironment.New(apienvironment.Config{DB: s.DB, SealKeys: s.keys, CheckURL: s.pages.Check,
		Vendor:             s.Settings.Vendor,
		UnsafeCapabilities: unsafeCapabilities(s.Settings)})
	if err != nil {
		return nil, err
	}
	rooms.Histories, err = apihistory.New(apihistory.Config{DB: s.DB, Tests: rooms.Tests.Base(), PublicURL: s.Settings.PublicURL})
	if err != nil {
		return nil, err
	}
	if rooms.StepGroups, err = apistepgroup.New(apistepgroup.Config{DB: s.DB, Tests: rooms.Tests.Base()}); err != nil {
		return nil, err
	}
	stopRuns, stopGenerations := StartLoop(watcher.Run), StartLoop(generations.Run)
	return func() {
		stopRuns()
		stopGenerations()
	}, nil
}
