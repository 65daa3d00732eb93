package main

import (
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"

	"sigs.k8s.io/structured-merge-diff/fieldpath"
	"sigs.k8s.io/structured-merge-diff/merge"
	"sigs.k8s.io/structured-merge-diff/typed"
)

// The kind of client.go, as the library wants to be told of it.
const librarySchema = `types:
- name: widget
  map:
    fields:
    - {name: spec, type: {namedType: spec}}
- name: spec
  map:
    fields:
    - {name: a, type: {scalar: numeric}}
    - {name: b, type: {scalar: numeric}}
    - {name: map, type: {map: {elementType: {scalar: numeric}}}}
    - {name: whole, type: {map: {elementType: {scalar: numeric}, elementRelationship: atomic}}}
    - {name: set, type: {namedType: set}}
    - {name: list, type: {list: {elementType: {scalar: numeric}, elementRelationship: atomic}}}
    - {name: ports, type: {namedType: ports}}
    - {name: inner, type: {namedType: inner}}
- name: set
  list: {elementType: {scalar: string}, elementRelationship: associative}
- name: ports
  list: {elementType: {namedType: port}, elementRelationship: associative, keys: [port, protocol]}
- name: port
  map:
    fields:
    - {name: port, type: {scalar: numeric}}
    - {name: protocol, type: {scalar: string}}
    - {name: x, type: {scalar: numeric}}
    - {name: "y", type: {scalar: numeric}}
    - {name: tags, type: {namedType: set}}
- name: inner
  map:
    fields:
    - {name: p, type: {scalar: numeric}}
    - {name: q, type: {scalar: numeric}}
    - {name: deep, type: {namedType: deep}}
- name: deep
  map:
    fields:
    - {name: set, type: {namedType: set}}
`

const version = fieldpath.APIVersion("v1")

// A state is what there is after a write.
type state struct {
	spec      interface{}
	owners    map[string]*fieldpath.Set // by manager and operation; only of the spec
	conflicts []string                  // manager and path
}

func describe(owners map[string]*fieldpath.Set) string {
	var lines []string
	for name, set := range owners {
		lines = append(lines, fmt.Sprintf("  %s: %v", name, set))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// matches compares values but for what the library does otherwise:
//   - it leaves null where it has taken everything out of a map or list, which no schema here allows;
//     the server leaves it empty or leaves nothing;
//   - it has changed its mind about the order of sets and keyed lists since (now the applied order
//     wins, which is what the server does).
func matches(want, got interface{}, name string) bool {
	switch w := want.(type) {
	case nil:
		return got == nil || reflect.ValueOf(got).Len() == 0
	case map[string]interface{}:
		g, ok := got.(map[string]interface{})
		for key := range g {
			_, known := w[key]
			ok = ok && known
		}
		for key := range w {
			ok = ok && matches(w[key], g[key], key)
		}
		return ok
	case []interface{}:
		g, ok := got.([]interface{})
		if !ok || len(g) != len(w) {
			return false
		}
		if name == "set" || name == "tags" || name == "ports" {
			w, g = byKey(w), byKey(g)
		}
		for i := range w {
			ok = ok && matches(w[i], g[i], "")
		}
		return ok
	}
	return reflect.DeepEqual(want, got)
}

// byKey sorts the items of a set or of the ports.
func byKey(list []interface{}) []interface{} {
	key := func(item interface{}) string {
		if port, ok := item.(map[string]interface{}); ok {
			return text([]interface{}{port["port"], port["protocol"]})
		}
		return text(item)
	}
	sorted := append([]interface{}{}, list...)
	sort.Slice(sorted, func(a, b int) bool { return key(sorted[a]) < key(sorted[b]) })
	return sorted
}

// follow takes over what the server has in those places.
func (m *model) follow(got *state) error {
	object := map[string]interface{}{}
	if got.spec != nil {
		object["spec"] = copied(got.spec)
	}
	live, err := m.typed(object)
	if err == nil {
		m.live = live
	}
	return err
}

// differs says how; nothing when it does not.
func (want *state) differs(got *state) string {
	same := len(want.owners) == len(got.owners)
	for name, set := range want.owners {
		same = same && got.owners[name] != nil && got.owners[name].Equals(set)
	}
	if same && matches(want.spec, got.spec, "") &&
		reflect.DeepEqual(want.conflicts, got.conflicts) {
		return ""
	}
	return fmt.Sprintf("the library: %s\n%s\n%v\nthe server: %s\n%s\n%v", text(want.spec),
		describe(want.owners), want.conflicts, text(got.spec), describe(got.owners), got.conflicts)
}

// A model is the object as the library has it.
type model struct {
	parser   *typed.Parser
	updater  merge.Updater
	live     *typed.TypedValue
	managers fieldpath.ManagedFields
	exists   bool
}

// There is one version.
type noConverter struct{}

func (noConverter) Convert(v *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return v, nil
}
func (noConverter) IsMissingVersionError(error) bool { return false }

func newModel() (*model, error) {
	parser, err := typed.NewParser(librarySchema)
	if err != nil {
		return nil, err
	}
	m := &model{parser: parser, updater: merge.Updater{Converter: noConverter{}},
		managers: fieldpath.ManagedFields{}}
	m.live, err = m.typed(map[string]interface{}{})
	return m, err
}

func (m *model) typed(object map[string]interface{}) (*typed.TypedValue, error) {
	return m.parser.Type("widget").FromUnstructured(object)
}

func (m *model) spec() map[string]interface{} {
	object, _ := copied(m.live.AsValue().Unstructured()).(map[string]interface{})
	spec, _ := object["spec"].(map[string]interface{})
	return spec
}

// losses are the conflicts of an apply: what it would set, forced, of what others own. The library
// lists them too, but some twice in place of others (their paths share memory).
func (m *model) losses(w write) ([]string, error) {
	next, err := m.typed(map[string]interface{}{"spec": copied(w.spec)})
	if err != nil {
		return nil, err
	}
	forced, _, err := m.updater.Apply(m.live, next, version, m.managers.Copy(), w.manager+" Apply",
		true)
	if err != nil || forced == nil {
		return nil, err
	}
	changes, err := m.live.Compare(forced)
	if err != nil {
		return nil, err
	}
	taken := changes.Modified.Union(changes.Added)
	var lost []string
	for name, before := range m.managers {
		if name == w.manager+" Apply" {
			continue
		}
		before.Set().Intersection(taken).Iterate(func(path fieldpath.Path) {
			lost = append(lost, strings.Fields(name)[0]+" "+path.String())
		})
	}
	sort.Strings(lost)
	return lost, nil
}

// remember is what Kubernetes does around the library: what an object has that nobody is known to own
// was there before the first apply.
func (m *model) remember(w write) error {
	if !w.apply || !m.exists || len(m.managers) > 0 {
		return nil
	}
	empty, err := m.typed(map[string]interface{}{})
	if err == nil {
		_, m.managers, err = m.updater.Update(empty, m.live, version, m.managers,
			"before-first-apply Update")
	}
	return err
}

// write: a conflict changes nothing.
func (m *model) write(w write) (*state, error) {
	next, err := m.typed(map[string]interface{}{"spec": copied(w.spec)})
	if err != nil {
		return nil, err
	}
	if err := m.remember(w); err != nil {
		return nil, err
	}
	managers := m.managers.Copy()
	var result state
	if w.apply {
		next, managers, err = m.updater.Apply(m.live, next, version, managers, w.manager+" Apply",
			w.force)
	} else {
		next, managers, err = m.updater.Update(m.live, next, version, managers, w.manager+" Update")
	}
	var conflicts merge.Conflicts
	if errors.As(err, &conflicts) {
		result.conflicts, err = m.losses(w)
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	} else {
		m.managers, m.exists = managers, true
		if next != nil {
			m.live = next
		}
	}
	object, _ := copied(m.live.AsValue().Unstructured()).(map[string]interface{})
	result.spec = object["spec"]
	result.owners = map[string]*fieldpath.Set{}
	for name, set := range m.managers {
		result.owners[name] = set.Set()
	}
	return &result, nil
}
