package main

// A target is a package whose tests are measured.
type target struct {
	pkg   string   // the package's folder in the module
	files []string // files in which mutants are generated
	first string   // pattern for the tests of the last package, including long ones, that catch most of the mutants; "" for none
	by    []string // folders of packages whose tests run after the package's own tests
}

// tests returns the folders of the packages whose tests run, fastest first.
func (t target) tests() []string { return append([]string{t.pkg}, t.by...) }

// wholeTurns matches the tests of swarm that check each step of a turn.
const wholeTurns = "^Test(TheOrder|EachChange|ALedger|AStart|AGood|AFailure|HowMuch|WhatADead|AnAgentStops)"

var targets = []target{
	{pkg: "dropbox", files: []string{
		"claim.go", "change.go", "settle.go", "doneday.go", // claim and receipt
		"recover.go",                 // take-up
		"batch.go", "settlebatch.go", // batch
	}, first: "^Test(StepsOnDisk|EverySync|NoRefusedSync|DeliverBatch|SettleBatch|Clean|ADuplicate|DiskTrouble)"},
	{pkg: "dropbox/outbox", files: []string{
		"attempt.go", "box.go", // claim
		"settle.go", "shared.go", // receipt
		"takeup.go", // take-up
	}},
	{pkg: "swarm", files: []string{
		"work.go",   // claim
		"settle.go", // receipt
		"takeup.go", // take-up
	}, first: wholeTurns},
	{pkg: "swarm/mail", files: []string{
		"claim.go", "job.go", // claim
		"settle.go",            // receipt
		"left.go", "cutoff.go", // take-up
	}, by: []string{"swarm"}, first: wholeTurns},
	{pkg: "swarm/turn", files: []string{
		"attempt.go", "tracker.go", // the record that is written before the prompt
		"follow.go", // take-up
	}, by: []string{"swarm"}, first: wholeTurns},
	{pkg: "swarm/journal", files: []string{
		"receipt.go",            // receipt
		"ledger.go", "amend.go", // ledger
		"record.go", // take-up
	}, by: []string{"swarm/mail", "swarm"}, first: wholeTurns},
	{pkg: "internal/durable", files: []string{"write.go"}},
	{pkg: "window", files: []string{
		"banner.go", "base64.go", "buffer.go", "call.go", "file.go", "quote.go", "render.go", "ring.go",
	}},
	{pkg: "swarm/supervisor", files: []string{
		"docket.go", "judge.go", "ladder.go", "rules.go", "step.go", "watch.go",
	}},
	{pkg: "internal/policy", files: []string{
		"acl.go", "bucket.go", "decide.go", "echo.go", "gate.go", "past.go", "policy.go", "question.go", "ring.go",
	}},
	{pkg: "swarm/budget", files: []string{
		"amount.go", "book.go", "decide.go", "find.go", "report.go", "reserve.go", "said.go", "scope.go", "spent.go",
	}},
	{pkg: "swarm/whisper", files: []string{"store.go", "turn.go"}},
	{pkg: "internal/permission", files: []string{"entry.go", "match.go", "rules.go", "shell.go"}},
	{pkg: "internal/hours", files: []string{"hours.go", "parse.go", "zone.go"}},
	{pkg: "internal/webhook", files: []string{
		"attempt.go", "count.go", "hear.go", "payload.go", "post.go", "run.go", "schedule.go", "state.go",
	}},
}
