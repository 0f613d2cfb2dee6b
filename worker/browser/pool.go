package browser

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	defaultWarm  = 2
	startTimeout = 60 * time.Second
	// hubStartTimeout: a hub may start a machine or a device first.
	hubStartTimeout = 5 * time.Minute
	// maintenanceInterval is how soon a warm browser that broke is replaced.
	maintenanceInterval = 5 * time.Second
	// customIdle is how long browsers with custom options are kept for the next lease
	// with the same options: the cases of a suite mostly have them.
	customIdle = time.Minute
	// defaultKeep: an idle browser holds some hundred MiB, and the first test after
	// a pause waits about a second for a new one.
	defaultKeep = 10 * time.Minute
	// closeTimeout bounds Close.
	closeTimeout = 10 * time.Second
	// lateTimeout is how long a session is waited for after its time was over, to end
	// it: remote ends finish what they have begun, and would keep an unused session.
	lateTimeout = 2 * time.Minute
)

// Pool leases sessions.
type Pool struct {
	cfg        Config
	hubs       []*remote
	driver     *webdriver.Client // the managed chromedriver; nil without one
	startSlots chan struct{}     // one element for each browser that starts
	life       context.Context
	cancel     context.CancelFunc
	// late outlives life: sessions that were requested may come until Close is over.
	late       context.Context
	cancelLate context.CancelFunc
	tasks      sync.WaitGroup

	version atomic.Pointer[string] // of the local browser, once known
	lastUse atomic.Int64           // when a local browser was last requested, Unix ns

	mu     sync.Mutex
	closed bool
	groups map[string]*group
	leases map[*Lease]bool

	watched watched

	// startBrowser and resetBrowser are startLocal and local.reset, except in tests of
	// the pool without browsers.
	startBrowser func(kind) (*local, error)
	resetBrowser func(context.Context, *local) error
}

// New returns a pool; it starts no browser before Run or Acquire.
func New(cfg Config) (*Pool, error) {
	if cfg.Warm <= 0 {
		cfg.Warm = defaultWarm
	}
	cfg.Limits = cfg.Limits.withDefaults()
	if cfg.Keep <= 0 {
		cfg.Keep = defaultKeep
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	// Starting a browser keeps a processor busy; more at once make all late.
	p := &Pool{cfg: cfg, startSlots: make(chan struct{}, max(2, runtime.NumCPU())),
		groups: map[string]*group{}, leases: map[*Lease]bool{}}
	if len(cfg.Hubs) > maxHubs {
		return nil, errors.New("browser: too many hubs")
	}
	for _, h := range cfg.Hubs {
		r, err := newRemote(h)
		if err != nil {
			return nil, err
		}
		p.hubs = append(p.hubs, r)
	}
	if cfg.Local != "" {
		driver, err := webdriver.New(webdriver.Config{URL: cfg.Local})
		if err != nil {
			return nil, err
		}
		p.driver = driver
	}
	p.life, p.cancel = context.WithCancel(context.Background())
	p.late, p.cancelLate = context.WithCancel(context.Background())
	p.startBrowser = p.startLocal
	p.resetBrowser = func(ctx context.Context, l *local) error { return l.reset(ctx) }
	return p, nil
}

// startTimeout returns how long the start of a session may take.
func (p *Pool) startTimeout(hub bool) time.Duration {
	switch {
	case p.cfg.StartTimeout > 0:
		return p.cfg.StartTimeout
	case hub:
		return hubStartTimeout
	}
	return startTimeout
}

// Acquire returns a lease of a session for a target, or a *SessionError.
func (p *Pool) Acquire(ctx context.Context, r Request) (*Lease, error) {
	began := time.Now()
	where := "local"
	lease, err := func() (*Lease, error) {
		if h := route(p.hubs, r.Target); h != nil {
			where = "hub"
			if len(r.Headers) > 0 || r.Certificate != "" {
				return nil, refuse("the environment has headers, or the test basicAuth or a client certificate, " +
					"which the managed browsers alone can send: this target is one of a hub")
			}
			return p.acquireHub(ctx, h, r)
		}
		return p.acquireLocal(ctx, r)
	}()
	// Errors are not logged here: messages of a remote end may quote signed links and
	// secrets, which the caller knows and redacts.
	if p.cfg.Observer != nil {
		p.cfg.Observer.SessionStarted(where, lease != nil && lease.Warm, time.Since(began), err)
	}
	return lease, err
}

// acquireLocal leases one of the managed browsers.
func (p *Pool) acquireLocal(ctx context.Context, r Request) (*Lease, error) {
	if err := checkServedHere(r.Target); err != nil {
		return nil, err
	}
	if p.driver == nil {
		return nil, refuse("no hub serves this target, and this worker has no browser of its own")
	}
	wanted := lowerText(r.Target.Capabilities, "browserVersion")
	if v := p.version.Load(); v != nil && !versionFits(wanted, *v) {
		return nil, refuse("no hub serves browserVersion %s; the browser of this worker is %s", wanted, *v)
	}
	k, timeouts, err := readKind(r)
	if err != nil {
		return nil, err
	}
	p.lastUse.Store(time.Now().UnixNano())
	if (k.tunnel != "" || k.site != "") && p.cfg.Guard == nil {
		return nil, refuse("the browsers of this worker have no tunnels, and send neither headers nor certificates")
	}
	l, warm, err := p.checkOut(ctx, k)
	if err != nil {
		return nil, p.sessionError(nil, err)
	}
	lease := &Lease{Session: l.session, Local: true, Warm: warm, lost: make(chan struct{})}
	unwatch, leave := p.watch(lease), p.watchDriver(lease, l.bidi)
	lease.release = p.releaseOnce(lease, func(broken bool) {
		unwatch()
		leave()
		p.checkIn(l, broken || lease.Exceeded() != "")
	})
	if !p.register(lease) {
		unwatch()
		leave()
		p.checkIn(l, true)
		return nil, errClosed()
	}
	if !versionFits(wanted, l.version()) {
		lease.Release(ctx, false)
		return nil, refuse("no hub serves browserVersion %s; the browser of this worker is %s", wanted, l.version())
	}
	if timeouts != (webdriver.Timeouts{}) {
		if err := l.session.SetTimeouts(ctx, timeouts); err != nil {
			lease.Release(ctx, true)
			return nil, p.sessionError(nil, err)
		}
	}
	return lease, nil
}

// register stores a lease, for Close; false when the pool is closed.
func (p *Pool) register(l *Lease) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.leases[l] = true
	return true
}

// releaseOnce returns the release of a lease, of which later calls do nothing.
func (p *Pool) releaseOnce(l *Lease, end func(broken bool)) func(context.Context, bool) {
	var once sync.Once
	return func(_ context.Context, broken bool) {
		once.Do(func() {
			p.mu.Lock()
			delete(p.leases, l)
			p.mu.Unlock()
			end(broken)
		})
	}
}

// background starts a task that Close waits for; false when the pool is closed.
func (p *Pool) background(task func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.backgroundLocked(task)
}

func (p *Pool) backgroundLocked(task func()) bool {
	if p.closed {
		return false
	}
	p.tasks.Go(task)
	return true
}

// Run keeps browsers warm until ctx ends: once a first one was requested it starts
// them, replaces those that broke or grew old, and ends them when none was requested
// for Config.Keep.
func (p *Pool) Run(ctx context.Context) {
	if p.driver == nil {
		return
	}
	ticker := time.NewTicker(maintenanceInterval)
	defer ticker.Stop()
	for {
		p.maintain()
		select {
		case <-ctx.Done():
			return
		case <-p.life.Done():
			return
		case <-ticker.C:
		}
	}
}

// maintain ends the idle browsers that broke, grew old or are not needed any more,
// and starts warm ones.
func (p *Pool) maintain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	unused := time.Since(time.Unix(0, p.lastUse.Load())) > p.cfg.Keep
	for _, g := range p.groups {
		custom := g.key != p.plainKey()
		var keep []*local
		for _, l := range g.ready {
			if l.spent() || unused || (custom && time.Since(l.idle) > customIdle) {
				p.endLocked(l)
			} else {
				keep = append(keep, l)
			}
		}
		g.ready = keep
		p.removeIfEmpty(g)
	}
	if unused {
		return
	}
	g := p.group(plainKind())
	for len(g.ready)+g.pending+g.leased < p.cfg.Warm && p.makeRoomFor(g) {
		p.startFor(g)
	}
}

// Close ends all sessions, those of leases too, within 10 s.
func (p *Pool) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	leases := make([]*Lease, 0, len(p.leases))
	for l := range p.leases {
		leases = append(leases, l)
	}
	for _, g := range p.groups {
		for _, l := range g.ready {
			p.endLocked(l)
		}
		g.ready = nil
		for _, w := range g.waiting {
			w <- delivery{err: errClosed()}
		}
		g.waiting = nil
	}
	p.mu.Unlock()
	p.cancel() // ends what is under way
	for _, l := range leases {
		l.Release(context.Background(), true)
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		p.tasks.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeTimeout):
		p.cfg.Log.Warn("some browser sessions did not end in time")
	}
	p.cancelLate()
}
