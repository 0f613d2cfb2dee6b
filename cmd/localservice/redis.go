package localservice

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// RedisConfig configures the managed Redis.
type RedisConfig struct {
	// MaxMemoryMB is the limit in MiB beyond which writes are refused, before the
	// system ends the process. 0, the default, is no limit: the relay keeps few
	// tasks in Redis.
	MaxMemoryMB int
	// Databases is how many logical databases the server has. 0, the default,
	// leaves it at Redis's own 16.
	Databases int
	// Ephemeral keeps nothing on disk. For tests.
	Ephemeral bool
}

// Redis starts the managed Redis on the folder's data and returns when it has
// answered PING, which means that its data are loaded. A crash of the machine
// loses at most the writes of the last second, which the ledger restores.
//
// Errors: *MissingError, *StartError.
func (f *Folder) Redis(ctx context.Context, config RedisConfig) (*Server, error) {
	if config.Databases < 0 {
		return nil, fmt.Errorf("localservice: Databases is %d, must not be negative", config.Databases)
	}
	if config.MaxMemoryMB < 0 {
		return nil, fmt.Errorf("localservice: MaxMemoryMB is %d, must not be negative", config.MaxMemoryMB)
	}
	ctx, cancel, err := f.beginStart(ctx, "redis")
	if err != nil {
		return nil, err
	}
	defer cancel()
	server, err := f.redis(ctx, config)
	f.finishStart("redis", server)
	return server, err
}

func (f *Folder) redis(ctx context.Context, config RedisConfig) (*Server, error) {
	binary, err := Find(Redis)
	if err != nil {
		return nil, err
	}
	password, err := f.secret("redis")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(f.dir, "redis")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("localservice: %w", err)
	}
	file := filepath.Join(f.dir, "redis.conf")
	return f.serve(ctx, serverSpec{
		command: command{name: "redis", program: binary.Path, folder: data},
		args: func(port int) ([]string, error) {
			// In a file: everybody on the machine can read arguments.
			return []string{file}, ReplaceFile(file, []byte(redisSettings(data, port, password, config)), 0o600)
		},
		url: func(port int) url.URL {
			return url.URL{Scheme: "redis", User: url.UserPassword("", password), Host: hostPort(port), Path: "/0"}
		},
		ready: pingRedis,
	})
}

func pingRedis(ctx context.Context, address url.URL) error {
	// The port is tried first: the client logs a line for each refusal.
	var dialer net.Dialer
	look, err := dialer.DialContext(ctx, "tcp4", address.Host)
	if err != nil {
		return err
	}
	look.Close()
	password, _ := address.User.Password()
	client := redis.NewClient(&redis.Options{
		Addr: address.Host, Password: password, Protocol: 2, PoolSize: 1,
		// One try each: await repeats it, with a deadline.
		MaxRetries: -1, DialerRetries: 1, DialTimeout: time.Second, ContextTimeoutEnabled: true,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	defer client.Close()
	err = client.Ping(ctx).Err()
	var reply redis.Error
	if errors.As(err, &reply) && (strings.HasPrefix(reply.Error(), "WRONGPASS") || strings.HasPrefix(reply.Error(), "NOAUTH")) {
		return &rejectedError{err}
	}
	return err
}

// redisSettings is the text of redis.conf.
func redisSettings(data string, port int, password string, config RedisConfig) string {
	var b strings.Builder
	b.WriteString("# Written by Slipway at each start.\n")
	set := func(name, value string) { fmt.Fprintf(&b, "%s %s\n", name, value) }
	set("bind", "127.0.0.1")
	set("port", fmt.Sprint(port))
	set("protected-mode", "yes")
	set("requirepass", redisQuote(password))
	set("dir", redisQuote(data))
	set("daemonize", "no")
	set("supervised", "no")
	set("loglevel", "notice")
	set("logfile", `""`) // standard output, which is the log file
	set("save", `""`)
	if config.Ephemeral {
		set("appendonly", "no")
	} else {
		set("appendonly", "yes")
		set("appendfsync", "everysec")
	}
	// Queues must never be evicted: a full Redis refuses writes.
	set("maxmemory-policy", "noeviction")
	if config.MaxMemoryMB > 0 {
		set("maxmemory", fmt.Sprintf("%dmb", config.MaxMemoryMB))
	}
	if config.Databases > 0 {
		set("databases", fmt.Sprint(config.Databases))
	}
	return b.String()
}

// redisQuote returns a value in the form of redis.conf: in double quotes, bytes
// other than plain ASCII as \xHH. Source: sdssplitargs of Redis.
func redisQuote(value string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(value) {
		switch c := value[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
