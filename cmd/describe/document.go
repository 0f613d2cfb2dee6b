package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"github.com/slipway-qa/slipway/api"
	"github.com/slipway-qa/slipway/api/description"
	"github.com/slipway-qa/slipway/api/examples"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
)

// code is what the code says.
type code struct {
	routes     []route.Route
	owners     map[string]string
	operations map[string]*yaml.Node // by the names of their routes
	schemas    map[string]*yaml.Node
}

func readCode(rooms *api.Rooms, types []route.Types) (*code, error) {
	c := &code{routes: rooms.Routes(), owners: owners(rooms), operations: map[string]*yaml.Node{}, schemas: map[string]*yaml.Node{}}
	strict := map[string]bool{}
	for i := range c.routes {
		name := nameOf(&c.routes[i])
		c.operations[name] = operationOf(&c.routes[i])
		strict[name] = c.routes[i].Interface == respond.InterfaceV3
	}
	reflector, err := newReflector(types)
	if err != nil {
		return nil, err
	}
	for _, t := range types {
		for name, value := range t.Schemas {
			if c.schemas[name], err = reflector.answer(value); err != nil {
				return nil, fmt.Errorf("schema %s: %w", name, err)
			}
		}
		for name, value := range t.Requests {
			if c.schemas[name], err = reflector.request(value, false); err != nil {
				return nil, fmt.Errorf("schema %s: %w", name, err)
			}
		}
		for name, value := range t.Bodies {
			if err := c.addBody(reflector, strict, name, value); err != nil {
				return nil, fmt.Errorf("body of %s: %w", name, err)
			}
		}
	}
	return c, nil
}

// addBody puts the schema of a request's body into its operation.
func (c *code) addBody(r *reflector, strict map[string]bool, name string, value any) error {
	n := c.operations[name]
	if n == nil {
		return errors.New("there is no such route")
	}
	schema, err := r.request(value, strict[name])
	if err != nil {
		return err
	}
	with(n, "requestBody", jsonContent(schema))
	return nil
}

func jsonContent(schema *yaml.Node) *yaml.Node {
	return with(object(), "content", with(object(), typeJSON, with(object(), "schema", schema)))
}

// codeAlone writes what the code says of each operation and schema.
func codeAlone() ([]byte, error) {
	c, err := readCode(newRooms(), allTypes())
	if err != nil {
		return nil, err
	}
	operations, schemas, folders, failures, answers := object(), object(), object(), object(), list()
	for _, t := range allTypes() {
		for _, name := range slices.Sorted(maps.Keys(t.Schemas)) {
			answers.Content = append(answers.Content, text(name))
		}
	}
	for i := range c.routes {
		r := &c.routes[i]
		name := nameOf(r)
		with(operations, name, c.operations[name])
		with(folders, name, text(c.owners[name]))
		standard := object()
		for _, status := range []int{400, 401, 403, 404, 409, 413, 429, 500, 503} {
			if component := failureName(r.Interface, status); component != "" {
				with(standard, fmt.Sprint(status), refTo("responses", component))
			}
		}
		kind := typeJSON + " " + failureSchema(r.Interface)
		if r.Fail != nil {
			kind = "text/html"
		}
		with(failures, name, with(with(object(), "standard", standard), "kind", text(kind)))
	}
	for _, name := range slices.Sorted(maps.Keys(c.schemas)) {
		with(schemas, name, c.schemas[name])
	}
	said := with(with(with(with(with(object(), "operations", operations), "schemas", schemas), "folders", folders),
		"failures", failures), "answers", answers)
	return jsonTree(said).Text(), nil
}

// describe is the whole description.
func describe(files fs.FS) ([]byte, error) {
	c, err := readCode(newRooms(), allTypes())
	if err != nil {
		return nil, err
	}
	fragments, err := readFragments(files, "api")
	if err != nil {
		return nil, err
	}
	document, err := assemble(c, fragments)
	if err != nil {
		return nil, err
	}
	// Fragments and types are written in the words of OpenAPI 3.0.
	finished := jsonTree(document)
	if err := examples.Add(finished); err != nil {
		return nil, err
	}
	description.Modernize(finished)
	content := finished.Text()
	loaded, err := openapi3.NewLoader().LoadFromData(content)
	if err != nil {
		return nil, err
	}
	return content, loaded.Validate(context.Background())
}

// assemble puts fragments over what code says. The paths are in the order of the routes.
func assemble(c *code, fragments []*fragment) (*yaml.Node, error) {
	document, components := object(), object()
	for _, kind := range componentKinds() {
		with(components, kind, object())
	}
	for name, schema := range c.schemas {
		with(member(components, "schemas"), name, schema)
	}
	described := map[string]*yaml.Node{}
	for _, f := range fragments {
		if err := c.read(f, document, components, described); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", f.folder, fragmentName, err)
		}
	}
	paths := object()
	for i := range c.routes {
		r := &c.routes[i]
		operation := described[nameOf(r)]
		if operation == nil {
			return nil, fmt.Errorf("%s is not described: add it to %s/%s", nameOf(r), c.owners[nameOf(r)], fragmentName)
		}
		if member(paths, pathOf(r)) == nil {
			with(paths, pathOf(r), object())
		}
		operation, err := complete(r, operation)
		if err != nil {
			return nil, err
		}
		with(member(paths, pathOf(r)), strings.ToLower(r.Method), operation)
	}
	_ = members(member(components, "responses"), func(_ string, response *yaml.Node) error {
		addRequestID(response)
		return nil
	})
	for _, kind := range componentKinds() {
		if kind != "securitySchemes" { // a reader is shown them in their order
			with(components, kind, byName(member(components, kind)))
		}
	}
	with(with(document, "paths", paths), "components", components)
	return ordered(document, "openapi", "info", "servers", "tags", "paths", "components"), nil
}

// read puts one fragment into the document.
func (c *code) read(f *fragment, document, components *yaml.Node, described map[string]*yaml.Node) error {
	_ = members(member(f.root, "document"), func(name string, value *yaml.Node) error {
		with(document, name, value)
		return nil
	})
	err := members(member(f.root, "operations"), func(name string, over *yaml.Node) (err error) {
		if owner := c.owners[name]; owner != f.folder {
			return fmt.Errorf("%s is no route of this package", name)
		}
		if member(over, "deprecated") != nil {
			return fmt.Errorf("%s: its path says whether it is deprecated", name)
		}
		described[name], err = merge(c.operations[name], over, name)
		return err
	})
	if err != nil {
		return err
	}
	for _, kind := range componentKinds() {
		err := members(member(f.root, kind), func(name string, over *yaml.Node) (err error) {
			if member(components, kind, name) != nil && c.schemas[name] == nil {
				return fmt.Errorf("%s %s stands in another fragment", kind, name)
			}
			if kind == "schemas" && c.schemas[name] != nil {
				if over, err = mergeSchema(c.schemas[name], over, name); err != nil {
					return err
				}
			}
			with(member(components, kind), name, over)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
