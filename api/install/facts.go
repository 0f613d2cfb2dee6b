package install

import (
	"strings"

	"github.com/slipway-qa/slipway/storage/distribution"
)

// fact is one line of what there is to say of a build.
type fact struct {
	Name, Value string
	Code        bool // to be shown letter by letter
	Time        string
}

// facts are what stands beside version, platform and size, which the head shows.
func facts(b *distribution.Build) []fact {
	return present([]fact{
		{Name: "Requires", Value: orNewer(minimumOS(b))},
		{Name: "Uploaded", Value: day(b.CreatedAt), Time: b.CreatedAt.UTC().Format("2006-01-02")},
		profileFact(b),
	})
}

func orNewer(system string) string {
	if system == "" {
		return ""
	}
	return system + " or newer"
}

func profileFact(b *distribution.Build) fact {
	end := profileEnd(b)
	if end == nil {
		return fact{}
	}
	return fact{Name: "Valid until", Value: day(*end), Time: end.UTC().Format("2006-01-02")}
}

// details are for who has to tell one build from another.
func details(b *distribution.Build) []fact {
	list := []fact{
		{Name: "Package", Value: b.PackageName, Code: true},
		{Name: "File", Value: b.FileName, Code: true},
		{Name: "Processors", Value: strings.Join(b.ABIs, ", ")},
		{Name: "SHA-256", Value: b.File.SHA256, Code: true},
	}
	if b.Signer != nil {
		list = append(list, fact{Name: "Signer", Value: b.Signer.SHA256, Code: true})
	}
	if b.Provisioning != nil {
		list = append(list, fact{Name: "Profile", Value: b.Provisioning.Name},
			fact{Name: "Team", Value: b.Provisioning.TeamName})
	}
	return present(list)
}

func present(list []fact) []fact {
	var kept []fact
	for _, f := range list {
		if f.Value != "" {
			kept = append(kept, f)
		}
	}
	return kept
}
