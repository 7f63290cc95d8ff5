package hours_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/hours"
)

// in returns a zone, and fails the test if the zone cannot be loaded.
func in(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := hours.Zone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func of(t testing.TB, zone, week string) hours.Hours {
	t.Helper()
	w, err := hours.Parse(week)
	if err != nil {
		t.Fatal(err)
	}
	return hours.Hours{Week: w, Zone: in(t, zone)}
}

// at parses a time with its offset, such as "2026-03-29 03:00 +0200".
func at(t testing.TB, text string) time.Time {
	t.Helper()
	moment, err := time.Parse("2006-01-02 15:04 -0700", text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// TestChanges follows each sequence of changes. The clocks jump on these days of 2026: in
// Berlin 29 March (02:00 becomes 03:00) and 25 October (03:00 becomes 02:00); on Lord Howe
// Island 5 April (02:00 becomes 01:30) and 4 October (02:00 becomes 02:30); in the Azores 25
// October (01:00 becomes 00:00); in Cairo 24 April (00:00 becomes 01:00) and 29 October
// (24:00 becomes 23:00).
func TestChanges(t *testing.T) {
	const berlin, howe = "Europe/Berlin", "Australia/Lord_Howe"
	for name, test := range map[string]struct {
		zone, week, from string
		open             bool
		changes          []string
	}{
		"work days":              {berlin, "mon-fri 08:00-20:00", "2026-11-20 19:59 +0100", true, []string{"2026-11-20 20:00 +0100", "2026-11-23 08:00 +0100", "2026-11-23 20:00 +0100"}},
		"at the moment of begin": {berlin, "mon-fri 08:00-20:00", "2026-11-23 08:00 +0100", true, []string{"2026-11-23 20:00 +0100"}},
		"at the moment of end":   {berlin, "mon-fri 08:00-20:00", "2026-11-23 20:00 +0100", false, []string{"2026-11-24 08:00 +0100"}},
		"over midnight":          {berlin, "22:00-07:00", "2026-11-22 12:00 +0100", false, []string{"2026-11-22 22:00 +0100", "2026-11-23 07:00 +0100"}},
		"over the year's end":    {berlin, "thu 22:00-07:00", "2026-12-31 23:30 +0100", true, []string{"2027-01-01 07:00 +0100", "2027-01-07 22:00 +0100"}},
		"sunday into monday":     {berlin, "sun 20:00-04:00", "2026-11-23 01:00 +0100", true, []string{"2026-11-23 04:00 +0100", "2026-11-29 20:00 +0100"}},
		"over the week's end":    {berlin, "fri-mon 10:00-11:00", "2026-11-19 10:30 +0100", false, []string{"2026-11-20 10:00 +0100", "2026-11-20 11:00 +0100", "2026-11-21 10:00 +0100"}},
		"joined at midnight":     {berlin, "mon-tue 00:00-24:00", "2026-11-22 12:00 +0100", false, []string{"2026-11-23 00:00 +0100", "2026-11-25 00:00 +0100"}},
		"two spans":              {berlin, "mon, wed 09:00-12:00, 13:00-17:00", "2026-11-23 00:00 +0100", false, []string{"2026-11-23 09:00 +0100", "2026-11-23 12:00 +0100", "2026-11-23 13:00 +0100", "2026-11-23 17:00 +0100", "2026-11-25 09:00 +0100"}},

		"23 hours":                  {berlin, "22:00-07:00", "2026-03-28 20:00 +0100", false, []string{"2026-03-28 22:00 +0100", "2026-03-29 07:00 +0200"}},
		"begin does not exist":      {berlin, "02:30-08:00", "2026-03-28 20:00 +0100", false, []string{"2026-03-29 03:00 +0200", "2026-03-29 08:00 +0200"}},
		"end does not exist":        {berlin, "01:00-02:30", "2026-03-28 20:00 +0100", false, []string{"2026-03-29 01:00 +0100", "2026-03-29 03:00 +0200", "2026-03-30 01:00 +0200"}},
		"span does not exist":       {berlin, "02:00-03:00", "2026-03-28 20:00 +0100", false, []string{"2026-03-30 02:00 +0200"}},
		"week's span is left out":   {berlin, "sun 02:00-03:00", "2026-03-28 20:00 +0100", false, []string{"2026-04-05 02:00 +0200"}},
		"only gap is left out":      {berlin, "mon-sat 00:00-24:00, sun 00:00-02:00, 03:00-24:00", "2026-03-28 20:00 +0100", true, []string{"2026-04-05 02:00 +0200", "2026-04-05 03:00 +0200"}},
		"25 hours":                  {berlin, "22:00-07:00", "2026-10-24 20:00 +0200", false, []string{"2026-10-24 22:00 +0200", "2026-10-25 07:00 +0100"}},
		"begin exists twice":        {berlin, "02:30-08:00", "2026-10-25 00:00 +0200", false, []string{"2026-10-25 02:30 +0200", "2026-10-25 08:00 +0100"}},
		"end exists twice":          {berlin, "01:00-02:30", "2026-10-25 00:00 +0200", false, []string{"2026-10-25 01:00 +0200", "2026-10-25 02:30 +0100", "2026-10-26 01:00 +0100"}},
		"both exist twice":          {berlin, "02:15-02:45", "2026-10-25 00:00 +0200", false, []string{"2026-10-25 02:15 +0200", "2026-10-25 02:45 +0100", "2026-10-26 02:15 +0100"}},
		"half an hour less":         {howe, "02:15-08:00", "2026-10-03 22:00 +1030", false, []string{"2026-10-04 02:30 +1100", "2026-10-04 08:00 +1100"}},
		"half an hour more":         {howe, "01:45-08:00", "2026-04-05 00:00 +1100", false, []string{"2026-04-05 01:45 +1100", "2026-04-05 08:00 +1030"}},
		"half an hour more, end":    {howe, "22:00-01:45", "2026-04-04 20:00 +1100", false, []string{"2026-04-04 22:00 +1100", "2026-04-05 01:45 +1030"}},
		"midnight exists twice":     {"Atlantic/Azores", "sun 00:00-24:00", "2026-10-24 12:00 +0000", false, []string{"2026-10-25 00:00 +0000", "2026-10-26 00:00 -0100"}},
		"midnight does not exist":   {"Africa/Cairo", "fri 00:00-24:00", "2026-04-23 12:00 +0200", false, []string{"2026-04-24 01:00 +0300", "2026-04-25 00:00 +0300"}},
		"the evening exists twice":  {"Africa/Cairo", "thu 20:00-23:30", "2026-10-29 12:00 +0300", false, []string{"2026-10-29 20:00 +0300", "2026-10-29 23:30 +0200"}},
		"the zone left a day out":   {"Pacific/Apia", "fri 08:00-20:00", "2011-12-29 12:00 -1000", false, []string{"2012-01-06 08:00 +1400"}},
		"around the left out day":   {"Pacific/Apia", "08:00-20:00", "2011-12-29 12:00 -1000", true, []string{"2011-12-29 20:00 -1000", "2011-12-31 08:00 +1400"}},
		"a zone without an hour":    {"UTC", "sat 23:00-01:00", "2026-11-22 00:30 +0000", true, []string{"2026-11-22 01:00 +0000", "2026-11-28 23:00 +0000"}},
		"the leap day":              {"UTC", "tue 22:00-02:00", "2028-02-29 23:00 +0000", true, []string{"2028-03-01 02:00 +0000", "2028-03-07 22:00 +0000"}},
		"half an hour from the UTC": {"Asia/Kolkata", "09:00-10:00", "2026-11-22 00:00 +0000", false, []string{"2026-11-22 09:00 +0530", "2026-11-22 10:00 +0530"}},
	} {
		t.Run(name, func(t *testing.T) {
			h, now := of(t, test.zone, test.week), at(t, test.from)
			if got := h.Open(now); got != test.open {
				t.Errorf("Open(%s) = %v, want %v", test.from, got, test.open)
			}
			open := test.open
			for _, want := range test.changes {
				got := h.Change(now)
				if !got.Equal(at(t, want)) {
					t.Fatalf("Change(%s) = %s, want %s", now.In(h.Zone), got.In(h.Zone), want)
				}
				if now, open = got, !open; h.Open(now) != open || h.Open(now.Add(-time.Nanosecond)) == open {
					t.Errorf("Open does not change at %s", now.In(h.Zone))
				}
			}
		})
	}
}

func TestAlways(t *testing.T) {
	for _, week := range []string{"always", "Always", "mon-sun 00:00-24:00", "00:00-24:00", "08:00-20:00, 20:00-08:00", "tue-mon 12:00-12:30, 12:30-12:00"} {
		h := of(t, "Europe/Berlin", week)
		if now := time.Now(); !h.Open(now) || !h.Change(now).IsZero() {
			t.Errorf("%s: Open = %v, Change = %v, want always open", week, h.Open(now), h.Change(now))
		}
	}
	if now := time.Now(); !(hours.Hours{}).Open(now) || !(hours.Hours{}).Change(now).IsZero() {
		t.Error("the zero value is not always open")
	}
}

func TestDay(t *testing.T) {
	for name, test := range map[string]struct{ zone, at, from, to string }{
		"an ordinary day":         {"Europe/Berlin", "2026-11-22 12:00 +0100", "2026-11-22 00:00 +0100", "2026-11-23 00:00 +0100"},
		"midnight":                {"Europe/Berlin", "2026-11-22 00:00 +0100", "2026-11-22 00:00 +0100", "2026-11-23 00:00 +0100"},
		"23 hours":                {"Europe/Berlin", "2026-03-29 12:00 +0200", "2026-03-29 00:00 +0100", "2026-03-30 00:00 +0200"},
		"25 hours":                {"Europe/Berlin", "2026-10-25 12:00 +0100", "2026-10-25 00:00 +0200", "2026-10-26 00:00 +0100"},
		"the year's end":          {"Europe/Berlin", "2026-12-31 23:59 +0100", "2026-12-31 00:00 +0100", "2027-01-01 00:00 +0100"},
		"midnight does not exist": {"Africa/Cairo", "2026-04-24 12:00 +0300", "2026-04-24 01:00 +0300", "2026-04-25 00:00 +0300"},
		"midnight exists twice":   {"Atlantic/Azores", "2026-10-25 00:30 -0100", "2026-10-25 00:00 +0000", "2026-10-26 00:00 -0100"},
		"after a left out day":    {"Pacific/Apia", "2011-12-31 12:00 +1400", "2011-12-31 00:00 +1400", "2012-01-01 00:00 +1400"},
		"before a left out day":   {"Pacific/Apia", "2011-12-29 12:00 -1000", "2011-12-29 00:00 -1000", "2011-12-31 00:00 +1400"},
		// At 00:01 on Sunday, the clock is set back to 23:01 on Saturday.
		"between two midnights": {"America/St_Johns", "2009-10-31 23:30 -0330", "2009-11-01 00:00 -0230", "2009-11-02 00:00 -0330"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := hours.Day(at(t, test.at), in(t, test.zone))
			if !from.Equal(at(t, test.from)) || !to.Equal(at(t, test.to)) {
				t.Errorf("Day(%s) = %s to %s, want %s to %s", test.at, from, to, test.from, test.to)
			}
		})
	}
}

// jumpy lists zones with clock jumps of various sizes, forward and back, at midnight and
// at other times.
var jumpy = []string{
	"Europe/Berlin", "Australia/Lord_Howe", "Africa/Cairo", "Atlantic/Azores", "America/St_Johns", "Pacific/Apia",
	"America/Sao_Paulo", "Africa/Casablanca", "Antarctica/Troll", "Asia/Kathmandu", "UTC",
}

// someWeek creates a week with a few spans.
func someWeek(r *rand.Rand) string {
	days := []string{"", "mon ", "mon-fri ", "sun ", "fri-mon ", "sat, wed "}
	var all []string
	for range 1 + r.IntN(3) {
		from := r.IntN(96) * 15
		to := (from + 15*(1+r.IntN(95))) % 1440
		all = append(all, days[r.IntN(len(days))]+clock(from)+"-"+clock(to))
	}
	return strings.Join(all, ", ")
}

func clock(minutes int) string {
	return time.Date(2000, 1, 1, 0, minutes, 0, 0, time.UTC).Format("15:04")
}

// TestHoursFollowTheClock compares Open with the local time. The two may differ only at a
// time that the clock shows twice, because such a time does not interrupt a span.
func TestHoursFollowTheClock(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	r := rand.New(rand.NewPCG(15, 5))
	for range 300 {
		name, week := jumpy[r.IntN(len(jumpy))], someWeek(r)
		h := of(t, name, week)
		plain := hours.Hours{Week: h.Week, Zone: time.UTC} // UTC has no clock jumps
		now := time.Date(2009+r.IntN(20), 1, 1, 0, 15*r.IntN(366*96), 0, 0, time.UTC)
		for range 400 {
			now = now.Add(15 * time.Minute)
			local := now.In(h.Zone)
			_, offset := local.Zone()
			shown := now.Add(time.Duration(offset) * time.Second)
			open := h.Open(now)
			if want := plain.Open(shown); open != want {
				_, before := now.Add(-25 * time.Hour).In(h.Zone).Zone()
				_, after := now.Add(25 * time.Hour).In(h.Zone).Zone()
				if before <= after || want {
					t.Fatalf("%s, %q: Open(%s) = %v, want %v as the clock shows", name, week, local, open, want)
				}
			}
			change := h.Change(now)
			if change.IsZero() {
				continue
			}
			if !change.After(now) || h.Open(change) == open || h.Open(change.Add(-time.Second)) != open {
				t.Fatalf("%s, %q: Change(%s) = %s, Open = %v", name, week, local, change.In(h.Zone), open)
			}
			if some := now.Add(time.Duration(r.Int64N(int64(change.Sub(now))))); h.Open(some) != open || !h.Change(some).Equal(change) {
				t.Fatalf("%s, %q: Open(%s) = %v before the change at %s", name, week, some.In(h.Zone), !open, change)
			}
			if from, to := hours.Day(now, h.Zone); now.Before(from) || !now.Before(to) || to.Sub(from) > 26*time.Hour || to.Sub(from) < 22*time.Hour {
				t.Fatalf("%s: Day(%s) = %s to %s", name, local, from, to)
			} else if next, _ := hours.Day(to, h.Zone); !next.Equal(to) {
				t.Fatalf("%s: the day after that of %s begins at %s, want %s", name, local, next, to)
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]struct{ problem, try string }{
		"":                        {"an entry is empty", "mon-fri 08:00-20:00"},
		"mon-fri 08:00-20:00,":    {"an entry is empty", "mon-fri 08:00-20:00"},
		"mon-fri 08:00-25:00":     {`"25:00" is not a time of day: a day ends at 24:00`, "mon-fri 08:00-24:00"},
		"mon-fri 25:00-26:00":     {`"25:00" is not a time of day: a day ends at 24:00`, "mon-fri 08:00-20:00"},
		"mon-fri 08:00-24:30":     {`"24:30" is not a time of day: a day ends at 24:00`, "mon-fri 08:00-24:00"},
		"mon-fri 08:60-20:00":     {`"08:60" is not a time of day: an hour has 60 minutes`, "mon-fri 08:00-20:00"},
		"mon-fri 8-20":            {`"8" is not a time of day`, "mon-fri 08:00-20:00"},
		"mon-fri 08:00":           {`"08:00" is not a span of hours`, "mon-fri 08:00-20:00"},
		"mon-fri 08:00-08:00":     {`"08:00-08:00" is empty`, "mon-fri 00:00-24:00"},
		"24:00-08:00":             {`"24:00-08:00" begins at the end of a day`, "00:00-08:00"},
		"mon-fri":                 {`"mon-fri" has no hours`, "mon-fri 00:00-24:00"},
		"mon-fri 08:00-20:00,sat": {`"sat" has no hours`, "mon-fri 08:00-20:00,sat 00:00-24:00"},
		"mon 08:00-20:00, tue 20": {`"20" is not a span of hours`, "mon 08:00-20:00, tue 08:00-20:00"},
		"mon 08:00-12:00, mon":    {`"mon" has no hours`, "mon 08:00-12:00, mon 00:00-24:00"},
		"mno-fri 08:00-20:00":     {`"mno" is not a day`, ""},
		"Mon-Fri 08:00-20:00 sat": {`commas separate`, ""},
		"mon tue 08:00-20:00":     {`days come before their hours`, "mon-fri 08:00-20:00"},
		"always 08:00-20:00":      {`"always" is not a day`, ""},
		"08:00-20:00 21:00-22:00": {`commas separate`, ""},
		"-08:00-20:00":            {`"" is not a day`, ""},
		"08.00-20.00":             {`"08.00" is not a time of day`, "08:00-20:00"},
	} {
		_, err := hours.Parse(text)
		e, ok := errors.AsType[*hours.Error](err)
		if !ok || !strings.Contains(e.Problem, want.problem) || e.Try != want.try {
			t.Errorf("Parse(%q): %+v, want %+v", text, e, want)
			continue
		}
		if e.Try != "" {
			if _, err := hours.Parse(e.Try); err != nil {
				t.Errorf("Parse(%q): the proposal %q: %v", text, e.Try, err)
			}
		}
	}
	for text, try := range map[string]string{
		"mon 22:00-07:00": "22:00-07:00", "always": "22:00-07:00", "00:00-24:00": "22:00-07:00", "": "22:00-07:00", "22-7": "22:00-07:00", "22:00": "22:00-07:00", "8-20": "08:00-20:00", "22:00-22:00": "22:00-07:00",
	} {
		if _, err := hours.ParseDaily(text); err == nil {
			t.Errorf("ParseDaily(%q) has no error", text)
		} else if e, ok := errors.AsType[*hours.Error](err); !ok || e.Try != try {
			t.Errorf("ParseDaily(%q): %+v, want the proposal %q", text, err, try)
		}
	}
	for _, text := range []string{"22:00-07:00", "08:00-12:00, 13:00-20:00"} {
		daily, err := hours.ParseDaily(text)
		week, want := hours.Parse(text)
		if err != nil || want != nil || !reflect.DeepEqual(daily, week) {
			t.Errorf("ParseDaily(%q) = %v, %v, want %v", text, daily, err, week)
		}
	}
}

func TestZone(t *testing.T) {
	_, err := hours.Zone("Europe/Belrin")
	if e, ok := errors.AsType[*hours.Error](err); !ok || e.Word != "Europe/Belrin" {
		t.Fatalf("Zone(Europe/Belrin) = %v, want an Error", err)
	}
	for _, name := range []string{"Local", "../../etc/passwd", "/etc/localtime", "europe", "Europe"} {
		if zone, err := hours.Zone(name); err == nil {
			t.Errorf("Zone(%s) = %v, want an error", name, zone)
		}
	}
	if zone, err := hours.Zone(""); err != nil || zone != time.Local {
		t.Errorf(`Zone("") = %v, %v`, zone, err)
	}
	if a, b := in(t, "Asia/Tokyo"), in(t, "Asia/Tokyo"); a != b {
		t.Error("Zone gives two values for one name")
	}
}

// The known zones are the files in the first folder that contains zone files.
func TestTheKnownZones(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"Asia/Tokyo", "Europe/Berlin", "Zulu", "posix/Asia/Tokyo", "right/Asia/Tokyo", "posixrules", "+VERSION", "Notes.txt", "zone.tab"} {
		path := filepath.Join(dir, "zones", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("zones", link); err != nil {
		t.Fatal(err)
	}
	known := func() []string {
		t.Helper()
		_, err := hours.Zone("Europe/Belrin")
		e, ok := errors.AsType[*hours.Error](err)
		if !ok || e.Try != "" {
			t.Fatalf("Zone(Europe/Belrin) = %+v, want an Error with only the known zones", err)
		}
		return e.Known
	}
	for _, root := range []string{filepath.Join(dir, "zones"), link} {
		t.Setenv("ZONEINFO", root)
		if got, want := known(), []string{"Asia/Tokyo", "Europe/Berlin", "Zulu"}; !slices.Equal(got, want) {
			t.Errorf("in %s: the known zones are %q, want %q", root, got, want)
		}
	}
	for _, root := range []string{"", filepath.Join(dir, "gone"), filepath.Join(dir, "zones", "Zulu")} {
		t.Setenv("ZONEINFO", root)
		if got := known(); !slices.Contains(got, "Europe/London") {
			t.Errorf("ZONEINFO=%s: the known zones are %q, want those of the machine", root, got)
		}
	}
}

// FuzzParse checks that accepted hours are open on one side of each change and closed on the
// other. It also checks that each rejected string yields an Error with a Problem, even if
// the string was proposed by an earlier Error.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"mon-fri 08:00-20:00", "22:00-07:00", "always", "mon, wed 9:00-12:00, 13:00-24:00", "fri-mon 00:00-00:30", "8-20", "25:00-26:00", "mon", "mon 08:00-20:00,20", "1,2,3,4,5"} {
		f.Add(text, int64(1774742400))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		w, err := hours.Parse(text)
		if err != nil {
			// A proposal corrects one mistake, but each word and comma may have several
			// mistakes.
			proposed := []string{text}
			for range 10 * (1 + len(strings.Fields(text)) + strings.Count(text, ",")) {
				e, ok := errors.AsType[*hours.Error](err)
				if !ok || e.Problem == "" {
					t.Fatalf("Parse(%q) = %v, want an Error with its problem", text, err)
				}
				if e.Try == "" {
					return
				}
				if _, err = hours.Parse(e.Try); err == nil {
					return
				}
				proposed = append(proposed, e.Try)
			}
			t.Fatalf("the proposals never become valid: %q", proposed[:min(len(proposed), 10)])
		}
		h, now := hours.Hours{Week: w, Zone: in(t, "Australia/Lord_Howe")}, time.Unix(unix%(1<<33), 0)
		for range 3 {
			open, change := h.Open(now), h.Change(now)
			if change.IsZero() {
				if !open {
					t.Fatalf("%q never opens after %s", text, now)
				}
				return
			}
			if !change.After(now) || h.Open(change) == open {
				t.Fatalf("%q: Open(%s) = %v, and the next change is at %s", text, now, open, change)
			}
			now = change
		}
	})
}
