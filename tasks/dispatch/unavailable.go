package dispatch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// ErrUnavailable means that Redis cannot serve, whatever is asked of it.
var ErrUnavailable = errors.New("redis not available")

const (
	// checkKey is what Check writes: a server that is out of memory, or a replica,
	// responds to a ping and refuses to write.
	checkKey = "slipway:check"
	checkTTL = time.Minute
)

// Check returns nil when Redis takes a value, and a cluster all of its parts. The error names the server that does not, of
// Sentinels and the server that they name too, and the reason.
func (r *Redis) Check(ctx context.Context) error {
	var err error
	if cluster, ok := r.probe.(*redis.ClusterClient); ok {
		err = checkCluster(ctx, cluster)
	} else {
		err = r.probe.Set(ctx, checkKey, "1", checkTTL).Err()
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("write to redis: %w", r.opt.explain(ctx, err))
}

// Host returns the address, several of them for Sentinels and clusters; never a password.
func (r *Redis) Host() string { return r.opt.host() }

// UnavailableError is an error of a server that cannot serve.
type UnavailableError struct {
	Err error
	// Sentinel: it is not the server with the data, but a Sentinel that was asked for it.
	Sentinel bool
}

// Error begins with the words of ErrUnavailable: asynq passes on the text of an error and
// not the error, and they are found again in it.
func (e *UnavailableError) Error() string {
	text := e.Err.Error()
	if strings.Contains(text, unavailableMark) {
		return text
	}
	return unavailableMark + text
}

var unavailableMark = ErrUnavailable.Error() + ": "

// FromAsynq marks an error of asynq that repeats the text of a server that cannot serve.
func FromAsynq(err error) error {
	if err == nil || errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), unavailableMark) {
		return err
	}
	return &UnavailableError{Err: err}
}

// Unwrap returns the cause and ErrUnavailable.
func (e *UnavailableError) Unwrap() []error { return []error{e.Err, ErrUnavailable} }

// Reason returns why in a few words without host, user or secret; "" where no more is
// known.
func (e *UnavailableError) Reason() string {
	if e.Sentinel {
		return "Sentinel: " + e.reason()
	}
	return e.reason()
}

func (e *UnavailableError) reason() string {
	var (
		dns    *net.DNSError
		cert   *tls.CertificateVerificationError
		issuer x509.UnknownAuthorityError
		record tls.RecordHeaderError
		dial   net.Error
	)
	text := e.Err.Error()
	_, quoted, _ := strings.Cut(text, unavailableMark) // by asynq
	for prefix, words := range refusals() {
		if strings.HasPrefix(text, prefix) || strings.HasPrefix(quoted, prefix) {
			return words
		}
	}
	switch {
	case strings.HasSuffix(quoted, "connection refused"):
		return "connection refused"
	case strings.HasSuffix(quoted, "timeout"), strings.HasSuffix(quoted, "deadline exceeded"):
		return "timeout"
	case errors.Is(e.Err, redis.Nil):
		return "it does not know the name of the data"
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(e.Err, &dns):
		return "host name not resolved"
	case errors.As(e.Err, &cert), errors.As(e.Err, &issuer):
		return "its certificate is not trusted"
	case errors.As(e.Err, &record):
		return "it does not speak TLS"
	case errors.Is(e.Err, os.ErrDeadlineExceeded), errors.Is(e.Err, context.DeadlineExceeded), errors.As(e.Err, &dial) && dial.Timeout():
		return "timeout"
	}
	return "not reachable"
}

// refusals are the first words of what a server says that cannot serve
// (redis.io/docs/latest/develop/reference/protocol-spec, and the server's own texts).
func refusals() map[string]string {
	return map[string]string{
		"OOM ":                         "out of memory",
		"MISCONF ":                     "it cannot write to its disk",
		"READONLY ":                    "it is a replica",
		"NOAUTH ":                      "it asks for a password",
		"WRONGPASS ":                   "it refuses the password",
		"NOPERM ":                      "it refuses the user",
		"LOADING ":                     "it is starting",
		"MASTERDOWN ":                  "its master is away",
		"CLUSTERDOWN ":                 "its cluster is down",
		"MOVED ":                       "its cluster is moving data",
		"ASK ":                         "its cluster is moving data",
		"TRYAGAIN ":                    "its cluster is moving data",
		"redis: cluster has no nodes":  "no server of its cluster is known",
		"ERR AUTH ":                    "it refuses the password",
		"ERR invalid password":         "it refuses the password",
		"ERR max number of clients":    "too many connections",
		"ERR DB index is out of range": "there is no database of that number",
	}
}

// unavailable marks an error of a server that cannot serve.
func unavailable(err error) error {
	if err == nil || errors.Is(err, redis.Nil) || errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
		return err
	}
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, redis.ErrPoolTimeout) {
		return &UnavailableError{Err: err}
	}
	for prefix := range refusals() {
		if strings.HasPrefix(err.Error(), prefix) {
			return &UnavailableError{Err: err}
		}
	}
	return err
}

// unavailableHook marks what commands return.
type unavailableHook struct{}

// DialHook implements redis.Hook.
func (unavailableHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (unavailableHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if marked := unavailable(err); marked != err { //nolint:errorlint // the same value, not one that it wraps
			cmd.SetErr(marked)
			return marked
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (unavailableHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return unavailable(next(ctx, cmds)) }
}

// AsynqLog passes the messages of asynq's own servers and schedulers on. Warnings and
// errors name Redis as the dependency that they are about, or have the error of Redis that
// they repeat, so that those of an outage can be told from others.
type AsynqLog struct{ Log *slog.Logger }

var _ asynq.Logger = AsynqLog{}

// Debug implements asynq.Logger.
func (l AsynqLog) Debug(args ...any) {
	l.Log.Debug("asynq", "message", fmt.Sprint(args...), "routine", true)
}

// Info implements asynq.Logger.
func (l AsynqLog) Info(args ...any) {
	l.Log.Info("asynq", "message", fmt.Sprint(args...), "routine", true)
}

// Warn implements asynq.Logger.
func (l AsynqLog) Warn(args ...any) { l.Log.Warn("asynq", about(fmt.Sprint(args...))...) }

// Error implements asynq.Logger.
func (l AsynqLog) Error(args ...any) { l.Log.Error("asynq", about(fmt.Sprint(args...))...) }

// Fatal is what asynq calls when it cannot go on; the process decides itself
// when to end, so it is an error like others.
func (l AsynqLog) Fatal(args ...any) { l.Error(args...) }

// about returns the attributes of a warning or an error.
func about(text string) []any {
	if err := FromAsynq(errors.New(text)); errors.Is(err, ErrUnavailable) {
		return []any{"error", err}
	}
	if strings.HasPrefix(text, "recovering from panic") { // a defect, and not Redis's
		return []any{"message", text}
	}
	return []any{"message", text, "dependency", "redis"}
}
