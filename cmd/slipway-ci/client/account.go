package client

import (
	"context"
)

// Self is who calls, and what they may do.
type Self struct {
	ID               int64    `json:"id"`
	Kind             string   `json:"kind"` // person or service
	Username         string   `json:"username"`
	Email            string   `json:"email"`
	Label            string   `json:"label"` // as the audit names them
	Role             string   `json:"role"`
	OrganizationID   int64    `json:"organization_id"`
	OrganizationSlug string   `json:"organization_slug"`
	Rights           []string `json:"rights"` // actions: builds.upload
}

// Self returns who calls.
func (c *Client) Self(ctx context.Context) (*Self, error) {
	var out struct {
		Me Self `json:"me"`
	}
	err := c.Get(ctx, "/api/v3/me", nil, &out)
	return &out.Me, err
}

// ServerVersion returns the version of the server; it takes no key.
func (c *Client) ServerVersion(ctx context.Context) (string, error) {
	var out struct {
		Version string `json:"version"`
	}
	err := c.Get(ctx, "/healthz", nil, &out)
	return out.Version, err
}
