package effect

import (
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Cron says at which seconds of the calendar something is due. It is an
// immutable value; the zero Cron is due every second.
//
// A day is due when its month is and, where both days and weekdays are
// restricted, when either is; when the expression wrote one of them with a star
// (as in */2), when both are.
//
// Where the clocks go forward, a time that does not exist is due that much
// later (02:30 at 03:30); where they go back, CronOnOverlap decides.
type Cron struct {
	fields  [cronFieldCount]cronSet
	both    bool // days and weekdays must both match
	overlap CronOverlap
	zone    *time.Location
}

// CronOverlap says which of the two occurrences counts of a time that the clocks
// go through twice.
type CronOverlap uint8

const (
	// CronEarlier is the first of them.
	CronEarlier CronOverlap = iota
	// CronLater is the second.
	CronLater
	// CronBoth is each.
	CronBoth
)

// CronOption is what an expression does not say. Without a time zone it is that of
// the time that a method is given.
type CronOption func(*cronConfig)

type cronConfig struct {
	location *time.Location
	zone     string // names it, if location does not
	overlap  CronOverlap
}

// CronIn sets the time zone; nil sets none.
func CronIn(location *time.Location) CronOption {
	return func(c *cronConfig) { c.location, c.zone = location, "" }
}

// CronInZone sets the time zone by its name: an IANA name as time.LoadLocation takes
// it, or an offset like +02:00.
func CronInZone(name string) CronOption {
	return func(c *cronConfig) { c.location, c.zone = nil, name }
}

// CronOnOverlap is for times that the clocks go through twice (TypeScript:
// onDstOverlap). Without it the earlier one counts.
func CronOnOverlap(overlap CronOverlap) CronOption {
	return func(c *cronConfig) { c.overlap = overlap }
}

type cronField int

const (
	cronSeconds cronField = iota
	cronMinutes
	cronHours
	cronDays
	cronMonths
	cronWeekdays
	cronFieldCount
)

// cronRanges are the values of each field; 7 is a second name of Sunday.
var cronRanges = [cronFieldCount]struct {
	name     string
	min, max int
}{{"seconds", 0, 59}, {"minutes", 0, 59}, {"hours", 0, 23}, {"days", 1, 31}, {"months", 1, 12}, {"weekdays", 0, 7}}

// cronSet has a bit for each value; none at all means no restriction.
type cronSet uint64

func (s cronSet) with(field cronField, n int) cronSet {
	if field == cronWeekdays {
		n %= 7
	}
	return s | 1<<n
}

func (s cronSet) allows(n int) bool { return s == 0 || s>>n&1 == 1 }

// seek is the nearest allowed value from n on, upward or downward.
func (s cronSet) seek(field cronField, n, dir int) (int, bool) {
	r := cronRanges[field]
	if s == 0 {
		return n, n >= r.min && n <= r.max
	}
	if dir > 0 {
		rest := uint64(s) >> n << n
		return bits.TrailingZeros64(rest), rest != 0 && n <= r.max
	}
	if n < 0 {
		return 0, false
	}
	rest := uint64(s) & (1<<(n+1) - 1)
	return bits.Len64(rest) - 1, rest != 0
}

// edge is the first allowed value in a direction.
func (s cronSet) edge(field cronField, dir int) int {
	from := cronRanges[field].min
	if dir < 0 {
		from = cronRanges[field].max
	}
	n, _ := s.seek(field, from, dir)
	return n
}

func (s cronSet) values() []int {
	var out []int
	for rest := uint64(s); rest != 0; rest &= rest - 1 {
		out = append(out, bits.TrailingZeros64(rest))
	}
	return out
}

// CronFields is a Cron as lists of values. An empty list is no restriction, but
// nil Seconds are second 0.
type CronFields struct {
	Seconds, Minutes, Hours, Days, Months, Weekdays []int
	// And wants days and weekdays to match both, where both are restricted.
	And bool
}

// NewCron makes a Cron of lists of values (TypeScript: Cron.make). It fails with
// *CronParseError for a value that is out of range or a zone that is unknown.
func NewCron(fields CronFields, options ...CronOption) (Cron, error) {
	if fields.Seconds == nil {
		fields.Seconds = []int{0}
	}
	c := Cron{both: fields.And}
	for i, values := range [cronFieldCount][]int{
		fields.Seconds, fields.Minutes, fields.Hours, fields.Days, fields.Months, fields.Weekdays,
	} {
		field := cronField(i)
		for _, n := range values {
			if r := cronRanges[field]; n < r.min || n > r.max {
				return Cron{}, &CronParseError{
					Message: r.name + " must contain only integers between " + strconv.Itoa(r.min) + " and " + strconv.Itoa(r.max),
					Input:   strconv.Itoa(n),
				}
			}
			c.fields[field] = c.fields[field].with(field, n)
		}
	}
	return c.configure(options)
}

func (c Cron) configure(options []CronOption) (Cron, error) {
	var config cronConfig
	for _, o := range options {
		o(&config)
	}
	c.zone, c.overlap = config.location, config.overlap
	if config.zone == "" {
		return c, nil
	}
	zone, ok := parseZone(config.zone)
	if !ok {
		return Cron{}, &CronParseError{Message: "invalid time zone", Input: config.zone}
	}
	c.zone = zone
	return c, nil
}

// Fields is the Cron as lists of values.
func (c Cron) Fields() CronFields {
	list := func(field cronField) []int { return c.fields[field].values() }
	seconds := list(cronSeconds)
	if seconds == nil {
		seconds = []int{}
	}
	return CronFields{
		Seconds: seconds, Minutes: list(cronMinutes), Hours: list(cronHours),
		Days: list(cronDays), Months: list(cronMonths), Weekdays: list(cronWeekdays), And: c.both,
	}
}

// Location is the time zone, or nil for that of the times it is given.
func (c Cron) Location() *time.Location { return c.zone }

// Equal tells whether both have the same values, rules and zone.
func (c Cron) Equal(that Cron) bool {
	same := (c.zone == nil) == (that.zone == nil)
	if same && c.zone != nil {
		same = c.zone.String() == that.zone.String()
	}
	c.zone, that.zone = nil, nil
	return same && c == that
}

// Match tells whether the Cron is due in t's second.
func (c Cron) Match(t time.Time) bool {
	if c.zone != nil {
		t = t.In(c.zone)
	}
	return c.fields[cronSeconds].allows(t.Second()) && c.fields[cronMinutes].allows(t.Minute()) &&
		c.fields[cronHours].allows(t.Hour()) && c.fields[cronMonths].allows(int(t.Month())) &&
		c.dueOn(t.Day(), int(t.Weekday()))
}

func (c Cron) dueOn(day, weekday int) bool {
	days, weekdays := c.fields[cronDays], c.fields[cronWeekdays]
	if c.both || days == 0 || weekdays == 0 {
		return days.allows(day) && weekdays.allows(weekday)
	}
	return days.allows(day) || weekdays.allows(weekday)
}

// Next is the first time after t at which the Cron is due; false when there is
// none, as on 30 February.
func (c Cron) Next(t time.Time) (time.Time, bool) { return c.nearest(t, 1) }

// Prev is the last time before t at which the Cron is due.
func (c Cron) Prev(t time.Time) (time.Time, bool) { return c.nearest(t, -1) }

// All are the times after t at which the Cron is due, in order; usually without
// end (TypeScript: Cron.sequence).
func (c Cron) All(t time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for next, ok := c.Next(t); ok && yield(next); next, ok = c.Next(next) {
		}
	}
}

// String is the expression, with the seconds only when they are not just 0. It
// does not tell the zone, the overlap rule and whether both kinds of days must
// match.
func (c Cron) String() string { return c.Format(false) }

// Format is String that can be made to write the seconds always.
func (c Cron) Format(includeSeconds bool) string {
	parts := make([]string, 0, cronFieldCount)
	for i, set := range c.fields {
		if cronField(i) == cronSeconds && set == 1 && !includeSeconds {
			continue
		}
		parts = append(parts, set.format())
	}
	return strings.Join(parts, " ")
}

// format joins three or more values of one distance to a range.
func (s cronSet) format() string {
	if s == 0 {
		return "*"
	}
	var parts []string
	for values := s.values(); len(values) > 0; {
		n := 1
		if len(values) > 2 {
			step := values[1] - values[0]
			n = 2
			for n < len(values) && values[n]-values[n-1] == step {
				n++
			}
		}
		if n < 3 {
			parts = append(parts, strconv.Itoa(values[0]))
			values = values[1:]
			continue
		}
		part := strconv.Itoa(values[0]) + "-" + strconv.Itoa(values[n-1])
		if step := values[1] - values[0]; step > 1 {
			part += "/" + strconv.Itoa(step)
		}
		parts = append(parts, part)
		values = slices.Delete(values, 0, n)
	}
	return strings.Join(parts, ",")
}
