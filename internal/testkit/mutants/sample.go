package main

import (
	"cmp"
	"crypto/sha256"
	"slices"
)

// enough is the maximum number of mutants in a run without options.
const enough = 170

// sample selects the mutants of a run: one in n of each rule's mutants in each file, but
// at least one. The selection is based on hashes of the mutants' names, so a change to
// the code affects the selection only where the code has changed. If n is 0, sample uses
// the smallest n that selects at most [enough].
func sample(all []mutant, n int) (chosen []mutant, oneIn int) {
	if n > 0 {
		return choose(all, n), n
	}
	for n = 1; ; n++ {
		if chosen = choose(all, n); len(chosen) <= enough || n >= len(all) {
			return chosen, n
		}
	}
}

func choose(all []mutant, n int) []mutant {
	type group struct {
		pkg, file string
		rule      rule
	}
	groups := map[group][]mutant{}
	for _, m := range all {
		g := group{m.pkg, m.file, m.rule}
		groups[g] = append(groups[g], m)
	}
	chosen := map[string]bool{}
	for _, of := range groups {
		slices.SortFunc(of, func(a, b mutant) int { return cmp.Compare(lot(a), lot(b)) })
		for _, m := range of[:(len(of)+n-1)/n] {
			chosen[m.id()] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return !chosen[m.id()] })
}

// lot returns the hash of a mutant's name. The mutants are sorted by this hash before the
// selection.
func lot(m mutant) string {
	sum := sha256.Sum256([]byte(m.id()))
	return string(sum[:])
}
