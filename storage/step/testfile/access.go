package testfile

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Access is an object of two texts: the user and password of basicAuth, the certificate and
// key of clientCertificate.
type Access [2]string

// The members of both, in their order.
var (
	basicAuth         = [2]string{"user", "password"}
	clientCertificate = [2]string{"certificate", "key"}
)

// readAccess reads an object of two texts by their names.
func readAccess(key, value *yaml.Node, names [2]string) (*Access, error) {
	if value.Kind != yaml.MappingNode {
		return nil, wrong(value.Line, "%s must have %s", key.Value, strings.Join(names[:], " and "))
	}
	var a Access
	for i := 0; i+1 < len(value.Content); i += 2 {
		name, of := value.Content[i], value.Content[i+1]
		at := -1
		for n := range names {
			if names[n] == name.Value {
				at = n
			}
		}
		if at < 0 {
			return nil, wrong(name.Line, "%s is unknown here: there are %s", name.Value, strings.Join(names[:], ", "))
		}
		text, err := textOf(name, of)
		if err != nil {
			return nil, err
		}
		a[at] = text
	}
	return &a, nil
}

func (a *Access) node(names [2]string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i, name := range names {
		n.Content = append(n.Content, textNode(name), textNode(a[i]))
	}
	return n
}
