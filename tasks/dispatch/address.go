package dispatch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisConfig says where Redis is and how to sign in. Sentinels are servers of their own:
// their user, password and TLS have nothing to do with those of the servers with the data.
type RedisConfig struct {
	// URL is one of
	//
	//	redis://user:password@host:port/db
	//	redis-sentinel://user:password@host1:port,host2:port/db?master=NAME
	//	redis-cluster://user:password@host1:port,host2:port
	//
	// or rediss://, rediss-sentinel://, rediss-cluster:// for servers with TLS. User,
	// password, db and TLS are those of the servers with the data. The addresses after
	// redis-sentinel:// are those of the Sentinels, best all of them; master is the name by
	// which they know the data. Parameters:
	//
	//	ca            file with the authorities (PEM) that sign the servers' certificates
	//	sentinel_user user of the Sentinels
	//	sentinel_tls  whether the Sentinels have TLS; default: as the servers
	//	sentinel_ca   as ca, for the Sentinels; default: as the servers
	URL string
	// Password of the servers with the data, where the URL has none.
	Password string
	// SentinelPassword is the password of the Sentinels; "" where they want none.
	SentinelPassword string
	// Hook, if set, sees each command, asynq's too: a test counts them with it.
	Hook redis.Hook
}

const (
	redisPort    = "6379"
	sentinelPort = "26379"
	// dialTimeout bounds one attempt to connect. Redis is near. The driver's own five times
	// four of five seconds each would keep a process, which is told to stop, for longer than
	// its stop may take.
	dialTimeout = 2 * time.Second
)

// address is a RedisConfig that has been read. It is an asynq.RedisConnOpt: asynq's server,
// scheduler and console get their clients from it.
type address struct {
	options   redis.UniversalOptions // without what concerns Sentinels, but MasterName
	hook      redis.Hook
	cluster   bool
	sentinels []string // host:port
	sentinel  struct {
		user, password string
		tls            *tls.Config
	}
}

// parseAddress reads a configuration. Errors name what is wrong and never repeat the URL,
// which may hold a password.
func parseAddress(c RedisConfig) (*address, error) {
	u, hosts, err := splitHosts(c.URL)
	if err != nil {
		return nil, err
	}
	kind, secure := strings.TrimPrefix(u.Scheme, "rediss"), true
	if kind == u.Scheme {
		kind, secure = strings.TrimPrefix(u.Scheme, "redis"), false
	}
	known, port := []string{"ca"}, redisPort
	a := &address{hook: c.Hook}
	switch {
	case kind == u.Scheme, kind != "" && kind != "-sentinel" && kind != "-cluster":
		return nil, errors.New("redis URL: must be redis://, rediss://, redis-sentinel://host:port,host:port?master=NAME or " +
			"redis-cluster://host:port,host:port")
	case kind == "" && len(hosts) > 1:
		return nil, errors.New("redis URL: several addresses need redis-sentinel:// or redis-cluster://")
	case kind == "-sentinel":
		known, port = []string{"ca", "master", "sentinel_user", "sentinel_tls", "sentinel_ca"}, sentinelPort
	case kind == "-cluster":
		a.cluster = true
	}
	if hosts, err = completeHosts(hosts, port); err != nil {
		return nil, err
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("redis URL: cannot read what follows the question mark")
	}
	for name := range q {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("redis URL: unknown parameter %q; known for this kind are %s", name, strings.Join(known, ", "))
		}
	}
	if err := a.credentials(u, c); err != nil {
		return nil, err
	}
	if a.options.TLSConfig, err = secureBy(secure, q.Get("ca")); err != nil {
		return nil, err
	}
	if kind != "-sentinel" {
		a.options.Addrs = hosts
		return a, nil
	}
	a.sentinels = hosts
	if a.options.MasterName = q.Get("master"); a.options.MasterName == "" {
		return nil, errors.New("redis URL: redis-sentinel:// needs ?master=NAME, the name by which the Sentinels know the data")
	}
	return a, a.sentinelAccess(q, secure, c.SentinelPassword)
}

// credentials reads user, password and database.
func (a *address) credentials(u *url.URL, c RedisConfig) error {
	a.options.Username = u.User.Username()
	a.options.Password = c.Password
	if inURL, set := u.User.Password(); set {
		a.options.Password = inURL
	}
	path := strings.Trim(u.Path, "/")
	if path == "" {
		return nil
	}
	db, err := strconv.Atoi(path)
	if err != nil || db < 0 {
		return errors.New("redis URL: the path must be the number of the database")
	}
	if a.cluster && db != 0 {
		return errors.New("redis URL: a cluster has database 0 only")
	}
	a.options.DB = db
	return nil
}

func (a *address) sentinelAccess(q url.Values, secure bool, password string) error {
	a.sentinel.user, a.sentinel.password = q.Get("sentinel_user"), password
	ca := q.Get("sentinel_ca")
	if ca == "" {
		ca = q.Get("ca")
	}
	if text := q.Get("sentinel_tls"); text != "" {
		var err error
		if secure, err = strconv.ParseBool(text); err != nil {
			return errors.New("redis URL: sentinel_tls must be true or false")
		}
	}
	var err error
	a.sentinel.tls, err = secureBy(secure, ca)
	return err
}

// splitHosts parses a URL whose host may be a list.
func splitHosts(text string) (*url.URL, []string, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return nil, nil, errors.New("redis URL: must begin with redis://, rediss://, redis-sentinel:// or redis-cluster://")
	}
	authority, tail := rest, ""
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		authority, tail = rest[:at], rest[at:]
	}
	user, list := "", authority
	if at := strings.LastIndex(authority, "@"); at >= 0 {
		user, list = authority[:at+1], authority[at+1:]
	}
	hosts := strings.Split(list, ",")
	// The first host stands for all: net/url knows no lists.
	u, err := url.Parse(scheme + "://" + user + hosts[0] + tail)
	if err != nil {
		return nil, nil, errors.New("redis URL: cannot be read; special characters of a password must be percent-encoded")
	}
	return u, hosts, nil
}

// completeHosts adds the port where there is none.
func completeHosts(hosts []string, port string) ([]string, error) {
	list := make([]string, len(hosts))
	for i, h := range hosts {
		u, err := url.Parse("//" + strings.TrimSpace(h))
		if err != nil || u.Hostname() == "" {
			return nil, fmt.Errorf("redis URL: address %d is not host:port", i+1)
		}
		p := u.Port()
		if p == "" {
			p = port
		}
		list[i] = net.JoinHostPort(u.Hostname(), p)
	}
	return list, nil
}

// secureBy returns nil without TLS.
func secureBy(secure bool, ca string) (*tls.Config, error) {
	if !secure {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca == "" {
		return c, nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("redis URL: authorities: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("redis URL: no certificate in %s", ca)
	}
	return c, nil
}

// MakeRedisClient returns a new client, as asynq asks for one.
func (a *address) MakeRedisClient() any { return a.client() }

func (a *address) client() redis.UniversalClient {
	o := a.options
	o.DialTimeout, o.DialerRetries = dialTimeout, 1
	o.ContextTimeoutEnabled = true // else the deadline of a command holds for its dial alone
	var client redis.UniversalClient
	switch {
	case len(a.sentinels) > 0:
		f := o.Failover()
		f.SentinelAddrs, f.SentinelUsername, f.SentinelPassword = a.sentinels, a.sentinel.user, a.sentinel.password
		f.Dialer, f.TLSConfig = a.dial, nil
		client = redis.NewFailoverClient(f)
	case a.cluster:
		client = a.clusterClient(o)
	default:
		plain := o.Simple()
		// Once for each attempt of a command: with the driver's five times four, a server
		// that hangs keeps a process that is told to stop for longer than a stop may take.
		plain.DialerRetries, plain.ContextTimeoutEnabled = 1, true
		client = redis.NewClient(plain)
	}
	client.AddHook(unavailableHook{})
	if a.hook != nil {
		client.AddHook(a.hook)
	}
	return client
}

// probe returns a client for checks that tries once: a check is asked again soon, and its
// reason should not be that it ran out of time between two tries. Those of Sentinels and
// clusters dial in ways of their own, and are used as they are.
func (a *address) probe(client redis.UniversalClient) redis.UniversalClient {
	if len(a.sentinels) > 0 || a.cluster {
		return client
	}
	o := a.options.Simple()
	o.DialTimeout, o.DialerRetries, o.MaxRetries, o.ContextTimeoutEnabled = dialTimeout, 1, -1, true
	probe := redis.NewClient(o)
	probe.AddHook(unavailableHook{})
	return probe
}

// host returns the addresses of the URL, for messages.
func (a *address) host() string {
	if len(a.sentinels) > 0 {
		return strings.Join(a.sentinels, ",")
	}
	return strings.Join(a.options.Addrs, ",")
}

// dial connects to a Sentinel or to a server with the data, each by its own TLS: the client
// has one dialer for both. Sentinels are those that the URL names. Others, of which the
// client hears from these, are taken for servers: where TLS differs they are not reached,
// and not needed while one that the URL names is up.
func (a *address) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	secure := a.options.TLSConfig
	if slices.Contains(a.sentinels, addr) {
		secure = a.sentinel.tls
	}
	plain := &net.Dialer{Timeout: dialTimeout}
	if secure == nil {
		return plain.DialContext(ctx, network, addr)
	}
	// The name in the certificate is that of each address.
	return (&tls.Dialer{NetDialer: plain, Config: secure}).DialContext(ctx, network, addr)
}

// explain says of a failure which server did not let us in, and for Sentinels whether it was
// they or the server that they name.
func (a *address) explain(ctx context.Context, err error) error {
	if len(a.sentinels) == 0 {
		return fmt.Errorf("%s: %w", a.host(), err)
	}
	var refusals []error
	for _, addr := range a.sentinels {
		master, refusal := a.ask(ctx, addr)
		if refusal == nil {
			return fmt.Errorf("%s, which the Sentinels name: %w", master, err)
		}
		refusals = append(refusals, refusal)
	}
	return fmt.Errorf("no Sentinel names the server: %w", errors.Join(refusals...))
}

// ask returns the address that a Sentinel has for the data.
func (a *address) ask(ctx context.Context, addr string) (string, error) {
	c := redis.NewSentinelClient(&redis.Options{Addr: addr, Username: a.sentinel.user, Password: a.sentinel.password,
		Dialer: a.dial, MaxRetries: -1, DialerRetries: 1})
	defer c.Close()
	master, err := c.GetMasterAddrByName(ctx, a.options.MasterName).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return "", &UnavailableError{Err: fmt.Errorf("sentinel at %s does not know %q: %w", addr, a.options.MasterName, err), Sentinel: true}
	case err != nil:
		return "", fmt.Errorf("sentinel at %s: %w", addr, &UnavailableError{Err: err, Sentinel: true})
	}
	return net.JoinHostPort(master[0], master[1]), nil
}
