package main

import "time"

// A row is one dialogue. The function before runs first, in a separate process with the
// same home folder. That process is not recorded.
type row struct {
	name   string
	before func(*dialogue)
	play   func(*dialogue)
}

var rows = []row{
	{name: "turn", play: func(d *dialogue) {
		d.open()
		d.prompt("@say hello there")
		d.prompt("@say and again")
	}},
	{name: "shell", play: func(d *dialogue) {
		d.open()
		d.prompt("@say I run it.\n@sh echo hi > a.txt; cat a.txt\n@say It ran.")
		d.prompt("@sh exit 3\n@say It failed.")
	}},
	{name: "write", play: func(d *dialogue) {
		d.open()
		d.prompt("@write " + d.home.Work + "/new.txt some text\n@say written")
	}},
	{name: "refused", play: func(d *dialogue) {
		d.open()
		d.permit("reject_once")
		d.prompt("@sh rm -rf sub\n@say refused")
		d.prompt("@say going on")
	}},
	{name: "mcp", play: func(d *dialogue) {
		d.open()
		d.prompt(`@tool send {"to":"bob","text":"hi"}` + "\n@say sent")
		d.permit("reject_once")
		d.prompt(`@tool send {"to":"bob","text":"no"}` + "\n@say not sent")
	}},
	{name: "cancel", play: func(d *dialogue) {
		d.open()
		id := d.begin("@say begun\n@sleep 20s\n@say ended")
		d.seen(`"text":"begun"`)
		d.cancel()
		d.await(id, 30*time.Second)
		d.prompt("@say going on")
	}},
	{name: "cancel-question", play: func(d *dialogue) {
		d.open()
		d.permit("") // the question stays open until the cancellation
		id := d.begin("@sh rm -rf sub\n@say never")
		d.seen(`"method":"session/request_permission"`)
		d.cancel()
		d.await(id, 30*time.Second)
		d.permit("allow_once")
		d.prompt("@say going on")
	}},
	{name: "load", before: earlier, play: func(d *dialogue) { d.takeUp("session/load"); d.prompt("@say going on") }},
	{name: "resume", before: earlier, play: func(d *dialogue) { d.takeUp("session/resume"); d.prompt("@say going on") }},
	{name: "unknown", play: func(d *dialogue) {
		d.initialize()
		d.session = "11111111-2222-4333-8444-555555555555"
		d.takeUp("session/resume")
		d.takeUp("session/load")
		d.prompt("@say nothing")
	}},
	{name: "status-429", play: func(d *dialogue) { d.fails("@status 429 retry-after 2") }},
	{name: "status-500", play: func(d *dialogue) { d.fails("@status 500") }},
	{name: "status-400", play: func(d *dialogue) { d.fails("@status 400") }},
	{name: "status-401", play: func(d *dialogue) { d.fails("@status 401") }},
	{name: "limit", play: func(d *dialogue) { d.fails("@limit 3600") }},
	{name: "cut", play: func(d *dialogue) { d.fails("@say begun\n@cut") }},
	{name: "retry", play: func(d *dialogue) { d.open(); d.prompt("@status 503 times 1\n@say well again") }},
}

// earlier creates a session that contains one turn.
func earlier(d *dialogue) {
	d.open()
	d.prompt("@say one\n@sh echo hi\n@say remembered")
	if d.home.Client.Name == "gemini" {
		// Version 0.61.0 loses a session that is loaded in the same calendar minute in
		// which it was created.
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(61 * time.Second)))
	}
}

// fails runs a turn that ends with an error from the model's service, and then another
// turn. If the client does not answer within 20 seconds, fails cancels the first turn.
func (d *dialogue) fails(script string) {
	d.open()
	id := d.begin(script)
	if !d.await(id, 20*time.Second) {
		d.cancel()
		d.await(id, 20*time.Second)
	}
	d.prompt("@say going on")
}
