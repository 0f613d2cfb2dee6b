package main

import (
	"context"
	"net/url"
	"path/filepath"

	"github.com/slipway-qa/slipway/cmd/localservice"
)

// startManaged starts a managed server for each service without a URL and sets the
// URLs.
func startManaged(ctx context.Context, folder *localservice.Folder, s *settings) ([]*localservice.Server, error) {
	var servers []*localservice.Server
	if s.DatabaseURL == "" {
		pg, err := folder.Postgres(ctx, localservice.PostgresConfig{})
		if err != nil {
			return nil, err
		}
		servers = append(servers, pg)
		s.DatabaseURL = secret(pg.URL())
	}
	if s.RedisURL == "" {
		redis, err := folder.Redis(ctx, localservice.RedisConfig{})
		if err != nil {
			return nil, err
		}
		servers = append(servers, redis)
		s.RedisURL = secret(redis.URL())
	}
	if s.ObjectsURL == "" {
		s.ObjectsURL = secret("file://" + (&url.URL{Path: filepath.Join(folder.Dir(), "objects")}).EscapedPath())
	}
	if s.SigningKey == "" {
		key, err := folder.Secret("signing-key")
		if err != nil {
			return nil, err
		}
		s.SigningKey = secret(key)
	}
	return servers, nil
}

// anyDone returns a channel with the servers that ended by themselves.
func anyDone(servers []*localservice.Server) <-chan *localservice.Server {
	ended := make(chan *localservice.Server, len(servers))
	for _, s := range servers {
		go func() {
			<-s.Done()
			ended <- s
		}()
	}
	return ended
}
