package docs_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// statusSchema is the file with the schema of what `status --json` prints.
const statusSchema = "status.schema.json"

// nullable lists the numbers that a type's MarshalJSON may write as null. A type with such
// a method that is not in the list cannot be described.
var nullable = map[reflect.Type][]string{
	reflect.TypeFor[journal.Cost](): {"today", "total"},
}

// A schemer makes schemas from Go types and from the comments in their source files.
type schemer struct {
	t      *testing.T
	parsed map[string][]*ast.File // by the folder of a package
}

// of returns the schema of the values of typ.
func (s *schemer) of(typ reflect.Type) *jsonschema.Schema {
	s.t.Helper()
	if typ == reflect.TypeFor[time.Time]() {
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	}
	if _, ok := nullable[typ]; !ok && typ.Kind() != reflect.Pointer && hasMarshaler(typ) {
		s.t.Errorf("%s has a MarshalJSON, and no test knows which numbers it writes as null", typ)
	}
	switch typ.Kind() {
	case reflect.Pointer:
		elem := s.of(typ.Elem())
		elem.Type, elem.Types = "", []string{elem.Type, "null"}
		return elem
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: s.of(typ.Elem())}
	case reflect.String:
		return s.word(typ)
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &jsonschema.Schema{Type: "integer"}
	case reflect.Float64:
		return &jsonschema.Schema{Type: "number"}
	case reflect.Struct:
		return s.object(typ)
	}
	s.t.Fatalf("no schema for %s", typ)
	return nil
}

// hasMarshaler reports whether typ itself, and not a type that it embeds, has a
// MarshalJSON.
func hasMarshaler(typ reflect.Type) bool {
	_, ok := typ.MethodByName("MarshalJSON")
	return ok
}

// object returns the schema of a struct. A field that is not omitted if it is empty is
// required.
func (s *schemer) object(typ reflect.Type) *jsonschema.Schema {
	o := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	docs := s.fieldDocs(typ)
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			inner := s.object(f.Type)
			maps.Copy(o.Properties, inner.Properties)
			o.PropertyOrder, o.Required = append(o.PropertyOrder, inner.PropertyOrder...), append(o.Required, inner.Required...)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "" || option != "" && option != "omitempty":
			s.t.Errorf("%s.%s has the tag %q, which has no schema", typ, f.Name, f.Tag)
		}
		p := s.of(f.Type)
		if slices.Contains(nullable[typ], name) {
			p.Type, p.Types = "", []string{p.Type, "null"}
		}
		p.Description = docs[f.Name]
		if p.Description == "" || strings.HasPrefix(p.Description, f.Name+" ") || strings.ContainsAny(p.Description, "[]") {
			s.t.Errorf("the comment of %s.%s does not describe the field to a reader of its JSON: %q", typ, f.Name, p.Description)
		}
		if len(p.OneOf) > 0 && strings.Contains(p.Description, `""`) {
			p.OneOf = append(p.OneOf, &jsonschema.Schema{Const: new(any(""))})
		}
		o.Properties[name], o.PropertyOrder = p, append(o.PropertyOrder, name)
		if option == "" {
			o.Required = append(o.Required, name)
		}
	}
	return o
}

// word returns the schema of a string. If its type has constants, these are its values; a
// field whose comment mentions "" may be empty as well.
func (s *schemer) word(typ reflect.Type) *jsonschema.Schema {
	w := &jsonschema.Schema{Type: "string"}
	if typ.PkgPath() == "" {
		return w
	}
	for _, file := range s.files(typ) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			of, _ := spec.Type.(*ast.Ident)
			value, isText := spec.Values[0].(*ast.BasicLit)
			if of != nil && of.Name == typ.Name() && isText && value.Value != `""` {
				word, said := any(strings.Trim(value.Value, `"`)), comment(spec.Doc, spec.Comment)
				if said == "" {
					s.t.Errorf("%s %s has no comment", typ, value.Value)
				}
				w.OneOf = append(w.OneOf, &jsonschema.Schema{Const: &word, Description: said})
			}
			return true
		})
	}
	if len(w.OneOf) < 2 {
		s.t.Errorf("%s has the values %v", typ, w.OneOf)
	}
	return w
}

// fieldDocs returns the comments of a struct's fields, without a subject such as
// "Question is".
func (s *schemer) fieldDocs(typ reflect.Type) map[string]string {
	docs := map[string]string{}
	for _, file := range s.files(typ) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != typ.Name() {
				return true
			}
			for _, f := range spec.Type.(*ast.StructType).Fields.List {
				for _, name := range f.Names {
					subject := regexp.MustCompile("^" + name.Name + " (is|are|says|means that) ")
					docs[name.Name] = subject.ReplaceAllString(comment(f.Doc, f.Comment), "")
				}
			}
			return false
		})
	}
	return docs
}

// comment returns the text above a declaration and beside it.
func comment(above, beside *ast.CommentGroup) string {
	return strings.TrimSuffix(strings.Join(strings.Fields(above.Text()+" "+beside.Text()), " "), ".")
}

// files parses the package of a type.
func (s *schemer) files(typ reflect.Type) []*ast.File {
	dir := filepath.Join("..", strings.TrimPrefix(typ.PkgPath(), "github.com/claude-swarm/claude-swarm/"))
	if files, ok := s.parsed[dir]; ok {
		return files
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		s.t.Fatalf("no source files of %s: %v", typ, err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			s.t.Fatal(err)
		}
		s.parsed[dir] = append(s.parsed[dir], file)
	}
	return s.parsed[dir]
}

// The schema of `status --json` is generated from the type that is printed, and from the
// comments of its fields.
func TestStatusSchema(t *testing.T) {
	s := &schemer{t: t, parsed: map[string][]*ast.File{}}
	schema := s.of(reflect.TypeFor[view.Status]())
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	head := `{
"$schema": "https://json-schema.org/draft/2020-12/schema",
"$comment": "generated; UPDATE=1 go test ./docs writes it again",
"title": "the output of claude-swarm status --json",
"description": "Later versions may add fields and words. All times are RFC 3339 in UTC.",`
	var text bytes.Buffer
	if err := json.Indent(&text, append([]byte(head), data[1:]...), "", "  "); err != nil {
		t.Fatal(err)
	}
	text.WriteByte('\n')
	if update {
		if err := os.WriteFile(statusSchema, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, statusSchema) != text.String() {
		t.Errorf("%s is not what the program prints now; look at the difference after UPDATE=1 go test ./docs", statusSchema)
	}
	for _, kind := range view.NeedKinds() {
		if !strings.Contains(text.String(), `"const": "`+string(kind)+`"`) {
			t.Errorf("%s has no %s among the kinds of needs_you", statusSchema, kind)
		}
	}
}
