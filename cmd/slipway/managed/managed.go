// Package managed starts the servers of slipway up, where no URL names others: PostgreSQL,
// Redis and chromedriver, and sets the settings to them.
//
// The data are below one folder, which one process holds at a time. Beside slipway up, others
// find its services by the file environment, which has the addresses and keys as shell variables:
// slipway backup reads it while slipway up runs, and starts the database itself where it does not.
//
// A machine without a program gets an error that names it and the line that installs it; without
// chromedriver all but browser tests works, so that this is a warning only.
package managed

import (
	"context"
	"net/url"
	"path/filepath"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
)

// StartTimeout bounds the start of a process; the first start creates a database.
const StartTimeout = 2 * time.Minute

// Start starts a managed server for each service without a URL and sets the
// URLs.
func Start(ctx context.Context, folder *localservice.Folder, s *setting.Settings) ([]*localservice.Server, error) {
	var servers []*localservice.Server
	pg, err := StartPostgres(ctx, folder, s)
	if err != nil {
		return nil, err
	}
	servers = append(servers, pg...)
	if s.RedisURL == "" {
		redis, err := folder.Redis(ctx, localservice.RedisConfig{})
		if err != nil {
			return nil, err
		}
		servers = append(servers, redis)
		s.RedisURL = setting.Secret(redis.URL())
	}
	return servers, Complete(folder, s)
}

// StartPostgres starts a managed PostgreSQL unless there is a URL.
func StartPostgres(ctx context.Context, folder *localservice.Folder, s *setting.Settings) ([]*localservice.Server, error) {
	if s.DatabaseURL != "" {
		return nil, nil
	}
	pg, err := folder.Postgres(ctx, localservice.PostgresConfig{})
	if err != nil {
		return nil, err
	}
	s.DatabaseURL = setting.Secret(pg.URL())
	return []*localservice.Server{pg}, nil
}

// Complete sets what needs no server: the folder of objects, and the signing key.
func Complete(folder *localservice.Folder, s *setting.Settings) error {
	if s.ObjectsURL == "" {
		s.ObjectsURL = setting.Secret("file://" + (&url.URL{Path: filepath.Join(folder.Dir(), "objects")}).EscapedPath())
	}
	if s.SigningKey == "" {
		key, err := folder.Secret(SigningKey)
		if err != nil {
			return err
		}
		s.SigningKey = setting.Secret(key)
	}
	return nil
}

// SigningKey is the name of the managed signing key.
const SigningKey = "signing-key"

// AnyDone returns a channel with the servers that ended by themselves.
func AnyDone(servers []*localservice.Server) <-chan *localservice.Server {
	ended := make(chan *localservice.Server, len(servers))
	for _, s := range servers {
		go func() {
			<-s.Done()
			ended <- s
		}()
	}
	return ended
}
