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
	pg, err := startPostgres(ctx, folder, s)
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
		s.RedisURL = secret(redis.URL())
	}
	return servers, setManaged(folder, s)
}

// startPostgres starts a managed PostgreSQL unless there is a URL.
func startPostgres(ctx context.Context, folder *localservice.Folder, s *settings) ([]*localservice.Server, error) {
	if s.DatabaseURL != "" {
		return nil, nil
	}
	pg, err := folder.Postgres(ctx, localservice.PostgresConfig{})
	if err != nil {
		return nil, err
	}
	s.DatabaseURL = secret(pg.URL())
	return []*localservice.Server{pg}, nil
}

// setManaged sets what needs no server: the folder of objects, and the signing key.
func setManaged(folder *localservice.Folder, s *settings) error {
	if s.ObjectsURL == "" {
		s.ObjectsURL = secret("file://" + (&url.URL{Path: filepath.Join(folder.Dir(), "objects")}).EscapedPath())
	}
	if s.SigningKey == "" {
		key, err := folder.Secret(signingKeySecret)
		if err != nil {
			return err
		}
		s.SigningKey = secret(key)
	}
	return nil
}

// signingKeySecret is the name of the managed signing key.
const signingKeySecret = "signing-key"

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
