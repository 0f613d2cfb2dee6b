package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"
)

// fragmentName is the file of a package that says of its routes and types what code cannot.
const fragmentName = "openapi.yaml"

// fragment is such a file. Beside the members of OpenAPI it has short forms: where OpenAPI
// has an object, a word is the name of a component; a schema right below a response or a
// body is that of application/json; and forms names the forms that a body may be sent as.
type fragment struct {
	folder string
	root   *yaml.Node
}

// componentKinds are the members of components, which a fragment has beside its operations.
func componentKinds() []string {
	return []string{"schemas", "responses", "parameters", "headers", "securitySchemes"}
}

// readFragments reads the files of all folders below one.
func readFragments(files fs.FS, below string) ([]*fragment, error) {
	var all []*fragment
	err := fs.WalkDir(files, below, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || path.Base(name) != fragmentName || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		root, err := parseFragment(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, &fragment{path.Dir(name), root})
		return nil
	})
	return all, err
}

// parseFragment reads a file, and writes its short forms out.
func parseFragment(content []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	if document.Kind != yaml.DocumentNode || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("is no object")
	}
	root := document.Content[0]
	if err := checkTree(root); err != nil {
		return nil, err
	}
	err := members(root, func(name string, value *yaml.Node) error {
		if name != "document" && name != "tag" && name != "operations" && !slices.Contains(componentKinds(), name) {
			return fmt.Errorf("%s is no member of a fragment", name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for kind, expand := range map[string]func(*yaml.Node){"schemas": expandSchema, "responses": expandResponse, "parameters": expandParameter,
		"headers": expandParameter, "operations": expandOperation} {
		_ = members(member(root, kind), func(_ string, value *yaml.Node) error {
			expand(value)
			return nil
		})
	}
	if tag := member(root, "tag"); tag != nil {
		_ = members(member(root, "operations"), func(_ string, operation *yaml.Node) error {
			if member(operation, "tags") == nil {
				with(operation, "tags", list(text(tag.Value)))
			}
			return nil
		})
	}
	return root, nil
}

// expandName makes a reference of a word.
func expandName(kind string, n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	if n.ShortTag() == "!!str" {
		*n = *refTo(kind, n.Value)
	}
	return true
}

func expandSchema(n *yaml.Node) {
	if expandName("schemas", n) {
		return
	}
	_ = members(n, func(name string, value *yaml.Node) error {
		switch name {
		case "properties":
			return members(value, func(_ string, schema *yaml.Node) error {
				expandSchema(schema)
				return nil
			})
		case "items", "not", "additionalProperties":
			expandSchema(value)
		case "allOf", "anyOf", "oneOf":
			for _, schema := range value.Content {
				expandSchema(schema)
			}
		}
		return nil
	})
}

// expandParameter is for headers as well.
func expandParameter(n *yaml.Node) {
	if schema := member(n, "schema"); schema != nil {
		expandSchema(schema)
	}
}

func expandResponse(n *yaml.Node) {
	if expandName("responses", n) {
		return
	}
	_ = members(member(n, "headers"), func(_ string, header *yaml.Node) error {
		if !expandName("headers", header) {
			expandParameter(header)
		}
		return nil
	})
	expandContent(n)
}

const typeJSON = "application/json"

// expandContent moves what stands right below a response or a body to its media type.
func expandContent(n *yaml.Node) {
	media := object()
	for _, name := range []string{"schema", "example", "examples"} {
		if value := without(n, name); value != nil {
			with(media, name, value)
		}
	}
	if len(media.Content) > 0 {
		content := with(object(), typeJSON, media)
		if others := without(n, "content"); others != nil {
			content.Content = append(content.Content, others.Content...)
		}
		with(n, "content", content)
	}
	_ = members(member(n, "content"), func(_ string, media *yaml.Node) error {
		expandParameter(media)
		return nil
	})
}

func expandOperation(n *yaml.Node) {
	if parameters := member(n, "parameters"); parameters != nil {
		for _, parameter := range parameters.Content {
			if !expandName("parameters", parameter) {
				expandParameter(parameter)
			}
		}
	}
	if body := member(n, "requestBody"); body != nil {
		expandContent(body)
	}
	_ = members(member(n, "responses"), func(_ string, response *yaml.Node) error {
		expandResponse(response)
		return nil
	})
}
