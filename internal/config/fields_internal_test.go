package config

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// flags lists the words in the tag "is" that are not rules.
var flags = []string{"", "raw", "empty", "any", "once", "added", "removable", "switch", "later", "absent"}

// A misspelled tag would silently disable a check.
func TestTags(t *testing.T) {
	names := []string{"key", "also", "is", "type", "of", "least", "most", "zero", "split", "like", "short", "default", "from", "doc"}
	seen := make(map[reflect.Type]bool)
	var look func(reflect.Type)
	look = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for _, f := range fieldsOf(of) {
			where := of.Name() + "." + of.FieldByIndex(f.index).Name
			tag := of.FieldByIndex(f.index).Tag
			for _, m := range regexp.MustCompile(`(?:^|" )([a-z]+):"`).FindAllStringSubmatch(string(tag), -1) {
				if value, ok := tag.Lookup(m[1]); !ok || !slices.Contains(names, m[1]) {
					t.Errorf("%s: no tag is called %s (%s)", where, m[1], value)
				}
			}
			for _, word := range f.is {
				if rules[word] == nil && !slices.Contains(flags, word) {
					t.Errorf("%s: is:%q names no rule", where, word)
				}
			}
			if f.split != "" && splitters[f.split] == nil {
				t.Errorf("%s: nothing splits as %q", where, f.split)
			}
			look(of.FieldByIndex(f.index).Type)
		}
	}
	look(fileType)
	if len(seen) < 12 {
		t.Errorf("%d structs looked at, want all that have keys", len(seen))
	}
}

// Every key of an agent has one place in the reference.
func TestEveryKeyOfAnAgentHasAPlace(t *testing.T) {
	if keys := keysOf(agentType); !slices.Equal(keys, agentKeys) {
		t.Errorf("an agent has the keys %q, but agentKeys is %q", keys, agentKeys)
	}
}

// A value that a tag must repeat matches its source.
func TestTagsAgreeWithTheMailboxes(t *testing.T) {
	policy := standardFile().Policy
	var types []string
	for _, typ := range dropbox.Types() {
		types = append(types, string(typ))
	}
	if !slices.Equal(policy.AllowedTypes, types) {
		t.Errorf("allowed_types is %q, want %q", policy.AllowedTypes, types)
	}
	if policy.MaxHops != dropbox.MaxHops {
		t.Errorf("max_hops is %d, want %d", policy.MaxHops, dropbox.MaxHops)
	}
	for _, f := range fieldsOf(reflect.TypeFor[Policy]()) {
		if f.key == "allowed_types" && !slices.Equal(f.words, types) {
			t.Errorf("%s may have %q, want %q", f.key, f.words, types)
		}
		if f.key == "max_body_bytes" && f.most != mostBody {
			t.Errorf("the most of %s is %d, want %d", f.key, f.most, mostBody)
		}
	}
	if words := fieldsOf(reflect.TypeFor[IRCRule]())[0].words; !slices.Equal(words, types) {
		t.Errorf("irc.map.type may be %q, want %q", words, types)
	}
}
