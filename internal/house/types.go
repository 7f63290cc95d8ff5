package main

import (
	"go/types"
	"maps"
	"slices"
	"strings"
)

// typeCounts contains the measures of types, the largest finding first.
type typeCounts struct {
	methods, allMethods []finding // own, and with those that embedding promotes
	fields, allFields   []finding // without those of structs that only hold data
	embedded            []finding // structs with the types that embed them
	interfaces          []finding
}

// types measures the named types of the product.
func (h *tree) types() typeCounts {
	var c typeCounts
	embedders := make(map[string][]string)
	for _, p := range h.product() {
		for _, name := range p.Types.Scope().Names() {
			obj, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !ok || obj.IsAlias() {
				continue
			}
			named, ok := obj.Type().(*types.Named)
			if !ok {
				continue
			}
			what := h.typeName(named)
			switch u := named.Underlying().(type) {
			case *types.Interface:
				c.interfaces = append(c.interfaces, finding{n: u.NumMethods(), what: what})
			case *types.Struct:
				for f := range u.Fields() {
					if e := embeds(f); e != nil && h.isOurs(e) {
						embedders[h.typeName(e)] = append(embedders[h.typeName(e)], what)
					}
				}
				if named.NumMethods() > 0 && !isData(u) {
					c.fields = append(c.fields, finding{n: u.NumFields(), what: what})
					if n := len(h.reachable(u, make(map[*types.Struct]bool))); n > u.NumFields() {
						c.allFields = append(c.allFields, finding{n: n, what: what})
					}
				}
			}
			if named.NumMethods() > 0 {
				c.methods = append(c.methods, finding{n: named.NumMethods(), what: what})
				if n := types.NewMethodSet(types.NewPointer(named)).Len(); n > named.NumMethods() {
					c.allMethods = append(c.allMethods, finding{n: n, what: what})
				}
			}
		}
	}
	for _, e := range slices.Sorted(maps.Keys(embedders)) {
		if by := embedders[e]; len(by) > 1 {
			c.embedded = append(c.embedded, finding{n: len(by), what: e + ": " + strings.Join(by, " ")})
		}
	}
	for _, found := range [][]finding{c.methods, c.allMethods, c.fields, c.allFields, c.embedded, c.interfaces} {
		largestFirst(found)
	}
	return c
}

// typeName returns the name of a type with its package, such as swarm/mail.Inbox.
func (h *tree) typeName(named *types.Named) string {
	return strings.TrimPrefix(named.Obj().Pkg().Path(), h.module) + "." + named.Obj().Name()
}

// isOurs reports whether a type is declared in this module.
func (h *tree) isOurs(named *types.Named) bool {
	pkg := named.Obj().Pkg()
	return pkg != nil && strings.HasPrefix(pkg.Path(), h.module)
}

// embeds returns the struct type that a field embeds, or nil.
func embeds(f *types.Var) *types.Named {
	if !f.Embedded() {
		return nil
	}
	t := types.Unalias(f.Type())
	if ptr, ok := t.(*types.Pointer); ok {
		t = types.Unalias(ptr.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok {
		return nil
	}
	if _, ok := named.Underlying().(*types.Struct); !ok {
		return nil
	}
	return named
}

// reachable returns the names of the fields of a struct and of the module's structs that it
// embeds.
func (h *tree) reachable(s *types.Struct, seen map[*types.Struct]bool) map[string]bool {
	names := make(map[string]bool)
	if seen[s] {
		return names
	}
	seen[s] = true
	for f := range s.Fields() {
		names[f.Name()] = true
		if e := embeds(f); e != nil && h.isOurs(e) {
			maps.Copy(names, h.reachable(e.Underlying().(*types.Struct), seen))
		}
	}
	return names
}

// isData reports whether a struct only holds data: every field is exported.
func isData(s *types.Struct) bool {
	for f := range s.Fields() {
		if !f.Exported() {
			return false
		}
	}
	return true
}
