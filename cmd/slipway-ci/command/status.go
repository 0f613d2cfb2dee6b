package command

import (
	"context"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/settings"
)

// statusCommand is `status`: whether a pipeline is set up right.
type statusCommand struct{}

// statusView is the document of status.
type statusView struct {
	Program       string       `json:"program"` // its version
	Server        string       `json:"server"`
	ServerFrom    string       `json:"server_from"`
	ServerVersion string       `json:"server_version"`
	KeyFrom       string       `json:"key_from"`
	Settings      string       `json:"settings"` // path of slipway.yaml; "" for none
	CI            string       `json:"ci"`       // "" outside of a CI service
	Me            *client.Self `json:"me"`
}

// Run asks who calls.
func (*statusCommand) Run(ctx context.Context, s *Session) error {
	server, err := s.Client.ServerVersion(ctx)
	if err != nil {
		return err
	}
	me, err := s.Client.Self(ctx)
	if err != nil {
		return err
	}
	view := statusView{Program: number(), Server: s.Client.URL(""), ServerFrom: s.ServerFrom, ServerVersion: server, KeyFrom: s.KeyFrom,
		Settings: s.File.Path, CI: s.Job.Service, Me: me}
	s.Result("server    %s, version %s (%s)", view.Server, view.ServerVersion, view.ServerFrom)
	s.Result("caller    %s, %s of %s (%s)", me.Label, me.Role, me.OrganizationSlug, view.KeyFrom)
	s.Result("rights    %s", strings.Join(me.Rights, ", "))
	s.Result("settings  %s", or(view.Settings, "no "+settings.Name))
	s.Result("ci        %s", or(view.CI, "none"))
	return s.Document(view)
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
