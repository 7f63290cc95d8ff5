package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

// receiver is a program for test scripts: a server that receives webhook requests. It writes
// its address to the file "address". It answers each request with the status in the file
// "answer", or with 204 if the file contains no status. For each request, it adds a line to
// the file "received" with the id, the type, the text, and whether the request is signed.
func receiver() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = os.WriteFile("address.tmp", []byte("http://"+l.Addr().String()+"/hooks/secret\n"), 0o600)
	}
	if err == nil {
		err = os.Rename("address.tmp", "address")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var mu sync.Mutex
	http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var p struct {
			Type string
			Data struct{ Text string }
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &p)
		file, err := os.OpenFile("received", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		defer file.Close()
		fmt.Fprintf(file, "%s %s %s signed:%t\n", r.Header.Get("Webhook-Id"), p.Type, p.Data.Text, r.Header.Get("Webhook-Signature") != "")
		answer, _ := os.ReadFile("answer")
		status, err := strconv.Atoi(strings.TrimSpace(string(answer)))
		if err != nil {
			status = http.StatusNoContent
		}
		w.WriteHeader(status)
	}))
}
