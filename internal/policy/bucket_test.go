package policy

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// fits reports whether a bucket has tokens for messages sent at these times, in any order.
func fits(perMinute int, sent []int64) bool {
	sent = slices.Sorted(slices.Values(sent))
	tokens, last := float64(perMinute), int64(0)
	for _, t := range sent {
		tokens = min(float64(perMinute), tokens+float64(t-last)*float64(perMinute)/60_000) - 1
		if last = t; tokens < -1e-6 {
			return false
		}
	}
	return true
}

// The bucket accepts messages in any order. The messages that pass never exceed what the
// bucket allows. As long as the bucket remembers all messages, it refuses no message that
// is within the limit.
func TestBucketInAnyOrder(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		perMinute := 1 + r.IntN(10)
		var b bucket
		var passed []int64
		for range 40 {
			at := time.UnixMilli(1_800_000_000_000 + r.Int64N(120_000))
			room := b.hasRoom(perMinute, at)
			if all := append(slices.Clone(passed), at.UnixMilli()); room != fits(perMinute, all) && (room || len(passed) < perMinute) {
				t.Fatalf("seed %d, %d a minute: room %v for %v after %v", seed, perMinute, room, at.UnixMilli(), passed)
			}
			if room {
				b.spend(perMinute, at)
				passed = append(passed, at.UnixMilli())
			}
		}
	}
}

// A new limit applies to all later messages.
func TestBucketOfAnotherLimit(t *testing.T) {
	at := time.UnixMilli(1_800_000_000_000)
	var b bucket
	for range 10 {
		b.spend(10, at)
	}
	if b.hasRoom(5, at) || b.hasRoom(10, at) {
		t.Error("room in an empty bucket")
	}
	if !b.hasRoom(5, at.Add(time.Minute)) {
		t.Error("no room a minute later")
	}
	b.spend(5, at.Add(time.Minute))
	if len(b.Recent) > 5 {
		t.Errorf("%d are remembered, 5 at most", len(b.Recent))
	}
}
